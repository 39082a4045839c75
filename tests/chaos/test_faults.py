"""What Redis and the way to it may do while jobs drain: none is lost, none takes effect twice.

Each fault is there once with a small load; `make chaos` brings the full times and more of everything.
"""

from __future__ import annotations

import os
import random
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import hiredis
import pytest

from penstock.model.jobs import JobId, NewJob
from tests.chaos.judge import judge, poisoned
from tests.chaos.scene import Scene
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.servers.launching import free_port

STABLE_SECONDS = 60.0
"""After a fault has ended the queue drains within this time."""
STEPS = ((), ("sleep 0.2",), ("progress 1 3", "sleep 0.3"), ("fail 1",), ("refuse",))
full = pytest.mark.chaos_full
long = pytest.mark.timeout(600)


class Load:
    """Jobs by the door and messages by another program; some must fail, and with which code."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.jobs: list[str] = []
        self.failed: dict[str, str] = {}

    def add(self, count: int) -> None:
        """So many notes, and a third as many messages."""
        notes = [a_note(script(*STEPS[number % len(STEPS)])) for number in range(count)]
        self.failed |= {note.id: "ERR_REFUSED" for note in notes if "refuse" in str(note.payload)}
        self.jobs += self._scene.accept(notes)
        self.jobs += [self._scene.push(self._scene.message()) for _ in range(count // 3)]

    def end_well(self, seconds: float = STABLE_SECONDS, *, forgot: bool = False) -> float:
        """All end, the workers go when they are told to, and the judge finds nothing; how long it took."""
        took = self._scene.drained(self.jobs, seconds)
        codes = {process.stop() for process in self._scene.started if process.code is None}
        assert codes <= {0}, self._scene.report()
        judge(self._scene, self.jobs, failed=self.failed, forgot=forgot)
        return took


@pytest.fixture
def load(scene: Scene) -> Load:
    return Load(scene)


@pytest.mark.parametrize("rounds", [3, pytest.param(40, marks=[full, long])])
def test_workers_are_killed(scene: Scene, load: Load, rounds: int) -> None:
    """`kill -9` of a worker process, at any moment, while others work on."""
    chance = random.Random(rounds)
    tree = scene.workers(3)
    for _ in range(rounds):
        load.add(12)
        time.sleep(chance.uniform(0.0, 0.5))  # any moment is as good
        scene.kill_one(tree, chance)
    scene.drained(load.jobs, STABLE_SECONDS)
    load.failed |= poisoned(scene)
    load.end_well()


@pytest.mark.parametrize("rounds", [2, pytest.param(15, marks=[full, long])])
def test_redis_is_killed(scene: Scene, load: Load, rounds: int) -> None:
    """`kill -9` of the server, which comes back from its append-only file."""
    chance = random.Random(rounds)
    scene.workers()
    for _ in range(rounds):
        scene.keep_every_word()
        load.add(15)
        time.sleep(chance.uniform(0.0, 0.5))
        scene.redis.kill()
        time.sleep(chance.uniform(0.0, 2.0))  # so long it is away
        scene.redis.start()
    load.end_well()


@pytest.mark.parametrize("seconds", [12.0, pytest.param(30.0, marks=[full, long])])
@pytest.mark.parametrize("what", ["server", pytest.param("network", marks=full)])
def test_freeze(scene: Scene, load: Load, seconds: float, what: str) -> None:
    """The server, or the network, stands still for longer than a worker may be silent."""
    scene.workers()
    load.add(30)
    frozen = scene.redis if what == "server" else scene.way
    frozen.freeze()
    time.sleep(seconds)
    frozen.thaw()
    load.add(6)
    load.end_well()


@pytest.mark.parametrize("count", [9, pytest.param(200, marks=[full, long])])
def test_delay(scene: Scene, load: Load, count: int) -> None:
    """Every question is answered 200 ms later."""
    scene.way.delay(0.1)
    scene.workers()
    load.add(count)
    load.end_well()


@pytest.mark.parametrize("count", [45, pytest.param(1_000, marks=[full, long])])
def test_connections_break(scene: Scene, load: Load, count: int) -> None:
    """One command in twenty breaks its connection, before or after the server did it."""
    scene.way.break_off(0.05)
    scene.workers()
    load.add(count)
    scene.drained(load.jobs, 2 * STABLE_SECONDS)
    scene.way.break_off(0.0)
    load.end_well()


@pytest.mark.parametrize("seconds", [3.0, pytest.param(30.0, marks=[full, long])])
def test_out_of_memory(scene: Scene, load: Load, seconds: float) -> None:
    """At its limit Redis takes nothing new: what runs ends, what is booked meanwhile comes through later."""
    scene.workers()
    load.add(15)
    scene.ask("CONFIG", "SET", "maxmemory", 1)
    notes = [a_note(script()) for _ in range(5)]
    load.jobs += scene.accept(notes)
    time.sleep(seconds)
    scene.ask("CONFIG", "SET", "maxmemory", 0)
    load.end_well()


@pytest.mark.parametrize("times", [2, pytest.param(20, marks=[full, long])])
def test_read_only(scene: Scene, load: Load, times: int) -> None:
    """The server is made a replica and comes back as the master."""
    scene.workers()
    for _ in range(times):
        load.add(12)
        scene.ask("REPLICAOF", "127.0.0.1", free_port())
        time.sleep(1.5)
        scene.ask("REPLICAOF", "NO", "ONE")
    load.end_well()


@pytest.mark.parametrize("count", [30, pytest.param(1_000, marks=[full, long])])
def test_scripts_are_forgotten(scene: Scene, load: Load, count: int) -> None:
    """SCRIPT FLUSH over and over."""
    with again_and_again(lambda: scene.ask("SCRIPT", "FLUSH")):
        scene.workers()
        load.add(count)
        load.end_well()


@full
@long
@pytest.mark.parametrize("times", [1, 5])
def test_redis_comes_back_empty(scene: Scene, load: Load, times: int) -> None:
    """Everything it knew is gone; what was booked is told to it again."""
    scene.workers()
    for _ in range(times):
        load.jobs += scene.accept([a_note(script("sleep 0.3")) for _ in range(20)])
        load.jobs += scene.accept(in_lines(6))
        scene.ask("FLUSHALL")
        load.jobs += scene.accept(in_lines(2))
    load.end_well(forgot=True)


@full
@long
@pytest.mark.parametrize("times", [1, 5])
def test_redis_loses_its_tail(scene: Scene, load: Load, times: int) -> None:
    """It was killed before it wrote down what it had last accepted; jobs on one document keep their order."""
    scene.workers()
    for _ in range(times):
        load.jobs += scene.accept(in_lines(3))
        scene.redis.kill()
        cut_short(scene.folder)
        scene.redis.start()
        load.jobs += scene.accept(in_lines(3))
    load.end_well(forgot=True)


def cut_short(folder: Path) -> None:
    """A quarter of what the server wrote down last is gone."""
    written = max(folder.rglob("*.incr.aof"), key=lambda path: path.stat().st_mtime)
    os.truncate(written, written.stat().st_size * 3 // 4)


def in_lines(count: int) -> list[NewJob]:
    """So many pairs of jobs, each pair on one document; ids sort the other way round than submits."""
    found = []
    for _ in range(count):
        about = str(uuid.uuid4())
        first, second = (a_note(script("sleep 0.2"), document_id=about) for _ in range(2))
        found += [replace(first, id=JobId(f"z-{first.id}")), replace(second, id=JobId(f"a-{second.id}"))]
    return found


@contextmanager
def again_and_again(act: Callable[[], object], pause: float = 0.05) -> Iterator[None]:
    """Meanwhile, somebody does this all the time."""
    ended = threading.Event()

    def go_on() -> None:
        while not ended.wait(pause):
            try:
                act()
            except (OSError, hiredis.ReplyError):
                continue

    thread = threading.Thread(target=go_on, name="again and again")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()

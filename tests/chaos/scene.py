"""A data folder whose queue is a real Redis behind the fault proxy, with real workers, and two ways in.

Workers and submits go through the proxy; the test's own looks, and programs that push raw messages, go to the
server itself.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import hiredis
import msgspec

from penstock.model.errors import Unavailable
from penstock.model.jobs import NewJob
from tests.chaos.doomed_scripts import Fate, ScriptDoom
from tests.chaos.effects import EFFECTS
from tests.chaos.way import Way, a_way_to
from tests.support.processes import PATIENCE, Plant, Started
from tests.support.servers.redis import Redis, a_redis
from tests.support.stalls import Machine, watched

RAG = "policies_rag"
QUEUE = "rag:ingest:queue"
LOOKS_SECONDS = 5.0
"""What the last looks at a large book may take by themselves."""
_numbers = count(1)


class Scene(Plant):
    """A plant that queues on Redis."""

    def __init__(self, folder: Path, redis: Redis, way: Way, machine: Machine) -> None:
        super().__init__(folder)
        self.redis = redis
        self.way = way
        self.machine = machine
        self.papers = folder / "papers"
        self.papers.mkdir()
        self.choose(
            queue=f"redis://{redis.server.host}:{way.port}/0",
            collections=json.dumps({RAG: {"sources": [{"path": str(self.papers), "watch": False}]}}),
            worker_retry_delays="100ms",
            worker_park_delay="500ms",
        )

    # Workers -------------------------------------------------------------------------------------

    def workers(self, count: int = 2, *, handlers: str | None = EFFECTS, concurrency: int = 4) -> Started:
        """A `penstock worker`, once all its processes have beaten; without handlers it reads documents."""
        named = [] if handlers is None else ["--handlers", handlers]
        tree = self.start(
            *("-m", "penstock", "worker", *named),
            *("--count", str(count), "--concurrency", str(concurrency)),
        )
        self.wait_until(
            lambda: len(self.beating(tree.children())) >= count, "all workers beat", tree, seconds=60.0
        )
        return tree

    def kill_one(self, tree: Started, chance: random.Random) -> None:
        """`kill -9` of one of its processes, once there is any: those that die young come back later."""
        alive: list[int] = []

        def is_one() -> bool:
            alive[:] = tree.children()
            return bool(alive)

        self.wait_until(is_one, "there is somebody to kill", tree)
        os.kill(chance.choice(alive), signal.SIGKILL)

    def fated(
        self,
        doom: ScriptDoom | None = None,
        role: str = "worker",
        job: str = "",
        *,
        handlers: str = EFFECTS,
    ) -> Started:
        """A process without a parent, which dies at a call of a script if it is doomed."""
        fate = Fate(role=role, doom=doom, job=job, handlers=handlers)
        return self.start("-m", "tests.chaos.doomed_scripts", msgspec.json.encode(fate).decode())

    def beating(self, pids: Sequence[int]) -> dict[int, str]:
        """Those of the processes that have beaten as workers; Redis knows."""
        try:
            with self.redis.bare() as bare:
                names = [name.decode().rpartition(":")[2] for name in bare.call("KEYS", "worker:hb:*")]
                told = {name: bare.call("HGET", f"rag:ingest:worker:{name}", "pid") for name in names}
        except (OSError, hiredis.ReplyError):
            return {}
        return {int(pid): name for name, pid in told.items() if pid is not None and int(pid) in pids}

    # The two ways in -----------------------------------------------------------------------------

    def accept(self, jobs: Sequence[NewJob]) -> list[str]:
        """Submit through the proxy until it is accepted, as a caller who was told to try again does."""
        deadline = time.monotonic() + 2 * PATIENCE
        while True:
            try:
                return [receipt.job_id for receipt in self.submit(jobs)]
            except Unavailable:
                assert time.monotonic() < deadline, "nobody accepts a job"
                time.sleep(0.1)

    def message(self, text: str = "") -> dict[str, object]:
        """The documented message about a file of ours; a new one each time."""
        number = next(_numbers)
        path = self.papers / f"paper-{number}.txt"
        path.write_text(text or f"Paper number {number} tells of zebras and their stripes.")
        return {
            "job_id": f"rag-{RAG}-1704882600-{number:08x}",
            "rag_id": RAG,
            "source_path": str(path),
            "source_type": "txt",
            "filename": path.name,
            "submitted_at": "2025-01-10T20:15:30.123456Z",
        }

    def push(self, message: dict[str, object]) -> str:
        """What a program we did not write does, again until the server says that it has it."""
        deadline = time.monotonic() + 2 * PATIENCE
        while True:
            try:
                self.ask("LPUSH", QUEUE, json.dumps(message))
            except (OSError, hiredis.ReplyError):
                assert time.monotonic() < deadline, "nobody takes a message"
                time.sleep(0.1)
            else:
                return str(message["job_id"])

    def ask(self, *words: str | int) -> Any:
        """A raw command to the server itself."""
        with self.redis.bare() as bare:
            return bare.call(*words)

    def keep_every_word(self) -> None:
        """Until its next start the server writes before it answers: a raw message is nowhere else.

        With `everysec` it answers before that while its disk is busy, and what it answered dies with it.
        """
        self.ask("CONFIG", "SET", "appendfsync", "always")

    def ended(self, jobs: Sequence[str]) -> bool:
        """Whether the book has all of them, at their end."""
        rows = self.rows("SELECT queue_id FROM unified_queue WHERE status IN ('done', 'failed')")
        return set(jobs) <= {row["queue_id"] for row in rows}

    def drained(self, jobs: Sequence[str], seconds: float = 60.0) -> float:
        """Wait until all have ended in the book and Redis holds none any more, within these seconds for both.

        How long that took.
        """
        began = time.monotonic()
        self.wait_until(lambda: self.ended(jobs), "every job has ended", seconds=3 * seconds)
        self.wait_until(self._is_quiet, "Redis has heard of every end", seconds=3 * seconds)
        took = time.monotonic() - began
        allowed = seconds + LOOKS_SECONDS + self.machine.lost(began)
        assert took <= allowed, f"it took {took:.1f} s, not {allowed:.1f}\n{self.report()}"
        return took

    def _is_quiet(self) -> bool:
        with self.redis.bare() as bare:
            waiting = bare.call("HLEN", "rag:ingest:waiting")
            running = bare.call("ZCARD", "rag:ingest:running")
        return bool(waiting == running == 0)

    def report(self) -> str:
        """What may explain a failure, with what Redis holds."""
        try:
            with self.redis.bare() as bare:
                running = bare.call("ZRANGE", "rag:ingest:running", 0, 9, "WITHSCORES")
                counts = bare.call("HGETALL", "rag:ingest:counts")
                waiting = bare.call("HGETALL", "rag:ingest:waiting")[:20]
        except (OSError, hiredis.ReplyError) as error:
            return f"{super().report()}\nredis: {error}"
        held = f"now: {time.time()}\nrunning: {running}\ncounts: {counts}\nwaiting: {waiting}"
        return f"{super().report()}\n{held}"


@contextmanager
def a_scene(folder: Path, *, seed: int = 0) -> Iterator[Scene]:
    """Redis with append-only persistence, the proxy, a made data folder; nothing is left of it at the end."""
    with a_redis(folder / "redis") as redis, a_way_to(redis, seed=seed) as way, watched() as machine:
        scene = Scene(folder, redis, way, machine)
        scene.make()
        try:
            yield scene
        finally:
            left = scene.close()
        assert left == [], "processes were left over"

"""Turns at the write lock: one at a time, for everyone in time, whatever becomes of a holder."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from penstock.engines.sqlite.turnstile import Turnstile
from tests.support.stalls import Machine

PATIENCE = 60.0
TURNS = 800

CONTENDER = """
import os, sys, time
from pathlib import Path
from penstock.engines.sqlite.turnstile import Turnstile

folder, name, turns = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
turnstile = Turnstile(folder, patience=300.0)
log = open(folder / "log", "a", buffering=1)
print("ready", flush=True)
sys.stdin.readline()
while os.fstat(log.fileno()).st_size < turns * len("+a\\n-a\\n"):
    turnstile.enter()
    log.write("+" + name + "\\n")
    time.sleep(0.0005)  # a short commit
    log.write("-" + name + "\\n")
    turnstile.leave()
"""

HOLDER = """
import sys
from pathlib import Path
from penstock.engines.sqlite.turnstile import Turnstile

Turnstile(Path(sys.argv[1])).enter()
print("held", flush=True)
sys.stdin.readline()
"""


def started(program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def line_of(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def tell(child: subprocess.Popen[str]) -> None:
    assert child.stdin is not None
    child.stdin.write("\n")
    child.stdin.flush()


@contextmanager
def turnstile(folder: Path, patience: float = 30.0) -> Iterator[Turnstile]:
    with closing(Turnstile(folder, patience)) as made:
        yield made


def is_taken(folder: Path, name: str) -> bool:
    """Whether somebody holds that lock, asked from outside."""
    with open(folder / f"{name}.lock") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def wait_until_taken(folder: Path, name: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not is_taken(folder, name):
        assert time.monotonic() < deadline, f"nobody took {name}"
        time.sleep(0.001)


def test_four_processes_take_turns_and_none_starves(tmp_path: Path) -> None:
    """Only one is inside at a time, and each of four greedy processes gets a fair part of the turns."""
    names = ["a", "b", "c", "d"]
    children = [started(CONTENDER, str(tmp_path), name, str(TURNS)) for name in names]
    try:
        assert [line_of(child) for child in children] == ["ready"] * 4
        for child in children:
            tell(child)
        assert [child.wait(PATIENCE) for child in children] == [0] * 4
    finally:
        for child in children:
            child.kill()
            child.communicate()
    entries = (tmp_path / "log").read_text().split()
    all_there = max(entries.index(f"+{name}") for name in names)
    turns = Counter(entry[1:] for entry in entries[all_there:] if entry.startswith("+"))

    assert all(
        enter[0] == "+" and leave == f"-{enter[1:]}"
        for enter, leave in zip(entries[::2], entries[1::2], strict=True)
    )
    assert turns.total() > TURNS / 2
    assert min(turns[name] for name in names) > turns.total() / len(names) / 2


def test_who_gives_up_the_turn_comes_after_who_waits(tmp_path: Path) -> None:
    """A holder that wants the turn again at once finds the waiting one before it."""
    order: list[str] = []
    with turnstile(tmp_path) as greedy, turnstile(tmp_path) as patient:
        greedy.enter()

        def wait_in_line() -> None:
            patient.enter()
            order.append("patient")
            patient.leave()

        waiting = threading.Thread(target=wait_in_line)
        waiting.start()
        wait_until_taken(tmp_path, "place-1")
        greedy.leave()
        greedy.enter()
        order.append("greedy")
        greedy.leave()
        waiting.join(PATIENCE)

    assert order == ["patient", "greedy"]


def test_those_who_wait_are_served_in_the_order_they_came(tmp_path: Path) -> None:
    """As many as the line has places for."""
    names = ["place-1", "place-2", "place-3", "place-4"]
    order: list[str] = []
    with turnstile(tmp_path) as holder, ExitStack() as stack:
        waiting = [stack.enter_context(turnstile(tmp_path)) for _ in names]
        holder.enter()

        def wait_in_line(mine: Turnstile, name: str) -> None:
            mine.enter()
            order.append(name)
            mine.leave()

        threads = [
            threading.Thread(target=wait_in_line, args=pair) for pair in zip(waiting, names, strict=True)
        ]
        for thread, name in zip(threads, names, strict=True):
            thread.start()
            wait_until_taken(tmp_path, name)
        holder.leave()
        for thread in threads:
            thread.join(PATIENCE)

    assert order == names


def test_who_wants_it_soon_or_not_at_all_goes_without(tmp_path: Path) -> None:
    """A turn that does not come is not waited for, and no place in the line is kept."""
    with turnstile(tmp_path) as holder, turnstile(tmp_path) as hurried:
        holder.enter()

        assert not hurried.enter_soon()
        assert not is_taken(tmp_path, "place-1")
        holder.leave()
        assert hurried.enter_soon()
        assert is_taken(tmp_path, "turn")


def test_a_holder_that_hangs_costs_patience_only(tmp_path: Path, machine: Machine) -> None:
    """The next one goes on without the turn once its patience has run out, and not much later."""
    with turnstile(tmp_path) as hanging, turnstile(tmp_path, patience=0.2) as next_one:
        hanging.enter()

        started_at = time.monotonic()
        next_one.enter()
        waited = time.monotonic() - started_at

        assert 0.2 <= waited < 2.0 + machine.lost(started_at)


def test_patience_is_one_for_all_locks(tmp_path: Path, machine: Machine) -> None:
    """Behind a waiter that hangs as well, the wait is still no longer than one patience."""
    with (
        turnstile(tmp_path) as hanging,
        turnstile(tmp_path, patience=3.0) as waiter,
        turnstile(tmp_path, patience=0.3) as last,
    ):
        hanging.enter()
        waiting = threading.Thread(target=waiter.enter)
        waiting.start()
        wait_until_taken(tmp_path, "place-1")

        started_at = time.monotonic()
        last.enter()
        waited, lost = time.monotonic() - started_at, machine.lost(started_at)
        hanging.leave()
        waiting.join(PATIENCE)

        assert 0.3 <= waited < 2.0 + lost


def test_giving_up_a_turn_one_never_had_takes_it_from_nobody(tmp_path: Path) -> None:
    """After its patience ran out, a leave must not open the way past the true holder."""
    with turnstile(tmp_path) as holder, turnstile(tmp_path, patience=0.05) as impatient:
        holder.enter()
        impatient.enter()
        impatient.leave()

        assert is_taken(tmp_path, "turn")
        holder.leave()
        assert not is_taken(tmp_path, "turn")


def test_the_place_in_line_is_free_again_once_the_turn_is_had(tmp_path: Path) -> None:
    """A holder occupies the turn alone, so that one other may stand ready."""
    with turnstile(tmp_path) as holder:
        holder.enter()

        assert (is_taken(tmp_path, "place-1"), is_taken(tmp_path, "turn")) == (False, True)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_a_dead_holder_holds_nothing(tmp_path: Path, machine: Machine, end: signal.Signals) -> None:
    """The turn of a killed process is free at once, without anybody's patience."""
    child = started(HOLDER, str(tmp_path))
    assert line_of(child) == "held"
    assert is_taken(tmp_path, "turn")
    child.send_signal(end)
    child.communicate(timeout=PATIENCE)

    with turnstile(tmp_path) as next_one:
        started_at = time.monotonic()
        next_one.enter()

        assert time.monotonic() - started_at < 5.0 + machine.lost(started_at)


def test_a_stopped_holder_costs_patience_and_may_go_on(tmp_path: Path) -> None:
    """A process frozen in its turn is passed by, and keeps the turn when it wakes."""
    child = started(HOLDER, str(tmp_path))
    assert line_of(child) == "held"
    child.send_signal(signal.SIGSTOP)
    try:
        with turnstile(tmp_path, patience=0.1) as next_one:
            next_one.enter()
            next_one.leave()
        assert is_taken(tmp_path, "turn")
    finally:
        child.send_signal(signal.SIGCONT)
        tell(child)
        child.communicate(timeout=PATIENCE)
    assert not is_taken(tmp_path, "turn")


def test_closing_gives_everything_back(tmp_path: Path) -> None:
    """Turn and descriptors are free after a close, also in the middle of a turn."""
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        made = Turnstile(tmp_path)
        made.enter()
        made.close()

    assert not is_taken(tmp_path, "turn")
    assert len(os.listdir("/proc/self/fd")) == before


def test_waiting_burns_little(tmp_path: Path) -> None:
    """A second in line costs a fraction of a second of CPU."""
    with turnstile(tmp_path) as holder, turnstile(tmp_path, patience=1.0) as waiting:
        holder.enter()
        burnt = time.thread_time()

        waiting.enter()

        assert time.thread_time() - burnt < 0.5

"""Buckets that fill again, shared by processes through a file."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.engines.system import buckets
from penstock.engines.system.buckets import SLOTS, SharedBuckets

TAKER = """
import sys
from pathlib import Path
from penstock.engines.system.buckets import SharedBuckets
shared = SharedBuckets(Path(sys.argv[1]))
print(sum(shared.take("ann", most=1000.0, per_second=0.0, now=1.0) >= 1.0 for _ in range(1000)))
"""
HALTED = """
import os, signal, sys
from pathlib import Path
from penstock.engines.system import buckets
class Halting:
    slot = buckets._SLOT
    size, unpack_from = slot.size, slot.unpack_from
    def pack_into(self, *given):
        os.kill(os.getpid(), signal.SIGSTOP)
        self.slot.pack_into(*given)
buckets._SLOT = Halting()
print(buckets.SharedBuckets(Path(sys.argv[1])).take("ann", most=3.0, per_second=0.5, now=100.0))
"""
"""It stands still when it has read what is left and is about to write what it leaves."""


def take(shared: SharedBuckets, name: str = "ann", now: float = 100.0) -> float:
    return shared.take(name, most=3.0, per_second=0.5, now=now)


def test_a_bucket_empties_and_fills_again(tmp_path: Path) -> None:
    """As many as it holds at once, then one every two seconds, and never more than it holds."""
    shared = SharedBuckets(tmp_path / "b")

    assert [take(shared) for _ in range(4)] == [3.0, 2.0, 1.0, 0.0]
    assert take(shared, now=101.0) == 0.5
    assert take(shared, now=102.0) == 1.0
    assert take(shared, now=900.0) == 3.0
    assert take(shared, now=899.9) == 2.0  # whoever looked at the clock a little earlier
    assert take(shared, "bo", now=900.0) == 3.0


def test_processes_share_what_is_in_it(tmp_path: Path) -> None:
    """Four that take as fast as they can get what it holds together, and not one more."""
    words = [sys.executable, "-c", TAKER, str(tmp_path / "b")]
    takers = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    taken = sum(int(each.communicate(timeout=60)[0]) for each in takers)

    assert taken == 1_000


@pytest.fixture
def halted(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that stands still while it counts a request of ann."""
    words = [sys.executable, "-c", HALTED, str(tmp_path / "b")]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        yield process
    finally:
        process.kill()
        process.communicate()


def test_who_stood_still_in_the_middle_puts_no_old_count_back(
    tmp_path: Path, halted: subprocess.Popen[str]
) -> None:
    """Three are given out in all, however long it took one of them; nobody else waits meanwhile."""
    shared = SharedBuckets(tmp_path / "b")

    given = [take(shared) for _ in range(2)]
    assert [take(shared, "bo") for _ in range(2)] == [3.0, 2.0]
    os.kill(halted.pid, signal.SIGCONT)
    given.append(float(halted.communicate(timeout=60)[0]))
    given += [take(shared) for _ in range(3)]

    assert sum(each >= 1.0 for each in given) == 3


@pytest.mark.usefixtures("halted")
def test_one_that_stands_still_is_waited_for_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A moment, then its user is told at once that nothing is left: the others' requests are not held up."""
    shared = SharedBuckets(tmp_path / "b")

    began = time.monotonic()
    given = [take(shared) for _ in range(100)]
    took = time.monotonic() - began

    assert given == [0.0] * 100
    waits = caplog.text.count("another process stands still")
    assert 1 <= waits <= 1 + took / buckets.IN_VAIN_SECONDS


def test_one_killed_in_the_middle_holds_nobody_up(tmp_path: Path, halted: subprocess.Popen[str]) -> None:
    """What it had not written was not taken."""
    halted.kill()
    halted.wait()

    assert take(SharedBuckets(tmp_path / "b")) == 3.0


def test_what_another_day_left_is_forgotten(tmp_path: Path) -> None:
    """Times of before the machine was started again, and bytes that were never ours, are full buckets."""
    shared = SharedBuckets(tmp_path / "b")
    for _ in range(4):
        take(shared, now=1_000_000.0)
    assert take(shared, now=5.0) == 3.0

    (tmp_path / "b").write_bytes(os.urandom(buckets.SIZE))
    assert take(SharedBuckets(tmp_path / "b")) == 3.0


def test_many_names_push_out_those_not_used_for_longest(tmp_path: Path) -> None:
    """The table stays as large as it is, and whoever asks all the time keeps his bucket."""
    shared = SharedBuckets(None)
    for number in range(3 * SLOTS):
        take(shared, str(number), now=100.0 + number / SLOTS)
        if number % 100 == 0:
            shared.take("ann", most=1000.0, per_second=0.0, now=100.0 + number / SLOTS)

    assert shared.take("ann", most=1000.0, per_second=0.0, now=200.0) == 1000.0 - (3 * SLOTS // 100 + 1)


@pytest.mark.parametrize("spoilt", ["folder", "nowhere"])
def test_a_file_that_cannot_be_used_is_done_without(tmp_path: Path, spoilt: str) -> None:
    """Then each process counts for itself."""
    path = tmp_path if spoilt == "folder" else tmp_path / "none" / "b"

    assert [take(SharedBuckets(path)) for _ in range(2)] == [3.0, 3.0]

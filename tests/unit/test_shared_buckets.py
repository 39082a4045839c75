"""Buckets that fill again, shared by processes through a file."""

import os
import signal
import subprocess
import sys
import time
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
from penstock.engines.system.buckets import SharedBuckets
class Halted(SharedBuckets):
    def _find(self, *asked):
        found = super()._find(*asked)
        if os.environ.pop("HALT", ""):
            os.kill(os.getpid(), signal.SIGSTOP)
        return found
shared = Halted(Path(sys.argv[1]))
print(shared.take("ann", most=3.0, per_second=0.5, now=100.0))
"""


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


def test_a_process_stopped_in_the_middle_stops_nobody(tmp_path: Path) -> None:
    """Nor does it bring back, when it goes on, what it had read before the others took theirs."""
    shared = SharedBuckets(tmp_path / "b")
    halted = subprocess.Popen(
        [sys.executable, "-c", HALTED, str(tmp_path / "b")],
        env={**os.environ, "HALT": "1"},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert os.WIFSTOPPED(os.waitpid(halted.pid, os.WUNTRACED)[1])
        began = time.monotonic()
        assert [take(shared) for _ in range(2)] == [3.0, 2.0]
        assert time.monotonic() - began < 1.0
        os.kill(halted.pid, signal.SIGCONT)
        assert halted.communicate(timeout=60)[0] == "1.0\n"
    finally:
        halted.kill()
        halted.communicate()
    assert take(shared) == 0.0


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

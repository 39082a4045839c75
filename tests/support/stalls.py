"""What a machine takes from the work under judgement: the seconds in which it stood still or was too busy.

A promise in seconds is made for a machine that gives its processes time. A process beside the test sleeps in
short steps and writes down for each how much longer it lasted than asked for, as on a machine that stood
still, and which part of it whoever wanted a processor had to wait because more wanted one than there are.
On a quiet machine both are nothing, and the promise is judged as it was given.

Not a thread: a test that keeps the interpreter to itself would be its own excuse. Not the time a job that
does nothing takes just before: a machine is busy by the moment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

STEP_SECONDS = 0.02
USUAL_SECONDS = 0.005
"""What a step lasts longer on a machine that has time."""
PATIENCE = 60.0


class Machine:
    """The machine a test runs on, watched since the test began."""

    def __init__(self, notes: BinaryIO) -> None:
        self._notes = notes
        self._wait_for_note(time.monotonic())

    def lost(self, since: float, until: float | None = None) -> float:
        """Seconds taken from the work between two moments of the monotonic clock, the second of them now."""
        end = time.monotonic() if until is None else until
        self._wait_for_note(end)
        return sum(lost for begun, ended, lost in self._noted() if ended > since and begun < end)

    def _wait_for_note(self, moment: float) -> None:
        """A watcher that was held up as well has not told of it yet."""
        deadline = time.monotonic() + PATIENCE
        while not any(begun > moment for begun, _, _ in self._noted()[-1:]):
            assert time.monotonic() < deadline, "nobody watches the machine"
            time.sleep(STEP_SECONDS)

    def _noted(self) -> list[tuple[float, float, float]]:
        text = os.pread(self._notes.fileno(), os.fstat(self._notes.fileno()).st_size, 0).decode("ascii")
        lines = [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]
        return [(float(begun), float(ended), float(lost)) for begun, ended, lost in lines]


@contextmanager
def watched() -> Iterator[Machine]:
    """The machine, as long as a test needs it."""
    with tempfile.TemporaryFile() as notes:
        process = subprocess.Popen([sys.executable, "-I", "-S", __file__], stdout=notes)
        try:
            yield Machine(notes)
        finally:
            process.kill()
            process.wait()


def watch() -> None:
    """Write down step after step, as long as whoever began this lives."""
    parent, processors = os.getppid(), os.cpu_count() or 1
    begun = time.monotonic()
    while os.getppid() == parent:
        time.sleep(STEP_SECONDS)
        ended = time.monotonic()
        late = ended - begun - STEP_SECONDS
        stood_still = late if late > USUAL_SECONDS else 0.0
        lost = stood_still + STEP_SECONDS * (1 - min(1.0, processors / max(1, wanting())))
        os.write(sys.stdout.fileno(), f"{begun:.6f} {ended:.6f} {lost:.6f}\n".encode())
        begun = ended


def wanting() -> int:
    """How many besides this process want a processor now."""
    with open("/proc/loadavg", encoding="ascii") as file:
        return int(file.read().split()[3].partition("/")[0]) - 1


if __name__ == "__main__":
    watch()

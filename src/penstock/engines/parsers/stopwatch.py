"""The time a child takes for a file, without what it waits for a processor: nobody fails for his neighbours.

The kernel tells that wait too (`schedstat`), but only once it is over, which for a nice process may be a
second later. So a child that is ready to run is charged what it ran since the last look, and one that is not
is charged the time that passed: it waits for nobody else. A look that comes far too late says that we stood
still ourselves, and so most likely did the child: of that time it is charged a moment, or what it ran.
"""

from __future__ import annotations

import os

WAITED_TIMES_MAX = 70
"""What a file waits for a processor counts for nothing up to so many times its limit: the nicest child needs
as many where others always want every processor."""
PACE_SECONDS = 0.4
AWAY_SECONDS = 1.0
"""A look that comes so late was kept from coming: the machine, or the group of processes, was paused."""
STAT_BYTES_MAX = 4096
_TICKS = os.sysconf("SC_CLK_TCK")


class Stopwatch:
    """Charges a process from now on; where the kernel tells nothing, by the clock alone."""

    def __init__(self, pid: int, seconds: float, now: float) -> None:
        self._stat = f"/proc/{pid}/stat"
        self.charged = 0.0
        """Seconds, as of the last look."""
        self.pace = 0.0
        """What part of the last half second or so it was charged for."""
        self._seconds = seconds
        self._looked = now
        self._latest = now + seconds * (1 + WAITED_TIMES_MAX)
        _, self._ran = self._look()

    def is_over(self, now: float) -> bool:
        """Whether its time is up."""
        is_ready, ran = self._look()
        passed = now - self._looked
        worked = min(ran - self._ran, passed)
        charge = worked if is_ready else max(worked, min(passed, AWAY_SECONDS))
        self.charged += charge
        if passed > 0:
            self.pace += (charge / passed - self.pace) * min(passed / PACE_SECONDS, 1.0)
        self._looked, self._ran = now, ran
        return self.charged >= self._seconds or now >= self._latest

    def _look(self) -> tuple[bool, float]:
        """Whether it would run if it could, and for how many seconds it ran so far."""
        try:
            state, *fields = self._read().rpartition(b")")[2].split()
            return state == b"R", (int(fields[10]) + int(fields[11])) / _TICKS
        except (OSError, IndexError, ValueError):
            return False, 0.0

    def _read(self) -> bytes:
        # Looked at twice a file at least, which small files notice: a file object would cost as much again.
        told = os.open(self._stat, os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.read(told, STAT_BYTES_MAX)
        finally:
            os.close(told)

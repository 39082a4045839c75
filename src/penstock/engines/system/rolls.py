"""Which claimed jobs their handlers had begun when their worker died.

A worker claims several jobs at once and begins them one after the other; one that kills it in its first step
must count against that job and not against those behind it. The row cannot tell, for a commit each would
cost more than the rest of a short job. So each worker has a small file under the data folder with a place for
every attempt under way, mapped into its memory, and writes there before a handler takes its first step: what
a process wrote, the kernel keeps when it is killed. Writing to the file itself would let go of the
interpreter for every job. After a restart of the machine nobody knows what was lost.

The safe direction is to charge: an attempt goes back free only where a whole roll of this boot does not have
it. What is written is a short digest; two that are equal charge one job too much.

A worker holds its roll locked, so that the kernel tells whether it lives. One whose worker has ended is swept
away once no running job names that worker any more.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import logging
import mmap
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path

from penstock.engines.system.processes import boot
from penstock.model.errors import Unavailable
from penstock.model.jobs import JobId, Lease, WorkerId
from penstock.ports.roll import NO_ROLL, Roll

log = logging.getLogger("penstock.rolls")
PLACES = 4096
"""More attempts than a worker ever has under way; beyond them the roll is given up."""
HEADER_BYTES = 64
_MARK = struct.Struct("<IIQ")
ROLL_BYTES = HEADER_BYTES + PLACES * _MARK.size


class FileRoll:
    """One worker's; used by its event loop."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with path.open("xb+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # whoever sweeps holds it for a moment only
            file.write(_header().ljust(ROLL_BYTES, b"\0"))  # all of it: a full disk must be met here
            file.flush()
            self._memory = mmap.mmap(
                file.fileno(), ROLL_BYTES
            )  # with a descriptor of its own: the lock stays
        self._free = list(range(HEADER_BYTES, ROLL_BYTES, _MARK.size))
        self._places: dict[tuple[JobId, int], int] = {}

    def begins(self, lease: Lease) -> None:
        """Write it down; a roll that cannot be written is taken away, and then all of its jobs had begun."""
        try:
            place = self._places[lease.job_id, lease.token] = self._free.pop()
            self._memory[place : place + _MARK.size] = _mark(lease.job_id, lease.token)
        except (IndexError, ValueError) as error:  # full, or closed
            self._give_up(error)

    def ended(self, leases: Iterable[Lease]) -> None:
        """Their places are free; what stands there means nothing any more, for the token has moved on."""
        for lease in leases:
            place = self._places.pop((lease.job_id, lease.token), None)
            if place is not None:
                self._free.append(place)

    def close(self) -> None:
        """Let go of the file."""
        self._memory.close()

    def _give_up(self, error: Exception) -> None:
        try:
            self._path.unlink(missing_ok=True)
        except OSError:
            told = f"{self._path} cannot be written ({error})"
            raise Unavailable(told, code="ERR_STORE_UNAVAILABLE") from error


class Rolls:
    """Those of all workers of a data folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, FileRoll] = {}

    def begin(self, worker: WorkerId) -> Roll:
        """A new one; none where the kernel does not say which boot this is, or no file can be made."""
        if not boot():
            return NO_ROLL
        self.forget([worker])
        try:
            roll = self._open[worker] = FileRoll(self._path(worker))
        except OSError as error:
            log.warning("whether jobs had begun will not be known: %s", error)
            self.forget([worker])
            return NO_ROLL
        return roll

    def had_begun(self, worker: str | None, job_id: str, token: int) -> bool:
        """False only if it is known that no handler had begun this attempt."""
        try:
            text = self._path(worker or "").read_bytes()
        except OSError:
            return True
        whole = len(text) == ROLL_BYTES and text.startswith(_header())
        return not whole or text.find(_mark(job_id, token), HEADER_BYTES) >= 0

    def forget(self, workers: Iterable[str]) -> None:
        """They hold nothing any more."""
        for worker in workers:
            roll = self._open.pop(worker, None)
            if roll is not None:
                roll.close()
            with contextlib.suppress(OSError):  # a file too many does no harm
                self._path(worker).unlink(missing_ok=True)

    def ownerless(self) -> list[Path]:
        """Those whose worker's process has ended."""
        return [path for path in self._folder.glob("*.roll") if _is_unlocked(path)]

    def sweep(self, ownerless: Iterable[Path], holders: Iterable[str]) -> None:
        """Away with those that no holder of jobs needs; holders are asked for after the ownerless."""
        needed = {self._path(worker) for worker in holders}
        for path in ownerless:
            if path not in needed:
                with contextlib.suppress(OSError):
                    path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the files; what they say stays."""
        while self._open:
            self._open.popitem()[1].close()

    def _path(self, worker: str) -> Path:
        """Others may have written any name into their rows."""
        return self._folder / f"{hashlib.sha256(worker.encode(errors='replace')).hexdigest()[:32]}.roll"


def _is_unlocked(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # held, or gone
        return False
    return True


def _header() -> bytes:
    return boot().encode().ljust(HEADER_BYTES, b" ")


def _mark(job_id: str, token: int) -> bytes:
    known = job_id.encode(errors="surrogateescape")
    return _MARK.pack(zlib.crc32(known), len(known), token & 0xFFFFFFFFFFFFFFFF)

"""Buckets that fill again, in memory that all processes of a data folder share.

A file of fixed size is mapped into each of them: a table of slots, each with the hash of a name, what was
left in its bucket and when. A name lies in one of a few slots its hash leads to; where all are taken, the one
not used for longest is given to it. So nothing grows or is swept, and a request costs some microseconds.

A name's slots are locked for the few instructions between reading and writing them, until they are written:
a lock that could be taken away would let whoever lost the processor just then put old counts back. The kernel
lets go of a dead process's locks. One that is stopped for good keeps those of a single name: whoever asks
under it elsewhere waits a moment and is then told that nothing is left, and nobody else waits at all.
"""

from __future__ import annotations

import fcntl
import logging
import mmap
import os
import struct
import time
from hashlib import blake2b
from pathlib import Path

log = logging.getLogger("penstock.system")
SLOTS = 16_384
NEIGHBOURS = 8
"""Slots one name may lie in."""
TRIES = 50
PATIENCE_SECONDS = 0.25
POLL_SECONDS = 0.0005
IN_VAIN_SECONDS = 1.0
"""For so long after a wait that was in vain nobody waits here again: the loop has others to answer."""
FAR_SECONDS = 60.0
"""Another process may have looked at the clock a little later than we; a time further ahead is one of before
the machine was started again."""
_SLOT = struct.Struct("<16sdd")
SIZE = (SLOTS + NEIGHBOURS) * _SLOT.size
NOBODY = bytes(16)


class SharedBuckets:
    """Buckets by name; time is that of the machine's steady clock, the same for all its processes."""

    def __init__(self, path: Path | None) -> None:
        """Without a path, or where it cannot be used, they are this process's own."""
        self._file = -1 if path is None else _opened(path)
        self._table = mmap.mmap(self._file, SIZE)
        self._impatient_until = 0.0

    def take(self, name: str, *, most: float, per_second: float, now: float) -> float:
        """Take one from a bucket that holds `most` when full; what was in it, less than one is nothing."""
        key = blake2b(name.encode(errors="replace"), digest_size=16).digest()
        first = int.from_bytes(key[:4], "little") % SLOTS
        if not self._got(first):
            return 0.0
        try:
            offset, left, at = self._find(first, key, most, now)
            left = min(most, left + max(0.0, now - at) * per_second)
            rest = left - 1.0 if left >= 1.0 else left
            _SLOT.pack_into(self._table, offset, key, rest, max(at, now))
            return left
        finally:
            self._let_go(first)

    def close(self) -> None:
        """Let go of the memory; what is in it stays for the others."""
        self._table.close()
        if self._file >= 0:
            os.close(self._file)

    def _find(self, first: int, key: bytes, most: float, now: float) -> tuple[int, float, float]:
        """Where a bucket lies and what was in it when; a new one is full."""
        oldest, since = 0, float("inf")
        for offset in range(first * _SLOT.size, (first + NEIGHBOURS) * _SLOT.size, _SLOT.size):
            there, left, at = _SLOT.unpack_from(self._table, offset)
            if there == key:
                ours = 0.0 <= left <= most and at <= now + FAR_SECONDS
                return (offset, left, at) if ours else (offset, most, now)
            age = at if there != NOBODY and at <= now + FAR_SECONDS else -1.0
            if age < since:
                oldest, since = offset, age
        return oldest, most, now

    def _got(self, first: int) -> bool:
        """Whether the slots from the first on came to be ours within a moment."""
        if self._file < 0 or any(self._locked(first) for _ in range(TRIES)):
            return True
        began = time.monotonic()
        if began < self._impatient_until:
            return False
        while (now := time.monotonic()) < began + PATIENCE_SECONDS:
            time.sleep(POLL_SECONDS)
            if self._locked(first):
                return True
        self._impatient_until = now + IN_VAIN_SECONDS
        log.warning(
            "another process stands still while it counts a request; whose it is, is refused meanwhile"
        )
        return False

    def _locked(self, first: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, NEIGHBOURS, first)
        except OSError:
            return False
        return True

    def _let_go(self, first: int) -> None:
        if self._file >= 0:
            fcntl.lockf(self._file, fcntl.LOCK_UN, NEIGHBOURS, first)


def _opened(path: Path) -> int:
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        log.warning("requests are counted by this process alone: %s", error)
        return -1
    try:
        os.ftruncate(file, SIZE)
    except OSError as error:
        os.close(file)
        log.warning("requests are counted by this process alone: %s", error)
        return -1
    return file

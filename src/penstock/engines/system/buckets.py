"""Buckets that fill again, in memory that all processes of a data folder share.

A file of fixed size is mapped into each of them: a table of slots, each with the hash of a name, what was
left in its bucket and when. A name lies in one of a few slots its hash leads to; where all are taken, the one
not used for longest is given to it. So nothing grows or is swept, and a request costs some microseconds.

A lock is held for the few instructions between reading a slot and writing it. Who holds it may lose the
processor just then, or be stopped for good, and must not stop the others: they wait a moment, then take the
next lock of a row of them and say so at the head of the table. Whoever wakes with an old lock sees that
before he writes, and begins anew with the one that counts.
"""

from __future__ import annotations

import fcntl
import logging
import mmap
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

log = logging.getLogger("penstock.system")
SLOTS = 16_384
NEIGHBOURS = 8
"""Slots one name may lie in."""
TRIES = 50
PATIENCE_SECONDS = 0.05
POLL_SECONDS = 0.0005
FAR_SECONDS = 60.0
"""Another process may have looked at the clock a little later than we; a time further ahead is one of before
the machine was started again."""
_HEAD = struct.Struct("<Q")
_SLOT = struct.Struct("<16sdd")
SIZE = _HEAD.size + SLOTS * _SLOT.size
LOCKS = 1 << 48
"""Bytes of the file, most of them beyond its end, that are taken as locks one after the other."""
NOBODY = bytes(16)


class SharedBuckets:
    """Buckets by name; time is that of the machine's steady clock, the same for all its processes."""

    def __init__(self, path: Path | None) -> None:
        """Without a path, or where it cannot be used, they are this process's own."""
        self._file = -1 if path is None else _opened(path)
        self._table = mmap.mmap(self._file, SIZE)

    def take(self, name: str, *, most: float, per_second: float, now: float) -> float:
        """Take one from a bucket that holds `most` when full; what was in it, less than one is nothing."""
        key = blake2b(name.encode(errors="replace"), digest_size=16).digest()
        while True:
            with self._locked() as lock:
                offset, left, at = self._find(key, most, now)
                left = min(most, left + max(0.0, now - at) * per_second)
                rest = left - 1.0 if left >= 1.0 else left
                if self._counting() == lock:
                    _SLOT.pack_into(self._table, offset, key, rest, max(at, now))
                    return left

    def close(self) -> None:
        """Let go of the memory; what is in it stays for the others."""
        self._table.close()
        if self._file >= 0:
            os.close(self._file)

    def _find(self, key: bytes, most: float, now: float) -> tuple[int, float, float]:
        """Where a bucket lies and what was in it when; a new one is full."""
        first = int.from_bytes(key[:4], "little")
        oldest, since = 0, float("inf")
        for step in range(NEIGHBOURS):
            offset = _HEAD.size + (first + step) % SLOTS * _SLOT.size
            there, left, at = _SLOT.unpack_from(self._table, offset)
            if there == key:
                ours = 0.0 <= left <= most and at <= now + FAR_SECONDS
                return (offset, left, at) if ours else (offset, most, now)
            age = at if there != NOBODY and at <= now + FAR_SECONDS else -1.0
            if age < since:
                oldest, since = offset, age
        return oldest, most, now

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Hold the lock that counts, or the first free one after it; which one it is."""
        counting, further = self._counting(), 0
        while not self._got(lock := (counting + further) % LOCKS):
            before, counting = counting, self._counting()
            further = further + 1 if counting == before else 0
        try:
            if further and self._counting() == counting:
                _HEAD.pack_into(self._table, 0, lock)
            yield lock
        finally:
            if self._file >= 0:
                fcntl.lockf(self._file, fcntl.LOCK_UN, 1, lock)

    def _counting(self) -> int:
        """The lock all go by now."""
        number: int = _HEAD.unpack_from(self._table, 0)[0]
        return number % LOCKS

    def _got(self, lock: int) -> bool:
        """Whether the lock came within a moment."""
        if self._file < 0 or any(self._free(lock) for _ in range(TRIES)):
            return True
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            if self._free(lock):
                return True
        return False

    def _free(self, lock: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, lock)
        except OSError:
            return False
        return True


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

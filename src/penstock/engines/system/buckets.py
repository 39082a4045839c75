"""Buckets that fill again, in memory that all processes of a data folder share.

A file of fixed size is mapped into each of them: a table of slots, each with the hash of a name, what was
left in its bucket and when. A name lies in one of a few slots its hash leads to; where all are taken, the one
not used for longest is given to it. So nothing grows or is swept, and a request costs some microseconds.

A lock on the file is held for the few instructions between reading a slot and writing it. Who holds it may
lose the processor just then, and on waking would undo what others wrote meanwhile: he is waited for a moment.
One that was stopped for longer must not stop the others: they go on without the lock, and try that moment
again only now and then. Two that write at the same time count one request for two.
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
REST_SECONDS = 1.0
"""From a moment that was waited in vain to the next."""
FAR_SECONDS = 60.0
"""Another process may have looked at the clock a little later than we; a time further ahead is one of before
the machine was started again."""
_SLOT = struct.Struct("<16sdd")
NOBODY = bytes(16)


class SharedBuckets:
    """Buckets by name; time is that of the machine's steady clock, the same for all its processes."""

    def __init__(self, path: Path | None) -> None:
        """Without a path, or where it cannot be used, they are this process's own."""
        self._file = -1 if path is None else _opened(path)
        self._table = mmap.mmap(self._file, SLOTS * _SLOT.size)
        self._patient_from = 0.0

    def take(self, name: str, *, most: float, per_second: float, now: float) -> float:
        """Take one from a bucket that holds `most` when full; what was in it, less than one is nothing."""
        key = blake2b(name.encode(errors="replace"), digest_size=16).digest()
        with self._locked():
            offset, left, at = self._find(key, most, now)
            left = min(most, left + max(0.0, now - at) * per_second)
            _SLOT.pack_into(self._table, offset, key, left - 1.0 if left >= 1.0 else left, max(at, now))
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
            offset = (first + step) % SLOTS * _SLOT.size
            there, left, at = _SLOT.unpack_from(self._table, offset)
            if there == key:
                ours = 0.0 <= left <= most and at <= now + FAR_SECONDS
                return (offset, left, at) if ours else (offset, most, now)
            age = at if there != NOBODY and at <= now + FAR_SECONDS else -1.0
            if age < since:
                oldest, since = offset, age
        return oldest, most, now

    @contextmanager
    def _locked(self) -> Iterator[None]:
        held = self._file >= 0 and (any(self._lock() for _ in range(TRIES)) or self._wait())
        try:
            yield
        finally:
            if held:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _wait(self) -> bool:
        """Whether the lock came within a moment."""
        now = time.monotonic()
        if now < self._patient_from:
            return False
        deadline = now + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
            if self._lock():
                return True
        self._patient_from = time.monotonic() + REST_SECONDS
        return False

    def _lock(self) -> bool:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
        os.ftruncate(file, SLOTS * _SLOT.size)
    except OSError as error:
        os.close(file)
        log.warning("requests are counted by this process alone: %s", error)
        return -1
    return file

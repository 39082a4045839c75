"""Blobs: bytes kept by their hash, captured before anybody reads them.

B1  After `put` answered, the bytes are there under their SHA-256, also after a crash of the machine.
B2  A blob is seen whole or not at all, whatever dies while it is written; what is left of it is swept.
B3  The same bytes twice are one blob.
B4  A file that changes while it is read is not captured: Exhausted ERR_FILE_CHANGING, to be tried again.
B5  Only ordinary files are captured: no link is followed, nothing waits on a pipe, and each other way to
    fail has its code: ERR_FILE_NOT_FOUND, ERR_FILE_UNREADABLE, ERR_FILE_NOT_REGULAR, ERR_FILE_TOO_LARGE,
    and ERR_FILE_KEPT_BY_US for what the program keeps for itself.
B6  A put that fails or is cancelled leaves nothing; a full disk is Exhausted ERR_DISK_FULL.
B7  What is not there is Broken ERR_BLOB_MISSING, what is not what it was is Broken ERR_BLOB_DAMAGED;
    putting the bytes again mends both.
B8  `remove` spares a blob that was put, or put again, at or after `before`; removing twice is fine.
B9  A file opened before its blob was removed stays readable.
B10 What is put or verified in a block of `claiming` is not removed before its end, by whatever process.
    `remove` asks `unless` when nobody can claim the blob any more: what was claimed and referred to before is
    seen, and what is put later stays.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import BinaryIO, Protocol

from penstock.model.files import Blob, BlobHash


class Blobs(Protocol):
    """Where bytes are kept."""

    def claiming(self) -> AbstractAsyncContextManager[None]:
        """A block in which bytes are put and then referred to (B10); it counts for tasks begun in it too."""
        ...

    async def put_file(self, path: Path, *, limit: int, beneath: Path | None = None) -> Blob:
        """Capture a file of at most `limit` bytes (B1 to B6).

        With `beneath`, the path must lie below that folder and no folder between the two may be a link.
        """
        ...

    async def put_bytes(self, data: bytes) -> Blob:
        """Keep these bytes."""
        ...

    async def put_stream(self, pieces: AsyncIterator[bytes], *, limit: int) -> Blob:
        """Keep bytes as they arrive; an error of the source is passed on and leaves nothing (B6)."""
        ...

    def path_of(self, digest: BlobHash) -> AbstractAsyncContextManager[Path]:
        """A local file to read the bytes from, good until the block ends; never write to it."""
        ...

    async def open(self, digest: BlobHash) -> BinaryIO:
        """The bytes, opened for reading (B9); the caller closes it."""
        ...

    async def verify(self, digest: BlobHash) -> Blob:
        """Read all of it and compare (B7)."""
        ...

    async def remove(
        self,
        digest: BlobHash,
        *,
        before: float | None = None,
        unless: Callable[[], Awaitable[bool]] | None = None,
    ) -> bool:
        """Let the bytes go (B8, B10), `before` in seconds since the epoch; False if nothing was removed.

        `unless` says whether somebody needs them after all.
        """
        ...

    def all(self) -> AsyncIterator[Blob]:
        """Every blob there is, in the order of their hashes; what comes or goes meanwhile may be missed."""
        ...

    async def sweep(self) -> int:
        """Remove what dead writers left half-written; how many there were. Safe beside living writers."""
        ...

"""Blobs in a folder: `ab/cdef…` by hash, written aside and named when they are whole.

An unfinished blob lies in `unfinished/` under a lock its writer holds. Naming and removing a blob exclude
each other by a lock on the folder of its first two digits, so that bytes put again while a cleaner decides
are either seen by it or written anew, never lost between the two. Until they are referred to, a claim keeps
them; see `claims`.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, closing, contextmanager, suppress
from hashlib import file_digest, sha256
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from penstock.engines.disk import claims
from penstock.engines.disk.aside import Stop, aside
from penstock.engines.disk.claims import Claims
from penstock.engines.disk.durable import (
    begin_unfinished,
    make_folder,
    sweep_unfinished,
    write_all,
)
from penstock.engines.disk.faults import keeping_fault, reading_fault
from penstock.engines.disk.locking import alone_in
from penstock.engines.disk.opening import check_unchanged, opened
from penstock.model.errors import Broken, Refused
from penstock.model.files import Blob, BlobHash, blob_hash

PIECE_BYTES = 1 << 20
UNFINISHED = "unfinished"
_HEX = "0123456789abcdef"


class DiskBlobs:
    """The blob store of one folder; any number of processes may share it."""

    def __init__(self, folder: Path, *, is_ours: Callable[[Path], bool] = lambda path: False) -> None:
        """`is_ours` tells paths that lead to what the program keeps for itself, which is no document."""
        self._folder = folder
        self._is_ours = is_ours
        self._unfinished = folder / UNFINISHED

    @asynccontextmanager
    async def claiming(self) -> AsyncIterator[None]:
        """What this task puts or verifies in the block stays until its end."""
        with claims.claiming():
            yield

    async def put_file(self, path: Path, *, limit: int, beneath: Path | None = None) -> Blob:
        """Capture a file in one reading."""
        claimed = claims.current()

        def work(stop: Stop) -> Blob:
            if self._is_ours(path):
                raise Refused(f"{path} is kept by the program itself", code="ERR_FILE_KEPT_BY_US")
            with opened(path, limit=limit, beneath=beneath) as (source, before), self._draft() as draft:
                while draft.size < before.st_size and (piece := _read(source, path)):
                    stop.look()
                    draft.add(piece)
                check_unchanged(source, before, draft.size, path)
                return draft.finish(claimed)

        return await aside(work)

    async def put_bytes(self, data: bytes) -> Blob:
        """Keep bytes that are in memory already."""
        claimed = claims.current()

        def work(_: Stop) -> Blob:
            with self._draft() as draft:
                draft.add(data)
                return draft.finish(claimed)

        return await aside(work)

    async def put_stream(self, pieces: AsyncIterator[bytes], *, limit: int) -> Blob:
        """Keep bytes as they come; each piece is written before the next is asked for."""
        claimed = claims.current()
        draft = Draft(self._unfinished, self._path)
        try:
            async for piece in pieces:
                if draft.size + len(piece) > limit:
                    raise Refused(f"more than the limit of {limit} bytes came", code="ERR_FILE_TOO_LARGE")
                await aside(_adding(draft, piece))
            return await aside(lambda _: draft.finish(claimed))
        finally:
            await aside(lambda _: draft.close())

    @asynccontextmanager
    async def path_of(self, digest: BlobHash) -> AsyncIterator[Path]:
        """The blob's own file."""
        path = self._path(digest)
        with self._keeping(digest):
            path.stat()  # beside the reader's own opening a thread for this would cost more than it spares
        yield path

    async def open(self, digest: BlobHash) -> BinaryIO:
        """The blob's own file, opened."""

        def work(_: Stop) -> BinaryIO:
            with self._keeping(digest):
                return self._path(digest).open("rb")

        return await aside(work)

    async def verify(self, digest: BlobHash) -> Blob:
        """Hash it again."""
        claimed = claims.current()

        def work(stop: Stop) -> Blob:
            if claimed is not None:
                self._claim(digest, claimed, stop)
            found, size = sha256(), 0
            with self._keeping(digest), self._path(digest).open("rb", buffering=0) as file:
                while piece := file.read(PIECE_BYTES):
                    stop.look()
                    found.update(piece)
                    size += len(piece)
            if found.hexdigest() != digest:
                raise Broken(f"blob {digest} holds other bytes than it was given", code="ERR_BLOB_DAMAGED")
            return Blob(hash=digest, size=size)

        return await aside(work)

    async def remove(
        self,
        digest: BlobHash,
        *,
        before: float | None = None,
        unless: Callable[[], Awaitable[bool]] | None = None,
    ) -> bool:
        """Unlink it, if it is nobody's and older than `before`; the name's going is durable."""
        path = self._path(digest)
        with closing(Claims()) as seized:
            file = await aside(lambda _: _seized(path, before, seized))
            if file is None or (unless is not None and await unless()):
                return False
            return await aside(lambda _: _unlinked(path, file))

    async def all(self) -> AsyncIterator[Blob]:
        """Folder by folder, so that memory holds a 256th of the names."""
        for first in _HEX:
            for second in _HEX:
                for blob in await aside(_listing(self._folder / (first + second))):
                    yield blob

    async def sweep(self) -> int:
        """Remove drafts whose writers are gone."""

        def work(_: Stop) -> int:
            try:
                return sweep_unfinished(self._unfinished)
            except OSError as error:
                raise keeping_fault(error, self._unfinished) from error

        return await aside(work)

    @contextmanager
    def _draft(self) -> Iterator[Draft]:
        with closing(Draft(self._unfinished, self._path)) as draft:
            yield draft

    @contextmanager
    def _keeping(self, digest: BlobHash) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise Broken(f"blob {digest} is not there", code="ERR_BLOB_MISSING") from None
        except OSError as error:
            raise keeping_fault(error, self._path(digest)) from error

    def _claim(self, digest: BlobHash, claimed: Claims, stop: Stop) -> None:
        with self._keeping(digest):
            file = claims.shared_soon(self._path(digest), stop)
        if file is not None:  # whoever reads it next is told that it is gone
            claimed.add(file)

    def _path(self, digest: BlobHash) -> Path:
        checked = blob_hash(digest)
        return self._folder / checked[:2] / checked[2:]


class Draft:
    """Bytes on their way to become a blob; closed without having been finished, they leave nothing."""

    def __init__(self, folder: Path, place: Callable[[BlobHash], Path]) -> None:
        self._folder, self._place = folder, place
        self._hash = sha256()
        self.size = 0
        # A caller that gives up may close it while a slow disk still takes a piece in another thread.
        self._busy = Lock()
        self._file: int | None = None
        """None before the first bytes, and once it is closed or handed on."""
        self._path: Path | None = None
        """Where it is removed from, unless it has its name."""
        self._is_closed = False

    def add(self, piece: bytes) -> None:
        """More of them."""
        with self._writing():
            self._hash.update(piece)
            write_all(self._opened()[0], piece)
            self.size += len(piece)

    def finish(self, claimed: Claims | None = None) -> Blob:
        """Name the bytes by their hash, durably; bytes that are there already only become younger."""
        blob = Blob(hash=blob_hash(self._hash.hexdigest()), size=self.size)
        target = self._place(blob.hash)
        with self._writing():
            there = _holds(target, blob)
            with _among_its_like(target.parent) as folder:
                file = _renewed(target) if there else None
                try:
                    if file is None:
                        self._name(target)
                    # Also for bytes another writer has just named: he may not have come this far.
                    os.fsync(folder)
                except BaseException:
                    if file is not None:
                        os.close(file)
                    raise
            if file is None and claimed is not None:
                file, self._file = self._file, None  # with its lock
            if file is not None:
                (claimed.add if claimed is not None else os.close)(file)
        return blob

    def close(self) -> None:
        """Remove what was not finished; twice is fine."""
        with self._writing():
            self._is_closed = True
            try:
                if self._path is not None:
                    self._path.unlink(missing_ok=True)
                    self._path = None
            finally:
                if self._file is not None:
                    os.close(self._file)
                    self._file = None

    def _opened(self) -> tuple[int, Path]:
        if self._is_closed:
            raise ValueError("the draft is closed")
        if self._file is None or self._path is None:
            self._file, self._path = _begun(self._folder)
        return self._file, self._path

    def _name(self, target: Path) -> None:
        """From here on it is a blob."""
        file, path = self._opened()
        _put_now(file)
        os.fsync(file)
        # Others may claim it once it is named, and nobody can have it alone in between.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        path.rename(target)
        self._path = None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._busy:
                yield
        except OSError as error:
            raise keeping_fault(error, self._folder) from error


def _begun(folder: Path) -> tuple[int, Path]:
    try:
        return begin_unfinished(folder, mode=0o400)
    except FileNotFoundError:  # hardly ever, so that it is not asked for each time
        make_folder(folder)
        return begin_unfinished(folder, mode=0o400)


@contextmanager
def _among_its_like(folder: Path) -> Iterator[int]:
    """The folder of a blob, made if need be, for one giver of names at a time."""
    with ExitStack() as stack:
        try:
            handle = stack.enter_context(alone_in(folder))
        except FileNotFoundError:
            make_folder(folder)
            handle = stack.enter_context(alone_in(folder))
        yield handle


def _holds(target: Path, blob: Blob) -> bool:
    """Whether the blob is there and undamaged; reading it costs less than writing it durably again."""
    try:
        if target.stat().st_size != blob.size:
            return False
        with target.open("rb") as file:
            return file_digest(file, "sha256").hexdigest() == blob.hash
    except OSError:  # it is not there, or cannot be read: what cannot be read is written anew
        return False


def _renewed(target: Path) -> int | None:
    """Claim the blob and let it count as put now; None if it went meanwhile, or somebody is removing it."""
    file = claims.shared(target)
    if file is not None:
        try:
            _put_now(file)
        except BaseException:
            os.close(file)
            raise
    return file


def _put_now(file: int) -> None:
    """Let it count as put now; the kernel's own stamp lags a tick behind the clock `before` is read from."""
    now = time.time_ns()
    os.utime(file, ns=(now, now))


def _seized(path: Path, before: float | None, seized: Claims) -> int | None:
    """The blob for nobody else, if it is old enough; None where it is gone or claimed."""
    try:
        file = claims.alone(path)
        if file is None:
            return None
        seized.add(file)
        return None if before is not None and os.fstat(file).st_mtime >= before else file
    except OSError as error:
        raise keeping_fault(error, path) from error


def _unlinked(path: Path, file: int) -> bool:
    """Take its name away, if it is still this file's: bytes put meanwhile are another file."""
    try:
        with alone_in(path.parent) as folder:
            if not claims.is_at(path, file):
                return False
            path.unlink()
            os.fsync(folder)
    except FileNotFoundError:
        return False
    except OSError as error:
        raise keeping_fault(error, path) from error
    return True


def _read(source: int, path: Path) -> bytes:
    try:
        return os.read(source, PIECE_BYTES)
    except OSError as error:
        raise reading_fault(error, path) from error


def _adding(draft: Draft, piece: bytes) -> Callable[[Stop], None]:
    return lambda _: draft.add(piece)


def _listing(folder: Path) -> Callable[[Stop], list[Blob]]:
    def work(stop: Stop) -> list[Blob]:
        found: list[Blob] = []
        try:
            for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
                stop.look()
                with suppress(FileNotFoundError, Broken):
                    about = entry.stat(follow_symlinks=False)
                    if stat.S_ISREG(about.st_mode):
                        found.append(Blob(hash=blob_hash(folder.name + entry.name), size=about.st_size))
        except FileNotFoundError:
            return []
        except OSError as error:
            raise keeping_fault(error, folder) from error
        return found

    return work

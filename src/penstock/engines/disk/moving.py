"""Moving files between folders that are ours, so that it may be repeated until it is done.

The name is taken by a hard link, which never overwrites, and only then the old name goes: whoever dies in
between leaves one file under two names, and the next attempt drops the old one. The bytes are compared with
those that were captured, because a file that was replaced since is another document, not yet read.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from typing import Any, NamedTuple

from penstock.engines.disk.aside import Stop, aside
from penstock.engines.disk.durable import (
    make_folder,
    sweep_unfinished,
    sync_folder,
    unfinished,
    write_all,
    write_whole,
)
from penstock.engines.disk.faults import keeping_fault, printable
from penstock.engines.disk.locking import alone_in
from penstock.engines.disk.opening import opened
from penstock.model.errors import Broken, Exhausted, Fault, Refused
from penstock.model.files import BlobHash, FoundFile, mark_of
from penstock.ports.files import Moved

SAME_NAME_MAX = 1000
GAPS_MAX = 50
"""So many of the files that were numbered may have been taken away before one that is looked for."""
_NAME_BYTES_MAX = 255
_TAIL_BYTES = len(" (1000).error.json")
_NO_LINKS = frozenset({errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP, errno.EMLINK, errno.ENOSYS})
_ANY_SIZE = 1 << 62
_ENDING_MAX = 20


class DiskMover:
    """Moves files; any number of processes may do so at once."""

    async def move(
        self,
        source: Path,
        folder: Path,
        name: str,
        *,
        digest: BlobHash | None,
        mark: str | None = None,
        until: float | None = None,
    ) -> Moved:
        """Bring a file with these bytes, or the one that was judged, into the folder; where it is now."""
        meant = _Meant(digest, mark, until)

        def work(_: Stop) -> Moved:
            try:
                make_folder(folder)
                with alone_in(folder):
                    return _move(source, folder, fitting_name(name), meant)
            except OSError as error:
                raise keeping_fault(error, folder) from error

        return await aside(work)

    def fitting(self, name: str) -> str:
        """The name with room for a number and a sidecar's ending."""
        return fitting_name(name)

    async def find(self, folder: Path, name: str, *, digest: BlobHash, size_max: int) -> Path | None:
        """The file of this name, or of one made from it, that holds these bytes."""

        def work(_: Stop) -> Path | None:
            try:
                return _find(folder, fitting_name(name), digest, size_max)
            except OSError as error:
                raise keeping_fault(error, folder) from error

        return await aside(work)

    async def write_beside(
        self,
        target: Path,
        suffix: str,
        record: Mapping[str, Any],
        *,
        keep: bool = False,
        since: str | None = None,
    ) -> Path:
        """The record as readable JSON, in place of an earlier one of that name unless that is to be kept."""
        path = _beside(target, suffix)
        text = json.dumps(record, ensure_ascii=False, indent=2) + "\n"

        def work(_: Stop) -> Path:
            try:
                make_folder(path.parent)
                with alone_in(path.parent):
                    if not _stays(path, keep=keep, since=since):
                        write_whole(path, text.encode(errors="backslashreplace"))
            except OSError as error:
                raise keeping_fault(error, path) from error
            return path

        return await aside(work)

    async def drop_beside(self, target: Path, suffix: str) -> None:
        """Nothing happens where there is none."""

        def work(_: Stop) -> None:
            try:
                _drop(_beside(target, suffix))
            except OSError as error:
                raise keeping_fault(error, target.parent) from error

        await aside(work)

    async def sweep(self, folder: Path) -> int:
        """Remove what dead writers left half-written in one of our folders; how many."""

        def work(_: Stop) -> int:
            try:
                return sweep_unfinished(folder)
            except OSError as error:
                raise keeping_fault(error, folder) from error

        return await aside(work)


def fitting_name(name: str) -> str:
    """The name if it can be one, shortened so that a number and a sidecar's ending still fit."""
    if not name or name in (".", "..") or "/" in name or "\0" in name:
        raise Refused(f"{name[:80]!r} cannot be the name of a file", code="ERR_PATH_INVALID")
    stem, ending = _split(name)
    whole = os.fsencode(stem)
    room = _NAME_BYTES_MAX - _TAIL_BYTES - len(os.fsencode(ending))
    return name if len(whole) <= room else whole[:room].decode(errors="ignore") + ending


def _beside(target: Path, suffix: str) -> Path:
    fits = len(os.fsencode(target.name + suffix)) <= _NAME_BYTES_MAX
    return target.with_name((target.name if fits else fitting_name(target.name)) + suffix)


class _Meant(NamedTuple):
    """What tells the file that is meant from one that was put in its place."""

    digest: BlobHash | None
    mark: str | None
    until: float | None

    def is_it(self, about: os.stat_result, found: str) -> bool:
        """Whether a file with this standing and these bytes is the one."""
        if self.mark is not None and _mark(about) == self.mark:
            return True
        if self.digest is not None or self.mark is not None:
            return found == self.digest
        # A second name for it, as a move that was cut short leaves, changes that time too.
        return self.until is None or about.st_ctime <= self.until or about.st_nlink > 1


def _mark(about: os.stat_result) -> str:
    return mark_of(FoundFile(path="", size=about.st_size, mtime_ns=about.st_mtime_ns, inode=about.st_ino))


def _move(source: Path, folder: Path, name: str, meant: _Meant) -> Moved:
    about, digest = _captured(source, meant)
    for target in _candidates(folder, name):
        there = _stat(target)
        if there is None:
            if about is None:
                break
            _place(source, target, about, digest)
            return Moved(path=target, earlier=False)
        if _may_be(there, about) and _hash(target) == digest:
            if about is not None:
                _leave(source, about)
            return Moved(path=target, earlier=about is None)
    else:
        raise Exhausted(f"{printable(folder)} holds {SAME_NAME_MAX} other files named like {name!r}")
    raise Refused(
        f"{printable(source)} is gone and no file with its bytes is in {printable(folder)}",
        code="ERR_FILE_NOT_FOUND",
    )


def _find(folder: Path, name: str, digest: BlobHash, size_max: int) -> Path | None:
    missing = 0
    for target in _candidates(folder, name):
        there = _stat(target)
        if there is None:
            missing += 1
            if missing > GAPS_MAX:
                return None
        elif stat.S_ISREG(there.st_mode) and there.st_size <= size_max and _hash(target) == digest:
            return target
    return None


def _captured(source: Path, meant: _Meant) -> tuple[os.stat_result | None, BlobHash | None]:
    """How the source stands if it is the one that is meant, None if it is gone; and what bytes it has."""
    try:
        with opened(source, limit=_ANY_SIZE) as (file, about), os.fdopen(os.dup(file), "rb") as reader:
            found = file_digest(reader, "sha256").hexdigest()
    except Fault as fault:
        if fault.code == "ERR_FILE_NOT_FOUND":
            return None, meant.digest
        raise
    if not meant.is_it(about, found):
        raise Refused(
            f"{printable(source)} holds other bytes than were read; it stays", code="ERR_FILE_CHANGING"
        )
    return about, BlobHash(found)


def _place(source: Path, target: Path, about: os.stat_result, digest: BlobHash | None) -> None:
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _copy(source, target, about, digest)
    else:
        placed = os.lstat(target)
        if _identity(placed) != _identity(about):
            target.unlink()
            raise Refused(f"{printable(source)} was replaced while it was moved", code="ERR_FILE_CHANGING")
    sync_folder(target.parent)
    _leave(source, about)


def _copy(source: Path, target: Path, about: os.stat_result, digest: BlobHash | None) -> None:
    """To another file system, or one without links: written aside, compared, then named."""
    with unfinished(target.parent, prefix=f".{target.name[:40]}.", mode=0o600) as (file, temporary):
        with opened(source, limit=_ANY_SIZE) as (reading, _):
            while piece := os.read(reading, 1 << 20):
                write_all(file, piece)
        os.fchmod(file, stat.S_IMODE(about.st_mode))
        os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
        os.fsync(file)
        if _hash(temporary) != digest:
            raise Refused(f"{printable(source)} changed while it was moved", code="ERR_FILE_CHANGING")
        try:
            os.link(temporary, target, follow_symlinks=False)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # No links here at all; the folder's lock keeps our own others away from the name.
            temporary.rename(target)


def _leave(source: Path, about: os.stat_result) -> None:
    """Take the old name away, unless it leads elsewhere by now: what was put there since is not yet read."""
    with suppress(FileNotFoundError):
        if _identity(os.lstat(source)) == _identity(about):
            _drop(source)


def _drop(path: Path) -> None:
    with suppress(FileNotFoundError):
        path.unlink()
        sync_folder(path.parent)


def _may_be(there: os.stat_result, about: os.stat_result | None) -> bool:
    """Whether a file may hold the bytes of the other; one of another size is not read through to learn it."""
    return stat.S_ISREG(there.st_mode) and (about is None or there.st_size == about.st_size)


def _candidates(folder: Path, name: str) -> Iterator[Path]:
    stem, ending = _split(name)
    yield folder / name
    for number in range(2, SAME_NAME_MAX + 1):
        yield folder / f"{stem} ({number}){ending}"


def _split(name: str) -> tuple[str, str]:
    stem, dot, ending = name.rpartition(".")
    if not stem or len(ending) > _ENDING_MAX:
        return name, ""
    return stem, dot + ending


def _stat(path: Path) -> os.stat_result | None:
    try:
        return os.lstat(path)
    except FileNotFoundError:
        return None


def _stays(path: Path, *, keep: bool, since: str | None) -> bool:
    """Whether a record is there that must not be replaced."""
    if keep or since is None:
        return keep and _stat(path) is not None
    try:
        told = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return False
    ended = (told.get("completed_at") or told.get("failed_at")) if isinstance(told, dict) else None
    return isinstance(ended, str) and ended >= since


def _hash(path: Path) -> str:
    try:
        with opened(path, limit=_ANY_SIZE) as (file, _), os.fdopen(os.dup(file), "rb") as reader:
            return file_digest(reader, "sha256").hexdigest()
    except Refused as refused:
        raise Broken(f"a file in our own folder cannot be read: {refused.message}") from refused


def _identity(about: os.stat_result) -> tuple[int, int, int, int]:
    return about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns

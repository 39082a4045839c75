"""Zip archives, opened with distrust: what they say of themselves is checked, what they unpack to is counted.

A bomb is told by what it declares, before anything is unpacked; one that lies about it is stopped by
counting the bytes that really come out. Only members a reader asks for are ever unpacked, so nested archives
stay shut.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import IO, Any, BinaryIO, Self

from penstock.model.errors import Refused
from penstock.model.parsed import Media
from penstock.pipeline.parse.damage import Damaged
from penstock.pipeline.parse.manuscript import Limits

MEMBERS_MAX = 50_000
RATIO_MAX = 200
RATIO_COUNTS_FROM = 64 << 20
"""Below this, any ratio is harmless: a short text of one letter packs a thousandfold."""
PART_BYTES_MAX = 16 << 20
"""The largest part that is read as a whole: the kind of a package, a chapter of a book."""
_ENCRYPTED = 0x1
_DIRECTORY_END = b"PK\x05\x06"
_LONG_END = b"PK\x06\x06"
_LONG_END_BYTES = 56
_LOCATOR = b"PK\x06\x07"
_LOCATOR_BYTES = 20


class Archive:
    """An open archive; raises Damaged for what cannot be unpacked and Refused for what must not be."""

    def __init__(self, file: BinaryIO, limits: Limits) -> None:
        self._budget = limits.unpacked_bytes
        self._left = limits.unpacked_bytes
        _check_member_count(file)
        with _told():
            file.seek(0)
            self._zip = zipfile.ZipFile(file)
        members = self._zip.infolist()
        if len(members) > MEMBERS_MAX:
            raise _too_many()
        self._check_sizes(members)
        # Part names are compared without regard to case, and some writers turn the slashes.
        self._members = {_key(member.filename): member for member in members}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()

    def media(self) -> Media | None:
        """Which format the parts make up; None for an archive that is nothing but one."""
        if self._says_of_itself() == b"application/epub+zip":
            return Media.EPUB
        if "meta-inf/container.xml" in self:
            return Media.EPUB
        for part, media in (("word/", Media.DOCX), ("ppt/", Media.PPTX), ("xl/", Media.XLSX)):
            if "[content_types].xml" in self and any(key.startswith(part) for key in self._members):
                return media
        return None

    @property
    def kind(self) -> str:
        """What people call it, if it is none of the formats that are read."""
        of_office = self._says_of_itself().startswith(b"application/vnd.oasis.opendocument")
        return "an OpenDocument file" if of_office else "a zip archive"

    def _says_of_itself(self) -> bytes:
        return self.read("mimetype")[:64].strip() if "mimetype" in self else b""

    def __contains__(self, name: str) -> bool:
        return _key(name) in self._members

    def read(self, name: str) -> bytes:
        """A part as a whole; Damaged if it is missing."""
        with self.open(name) as part:
            data = part.read(PART_BYTES_MAX + 1)
        if len(data) > PART_BYTES_MAX:
            raise Refused(
                f"Its part {name[:200]!r} unpacks to more than {PART_BYTES_MAX} bytes.",
                code="ERR_ARCHIVE_BOMB",
            )
        return data

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """A part as a stream; every byte that comes out is counted."""
        member = self._members.get(_key(name))
        if member is None:
            raise Damaged(f"its part {name[:200]!r} is missing")
        if member.flag_bits & _ENCRYPTED:
            raise Refused("The file is encrypted and needs a password.", code="ERR_ENCRYPTED")
        with _told():
            stream = self._zip.open(member)
        try:
            yield io.BufferedReader(_Counted(stream, self._spend), 64 * 1024)
        finally:
            stream.close()

    def _spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise self._bomb()

    def _check_sizes(self, members: list[zipfile.ZipInfo]) -> None:
        unpacked = sum(member.file_size for member in members)
        packed = sum(member.compress_size for member in members)
        if unpacked > self._budget or (unpacked > RATIO_COUNTS_FROM and unpacked > RATIO_MAX * packed):
            raise self._bomb()

    def _bomb(self) -> Refused:
        return Refused(
            f"The file unpacks to more than {RATIO_MAX} times its size, or {self._budget} bytes.",
            code="ERR_ARCHIVE_BOMB",
        )


class _Counted(io.RawIOBase):
    """A member's bytes as they come out of it."""

    def __init__(self, stream: IO[bytes], spend: Callable[[int], None]) -> None:
        self._stream = stream
        self._spend = spend

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        view = memoryview(target)
        with _told():
            data = self._stream.read(len(view))
        self._spend(len(data))
        view[: len(data)] = data
        return len(data)


@contextmanager
def _told() -> Iterator[None]:
    """Whatever the archive's own code raises means damage."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if type(error) is RuntimeError:  # how zipfile says that a password is missing
            raise Refused("The file is encrypted and needs a password.", code="ERR_ENCRYPTED") from error
        raise Damaged(f"it cannot be unpacked ({error})"[:300]) from error


def _key(name: str) -> str:
    return name.replace("\\", "/").lstrip("/").lower()


def _check_member_count(file: BinaryIO) -> None:
    """Refuse a directory of millions before it is read into memory."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - (1 << 16) - 22 - _LOCATOR_BYTES - _LONG_END_BYTES))
    tail = file.read()
    at = tail.rfind(_DIRECTORY_END)
    if at < 0 or len(tail) < at + 22:
        raise Damaged("its end is missing")
    count, length = struct.unpack_from("<HI", tail, at + 10)
    locator = at - _LOCATOR_BYTES
    long_end = locator - _LONG_END_BYTES
    if long_end >= 0 and tail.startswith(_LONG_END, long_end) and tail.startswith(_LOCATOR, locator):
        # Where there is a longer record, what it says counts, whatever the short one says.
        count, length = struct.unpack_from("<QQ", tail, long_end + 32)
    # 65535 means that a longer record holds the count: then the length of the directory tells.
    if count > MEMBERS_MAX or (length if length < 0xFFFFFFFF else size) > MEMBERS_MAX * 400:
        raise _too_many()


def _too_many() -> Refused:
    return Refused(f"The file has more than {MEMBERS_MAX} parts.", code="ERR_ARCHIVE_BOMB")

"""Files as they are found, told and kept, before anybody knows what is in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

from penstock.model.errors import Broken, Refused
from penstock.model.payloads import DEPTH_MAX, PATTERNS_MAX

BlobHash = NewType("BlobHash", str)
"""The SHA-256 of stored bytes, as 64 lower-case hex digits."""

_HASH = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Blob:
    """Bytes that are kept, by their hash."""

    hash: BlobHash
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundFile:
    """A file as it stood when somebody looked; two equal ones are taken for the same bytes."""

    path: str
    """Absolute, in its plain form, valid text."""
    size: int
    mtime_ns: int
    inode: int


class Oversight(StrEnum):
    """Why something under a folder was left out although nobody asked for that."""

    UNREADABLE = "unreadable"
    NAME_NOT_TEXT = "name_not_text"
    PATH_TOO_LONG = "path_too_long"
    SPECIAL = "special"
    TOO_DEEP = "too_deep"
    IGNORE_FILE = "ignore_file"
    OTHER_REPOSITORY = "other_repository"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlooked:
    """Something left out, with the reason; its path is made printable."""

    path: str
    why: Oversight


@dataclass(frozen=True, slots=True, kw_only=True)
class Portion:
    """Some of the files under a folder, in order, and what was overlooked on the way."""

    files: tuple[FoundFile, ...] = ()
    overlooked: tuple[Overlooked, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which files of a folder are wanted.

    A glob is matched against the name if it holds no slash, else against the path below the root or any
    tail of it; a leading slash pins it to the root, `**` crosses folders, a trailing slash means a folder.
    """

    patterns: tuple[str, ...] = ()
    """Empty takes all."""
    ignore_patterns: tuple[str, ...] = ()
    recursive: bool = True
    recursive_depth: int = DEPTH_MAX
    """How many levels below the root are entered; 0 is the root's own files."""
    hidden: bool = False
    files_max: int = 100_000

    def __post_init__(self) -> None:
        if not 0 <= self.recursive_depth <= DEPTH_MAX:
            raise Refused(f"recursive_depth must be 0 to {DEPTH_MAX}", code="ERR_PAYLOAD_INVALID")
        for name, globs in (("patterns", self.patterns), ("ignore_patterns", self.ignore_patterns)):
            if len(globs) > PATTERNS_MAX:
                raise Refused(f"{name} may hold {PATTERNS_MAX} patterns at most", code="ERR_PAYLOAD_INVALID")

    @property
    def depth(self) -> int:
        """How many levels below the root are entered, whichever way it was said."""
        return self.recursive_depth if self.recursive else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Appeared:
    """A file is there that was not."""

    file: FoundFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Modified:
    """A known file has other bytes, or may have."""

    file: FoundFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A known file has another path and, by all signs, the same bytes."""

    old: str
    file: FoundFile


@dataclass(frozen=True, slots=True, kw_only=True)
class Vanished:
    """A known file is gone."""

    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Away:
    """The watched folder itself is gone, or stands empty without its disk; its files are not told as gone."""

    root: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Back:
    """The watched folder is there again; what changed meanwhile is told next."""

    root: str


Change = Appeared | Modified | Moved | Vanished | Away | Back


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectFacts:
    """What a project's folder says about itself."""

    root: str
    branch: str
    remote: str | None
    """Normalised, without credentials; None where there is none."""
    tenant: str
    versioned: bool
    """Whether git told the files; otherwise the folder was walked."""


def blob_hash(text: str) -> BlobHash:
    """The text as a hash; anything else must never reach a path."""
    if not is_blob_hash(text):
        raise Broken(f"{text[:80]!r} is not the SHA-256 of a blob")
    return BlobHash(text)


def is_blob_hash(text: str) -> bool:
    """Whether a text is the hash of some bytes."""
    return _HASH.fullmatch(text) is not None


def mark_of(file: FoundFile) -> str:
    """How a file looks, as one word; equal marks are taken for equal bytes."""
    return f"{file.size}:{file.mtime_ns}:{file.inode}"


def file_of(path: str, mark: str) -> FoundFile | None:
    """The file a mark was made of; None if it is none of ours."""
    parts = mark.split(":")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts):
        return None
    size, mtime_ns, inode = map(int, parts)
    return FoundFile(path=path, size=size, mtime_ns=mtime_ns, inode=inode)

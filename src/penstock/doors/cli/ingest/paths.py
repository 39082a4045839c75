"""Paths as people type them: files, folders, globs, each looked at before anything is submitted."""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from penstock.model.errors import Refused
from penstock.model.payloads import check_path

NAMED_MAX = 10
"""Faults told one by one; more are only counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is at the paths: files with their sizes, and folders; each absolute and once."""

    files: dict[str, int] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)


def look(paths: Sequence[str], *, file_bytes_max: int, files_max: int) -> Seen:
    """Look at every path; Refused with all that is wrong, under the code of the first."""
    seen, faults = Seen(), list[Refused]()
    for typed in paths:
        try:
            for path in _expanded(typed, files_max):
                _take(path, seen, file_bytes_max)
        except Refused as fault:
            faults.append(fault)
    if len(seen.files) > files_max:
        faults.append(
            Refused(
                f"{len(seen.files):,} files were named, the limit is {files_max:,}",
                code="ERR_FOLDER_TOO_LARGE",
            )
        )
    if faults:
        raise together(faults)
    return seen


def together(faults: Sequence[Refused]) -> Refused:
    """One refusal that tells several."""
    if len(faults) == 1:
        return faults[0]
    told = "; ".join(fault.message for fault in faults[:NAMED_MAX])
    rest = f"; and {len(faults) - NAMED_MAX:,} more" if len(faults) > NAMED_MAX else ""
    return Refused(f"{len(faults):,} paths cannot be taken: {told}{rest}", code=faults[0].code)


def _expanded(typed: str, files_max: int) -> Iterator[str]:
    """The path itself, or what the glob finds; folders a glob meets on its way are not meant."""
    if os.path.lexists(typed) or not glob.has_magic(typed):
        yield typed
        return
    found = 0
    for path in sorted(glob.iglob(typed, recursive=True)):
        if os.path.isfile(path):
            found += 1
            yield path
        if found > files_max:
            raise Refused(
                f"{typed} matches more than {files_max:,} files, which is the limit",
                code="ERR_FOLDER_TOO_LARGE",
            )
    if not found:
        raise Refused(f"no file matches {typed}", code="ERR_FILE_NOT_FOUND")


def _take(typed: str, seen: Seen, file_bytes_max: int) -> None:
    path = absolute(typed)
    try:
        found = os.stat(path)
    except OSError as error:
        raise _unseen(typed, error) from error
    if os.path.islink(path):
        # What is read later is read without following links; what it leads to is what is meant.
        path = os.path.realpath(path)
    if stat.S_ISDIR(found.st_mode):
        if not os.access(path, os.R_OK | os.X_OK):
            raise Refused(f"the folder {typed} may not be read", code="ERR_FILE_UNREADABLE")
        if path not in seen.folders:
            seen.folders.append(path)
        return
    check_file(typed, found, file_bytes_max)
    if not os.access(path, os.R_OK):
        raise Refused(f"{typed} may not be read", code="ERR_FILE_UNREADABLE")
    seen.files[path] = found.st_size


def check_file(typed: str, found: os.stat_result, file_bytes_max: int) -> None:
    """Refuse what is no ordinary file of a size we take."""
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f"{typed} is no ordinary file", code="ERR_FILE_NOT_REGULAR")
    if found.st_size == 0:
        raise Refused(f"{typed} is empty", code="ERR_FILE_EMPTY")
    if found.st_size > file_bytes_max:
        raise Refused(
            f"{typed} has {found.st_size:,} bytes, the limit is {file_bytes_max:,}",
            code="ERR_FILE_TOO_LARGE",
        )


def absolute(typed: str) -> str:
    """The path in the form documents are known by."""
    path = os.path.abspath(typed)
    check_path(path, "the path")
    return path


def folder(typed: str) -> str:
    """The folder at a path, or that a link there leads to; absolute."""
    path = absolute(typed)
    if not Path(path).is_dir():
        raise Refused(f"{typed} is no folder", code="ERR_FOLDER_NOT_FOUND")
    return os.path.realpath(path) if os.path.islink(path) else path


def _unseen(typed: str, error: OSError) -> Refused:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return Refused(f"there is no file {typed}", code="ERR_FILE_NOT_FOUND")
    if error.errno in (errno.EACCES, errno.EPERM):
        return Refused(f"{typed} may not be read", code="ERR_FILE_UNREADABLE")
    return Refused(f"{typed} cannot be looked at ({error.strerror})", code="ERR_PATH_INVALID")

"""The disk's errors in the words of the model; the system's error stays attached as the cause."""

from __future__ import annotations

import errno
import os

from penstock.model.errors import Exhausted, Fault, Refused, Unavailable

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR})
_TOO_MANY = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOMEM})


def printable(path: str | os.PathLike[str]) -> str:
    """The path as people may read it, whatever bytes are in it."""
    return os.fspath(path).encode(errors="backslashreplace").decode()


def reading_fault(error: OSError, path: str | os.PathLike[str]) -> Fault:
    """Why somebody's file cannot be read."""
    name = printable(path)
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return Refused(f"there is no file at {name}", code="ERR_FILE_NOT_FOUND")
        case errno.EACCES | errno.EPERM:
            return Refused(f"{name} may not be read ({error.strerror})", code="ERR_FILE_UNREADABLE")
        case errno.ELOOP:
            return Refused(f"{name} is a symbolic link", code="ERR_FILE_NOT_REGULAR")
        case errno.ENXIO | errno.ENODEV | errno.EISDIR:
            return Refused(f"{name} is not an ordinary file", code="ERR_FILE_NOT_REGULAR")
        case errno.ENAMETOOLONG | errno.EINVAL:
            return Refused(f"{name[:200]} is no path this system can have", code="ERR_PATH_INVALID")
        case number if number in _TOO_MANY:
            return Exhausted(f"{name} cannot be opened now ({error.strerror})")
        case _:
            return Unavailable(f"reading {name} failed ({error.strerror})", code="ERR_FILE_UNREADABLE")


def keeping_fault(error: OSError, path: str | os.PathLike[str]) -> Fault:
    """Why our own folder cannot be read or written."""
    name = printable(path)
    if error.errno in _FULL:
        return Exhausted(f"the disk is full: {name} cannot be written", code="ERR_DISK_FULL")
    if error.errno in _FORBIDDEN:
        return Unavailable(f"{name} cannot be written ({error.strerror})", code="ERR_STORE_READ_ONLY")
    if error.errno in _TOO_MANY:
        return Exhausted(f"{name} cannot be opened now ({error.strerror})")
    return Unavailable(f"reading or writing {name} failed ({error.strerror})", code="ERR_STORE_UNAVAILABLE")

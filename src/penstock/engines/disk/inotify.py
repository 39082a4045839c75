"""The kernel's news about folders, through the C library; one descriptor per watched root.

Asked for directly and not through a package, because two things matter here that packages hide: that news
was lost (then everything is compared again) and that no more folders can be watched (then we poll).
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from dataclasses import dataclass

_CLOSE_ON_EXEC = 0o2000000
_NON_BLOCKING = 0o4000

_MODIFY, _ATTRIB, _CLOSE_WRITE = 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED = 0x2000, 0x4000, 0x8000
_ONLY_FOLDERS, _DONT_FOLLOW, _EXCLUDE_UNLINKED = 0x01000000, 0x02000000, 0x04000000
_IS_FOLDER = 0x40000000

_WANTED = (
    (_MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE)
    | (_DELETE_SELF | _MOVE_SELF)
    | (_ONLY_FOLDERS | _DONT_FOLLOW | _EXCLUDE_UNLINKED)
)
_HEAD = struct.Struct("iIII")
_READ_BYTES = 1 << 16
READS_MAX = 4
"""Reads in one go, so that a storm of news cannot hold the loop."""


@dataclass(frozen=True, slots=True)
class Notice:
    """Something happened to a name in a folder; without a name, to the folder itself."""

    folder: str
    name: str
    is_folder: bool


class Lost(Exception):
    """The kernel dropped news: nobody knows what happened."""


class Inotify:
    """Watches folders, not the trees below them; OSError where the system has none left to give."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        try:
            start = self._library.inotify_init1
        except AttributeError:
            raise OSError(errno.ENOSYS, "this system has no inotify") from None
        self._handle = int(start(_CLOSE_ON_EXEC | _NON_BLOCKING))
        if self._handle < 0:
            raise _error()
        self._folders: dict[int, str] = {}

    def fileno(self) -> int:
        """What becomes readable when there is news."""
        return self._handle

    def add(self, folder: str) -> None:
        """Watch a folder, also under a new name; one that is gone is nothing to watch."""
        number = self._library.inotify_add_watch(self._handle, os.fsencode(folder), _WANTED)
        if number >= 0:
            self._folders[number] = folder
            return
        error = _error()
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.ELOOP):
            raise error

    def read(self) -> list[Notice]:
        """What happened since the last time; Lost when the kernel could not hold it all."""
        found: list[Notice] = []
        lost = False
        for _ in range(READS_MAX):
            try:
                data = os.read(self._handle, _READ_BYTES)
            except BlockingIOError:
                break
            lost |= self._take(data, found)
        if lost:
            raise Lost
        return found

    def close(self) -> None:
        """Let go of everything."""
        os.close(self._handle)

    def _take(self, data: bytes, found: list[Notice]) -> bool:
        at, lost = 0, False
        while at < len(data):
            number, mask, _, length = _HEAD.unpack_from(data, at)
            name = data[at + _HEAD.size : at + _HEAD.size + length].rstrip(b"\0")
            at += _HEAD.size + length
            if mask & (_OVERFLOW | _UNMOUNT):
                lost = True
            elif mask & _IGNORED:
                self._folders.pop(number, None)
            elif (folder := self._folders.get(number)) is not None:
                found.append(Notice(folder, os.fsdecode(name), bool(mask & _IS_FOLDER)))
        return lost


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))

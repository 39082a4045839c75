"""What the machine says about itself: where a folder lies, how much room there is, what may be watched."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import tempfile
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path

INOTIFY = Path("/proc/sys/fs/inotify")


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Space on the disk a folder lies on, in bytes."""

    free: int
    total: int


def nearest_folder(folder: Path) -> Path:
    """The folder, or the nearest one above it that is there."""
    there = folder.absolute()
    while not there.exists() and there != there.parent:
        there = there.parent
    return there


def writing_fault(folder: Path) -> str | None:
    """Why nothing can be written there; None if it can."""
    if not folder.is_dir():
        return "it is no folder"
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".doctor-"):
            return None
    except OSError as error:
        return error.strerror or str(error)


def listening_fault(host: str, port: int) -> tuple[bool, str] | None:
    """Why nobody can listen there, and whether because somebody does; None if one can."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(1)
    except OSError as error:
        return error.errno == errno.EADDRINUSE, error.strerror or str(error)
    return None


def answer_of(host: str, port: int, path: str, *, seconds: float, bytes_max: int = 4096) -> bytes:
    """How a web server's answer begins; nothing where none answers."""
    try:
        with closing(HTTPConnection(host, port, timeout=seconds)) as line:
            line.request("GET", path)
            return line.getresponse().read(bytes_max)
    except (OSError, HTTPException):
        return b""


def room(folder: Path) -> Room:
    """The room on the folder's disk."""
    found = shutil.disk_usage(folder)
    return Room(free=found.free, total=found.total)


def inotify_limits() -> dict[str, int]:
    """How much one user may watch; empty where the system has no such thing."""
    found: dict[str, int] = {}
    for name in ("max_user_watches", "max_user_instances"):
        try:
            found[name] = int((INOTIFY / name).read_text())
        except (OSError, ValueError):
            continue
    return found


def newest_change(folder: Path) -> float:
    """When the folder, or a file directly in it, was changed last, by the disk's own clock."""
    times = [folder.stat().st_mtime]
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                times.append(entry.stat(follow_symlinks=False).st_mtime)
            except FileNotFoundError:
                continue
    return max(times)

"""A process that shuts itself in as parsers do, tries to get out in every way, and prints what worked."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from penstock.engines.parsers.sandbox import shut_in


def _connect(port: int) -> None:
    with socket.socket() as line:
        line.settimeout(2.0)
        line.connect(("127.0.0.1", port))


def _write_more(handle: int) -> None:
    os.write(handle, b"x" * 100)


def main(folder: Path, port: int) -> None:
    """Try everything; a way that worked is printed by its name."""
    with (folder / "open").open("w+b") as already_open:
        handle = already_open.fileno()
        ways: dict[str, Callable[[], object]] = {
            "read a file": lambda: Path(__file__).read_bytes(),
            "read the users": lambda: Path("/etc/passwd").read_bytes(),
            "look at another process": lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes(),
            "list a folder": lambda: os.listdir("/"),
            "write a file": lambda: (folder / "new").write_bytes(b"x"),
            "grow an open file": lambda: _write_more(handle),
            "make a link": lambda: os.symlink("/", folder / "link"),
            "connect": lambda: _connect(port),
            "listen": lambda: socket.create_server(("127.0.0.1", 0)),
            "talk to the kernel": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
            "fork": lambda: os._exit(0) if os.fork() == 0 else None,
            "start a program": lambda: subprocess.run(["true"], check=True),
            "become one": lambda: os.execv("/bin/true", ["true"]),  # noqa: S606
            "signal the parent": lambda: os.kill(os.getppid(), 0),
            "signal everyone": lambda: os.kill(-1, 0),
            "raise the memory": lambda: resource.setrlimit(resource.RLIMIT_DATA, (1 << 40, 1 << 40)),
            "take much memory": lambda: bytearray(600 << 20),
            "become root": lambda: os.setuid(0),
        }
        sys.stdout.flush()
        shut_in(256 << 20, os.getppid())
        worked = [name for name, way in ways.items() if _works(way)]
        os.write(1, json.dumps(worked).encode())
    # The kernel's own counter, and an abort, must still work: libraries end that way.
    ctypes.CDLL(None).abort()


def _works(way: Callable[[], object]) -> bool:
    try:
        way()
    except (OSError, ValueError, MemoryError, subprocess.SubprocessError):
        return False
    return True


if __name__ == "__main__":
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    main(Path(sys.argv[1]), int(sys.argv[2]))

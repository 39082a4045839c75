"""Shutting a child in: run by the child itself, after its last import and before its first file.

From then on it has one socket and one open file at a time. It cannot open a path, reach a network, start a
process, signal anyone or grow beyond its memory, and it dies with its parent.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import platform
import resource
import signal
from dataclasses import dataclass
from pathlib import Path

from penstock.engines.parsers.landlock import give_up_paths
from penstock.engines.parsers.seccomp import give_up_calls

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
NOBODY = 65534
OPEN_FILES_MAX = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Shut:
    """What is in force."""

    landlock: int
    seccomp: bool
    unprivileged: bool


def shut_in(memory_bytes: int, parent: int) -> Shut:
    """Give everything up; raises OSError if the kernel offers a shield and then refuses it."""
    _first_to_go()
    unprivileged = _become_nobody()
    _limit(memory_bytes)
    die_with(parent)
    if platform.system() == "Linux":
        system = ctypes.CDLL(None, use_errno=True)
        system.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        if system.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
    return Shut(landlock=give_up_paths(), seccomp=give_up_calls(), unprivileged=unprivileged)


def die_with(parent: int) -> None:
    """End when that process does, however it does; a change of user would take that back."""
    if platform.system() == "Linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)  # it died before we could ask to die with it


def watch_time(used: float, passed: float) -> None:
    """Let the kernel end this process if the parent, which should, does not; 0 ends the watch.

    After so many seconds of a processor, or so many by the clock.
    """
    signal.setitimer(signal.ITIMER_PROF, used)
    signal.setitimer(signal.ITIMER_REAL, passed)


def _first_to_go() -> None:
    """When the machine runs out of memory, the kernel takes a parser before anyone else."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _become_nobody() -> bool:
    """Give up root, whose limits are none; where users cannot be changed it stays as it is."""
    if os.geteuid() != 0:
        return True
    try:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    except OSError:
        return False
    return True


def _limit(memory_bytes: int) -> None:
    for name, most in (
        ("RLIMIT_CORE", 0),
        ("RLIMIT_FSIZE", 0),
        ("RLIMIT_NPROC", 0),
        ("RLIMIT_NOFILE", OPEN_FILES_MAX),
        ("RLIMIT_DATA", memory_bytes),
        # Libraries and mapped files come on top of what is allocated.
        ("RLIMIT_AS", memory_bytes + (512 << 20)),
    ):
        kind = getattr(resource, name, None)
        if kind is not None:
            with contextlib.suppress(OSError, ValueError):  # a lower one is in force already
                resource.setrlimit(kind, (most, most))

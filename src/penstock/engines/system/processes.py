"""Is a process still there? Told by what the kernel knows of it, so that a reused number deceives nobody."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

_PROC = Path("/proc")


def identity() -> str:
    """This process as `boot:namespace:pid:start`; empty where the kernel does not tell."""
    machine = _machine()
    started = _start_of(os.getpid())
    return f"{machine}:{os.getpid()}:{started}" if machine and started else ""


def is_gone(known: str, *, one_machine: bool) -> bool:
    """True only if it is certain: the process ended, or the machine was restarted since.

    Where others may run on another machine, another boot tells nothing: it may be that one's.
    """
    here = _machine()
    if not known or not here:
        return False
    boot, namespace, pid, started = known.split(":")
    our_boot, our_namespace = here.split(":")
    if boot != our_boot:
        return one_machine
    return namespace == our_namespace and _start_of(int(pid)) != started


def boot() -> str:
    """The id of this run of the machine; empty where the kernel does not tell."""
    return _machine().partition(":")[0]


@cache
def _machine() -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}:{os.stat(_PROC / 'self/ns/pid').st_ino}"
    except OSError:
        return ""


def _start_of(pid: int) -> str:
    """When it started, in ticks since boot; empty if it is not there or only waits to be buried."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return ""
    fields = stat.rpartition(")")[2].split()
    return "" if fields[0] in ("Z", "X") else fields[19]

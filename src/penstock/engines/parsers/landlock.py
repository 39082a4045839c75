"""Landlock: a process gives up every path, port and outside signal for good; what is open stays open."""

from __future__ import annotations

import ctypes
import os
import platform

_CREATE_RULESET = 444
_RESTRICT_SELF = 446
_ASK_VERSION = 1
_FILES_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
"""How many rights over files each version knows; all of them are handled, and none is granted."""
_NETWORK_FROM = 4
_SCOPES_FROM = 6
_ALL_NETWORK = 0b11
_ALL_SCOPES = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


def landlock_version() -> int:
    """The version the kernel offers; 0 for none."""
    if platform.system() != "Linux":
        return 0
    answer = _system().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_ASK_VERSION))
    return max(int(answer), 0)


def give_up_paths() -> int:
    """Shut this thread and all it starts off from every path; the version in force, 0 if there is none."""
    version = landlock_version()
    if version == 0:
        return 0
    known = _FILES_BY_VERSION[min(version, max(_FILES_BY_VERSION))]
    ruleset = _Ruleset(
        files=(1 << known) - 1,
        network=_ALL_NETWORK if version >= _NETWORK_FROM else 0,
        scopes=_ALL_SCOPES if version >= _SCOPES_FROM else 0,
    )
    # An older kernel refuses a longer structure than it knows unless the rest is zero, which it is.
    system = _system()
    rules = system.syscall(
        _CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(ctypes.sizeof(ruleset)), ctypes.c_uint32(0)
    )
    if rules < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset")
    try:
        if system.syscall(_RESTRICT_SELF, rules, ctypes.c_uint32(0)) != 0:
            raise OSError(ctypes.get_errno(), "landlock_restrict_self")
    finally:
        os.close(rules)
    return version


def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)

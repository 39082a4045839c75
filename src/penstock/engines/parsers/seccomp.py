"""Seccomp: of all system calls a process keeps those that computing needs; every other fails with EPERM.

A list of what is allowed grows old in the safe direction: a call nobody thought of fails. Failing, not
killing, because libraries ask for things they can do without. Threads may be made, processes may not; a
signal may be sent only to oneself, which is how a library aborts.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Mapping
from dataclasses import dataclass

_PR_GET_SECCOMP = 21
_PR_SET_SECCOMP = 22
_MODE_FILTER = 2
_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_LOAD, _EQUAL, _ANY_BIT, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_CLONE_THREAD = 0x00010000

ALLOWED = (
    "read", "write", "readv", "writev", "pread64", "pwrite64", "lseek", "fstat", "close", "dup", "fcntl",
    "ioctl", "poll", "ppoll", "select", "pselect6", "recvfrom", "recvmsg", "sendto", "sendmsg", "shutdown",
    "mmap", "munmap", "mremap", "mprotect", "madvise", "brk", "msync", "mincore", "futex", "rt_sigaction",
    "rt_sigprocmask", "rt_sigreturn", "sigaltstack", "setitimer", "getitimer", "nanosleep",
    "clock_nanosleep", "clock_gettime", "clock_getres", "gettimeofday", "times", "getpid", "gettid",
    "getppid", "getuid", "geteuid", "getgid", "getegid", "sched_yield", "sched_getaffinity",
    "sched_getparam", "sched_getscheduler", "getrusage", "getrandom", "uname", "sysinfo", "exit",
    "exit_group", "restart_syscall", "set_robust_list", "rseq", "membarrier", "epoll_create1", "epoll_ctl",
    "epoll_wait", "epoll_pwait", "arch_prctl",
)  # fmt: skip

_X86_64: Mapping[str, int] = {
    "read": 0, "write": 1, "close": 3, "fstat": 5, "poll": 7, "lseek": 8, "mmap": 9, "mprotect": 10,
    "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "ioctl": 16,
    "pread64": 17, "pwrite64": 18, "readv": 19, "writev": 20, "select": 23, "sched_yield": 24, "mremap": 25,
    "msync": 26, "mincore": 27, "madvise": 28, "dup": 32, "nanosleep": 35, "getitimer": 36, "setitimer": 38,
    "getpid": 39, "sendto": 44, "recvfrom": 45, "sendmsg": 46, "recvmsg": 47, "shutdown": 48, "clone": 56,
    "exit": 60, "uname": 63, "fcntl": 72, "gettimeofday": 96, "getrusage": 98, "sysinfo": 99, "times": 100,
    "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "sigaltstack": 131,
    "sched_getparam": 143, "sched_getscheduler": 145, "arch_prctl": 158, "gettid": 186, "futex": 202,
    "sched_getaffinity": 204, "epoll_ctl": 233, "epoll_wait": 232, "restart_syscall": 219,
    "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230, "exit_group": 231, "tgkill": 234,
    "pselect6": 270, "ppoll": 271, "set_robust_list": 273, "epoll_pwait": 281, "epoll_create1": 291,
    "prlimit64": 302, "getrandom": 318, "membarrier": 324, "rseq": 334, "clone3": 435,
}  # fmt: skip
_AARCH64: Mapping[str, int] = {
    "epoll_create1": 20, "epoll_ctl": 21, "epoll_pwait": 22, "dup": 23, "fcntl": 25, "ioctl": 29, "close": 57,
    "lseek": 62, "read": 63, "write": 64, "readv": 65, "writev": 66, "pread64": 67, "pwrite64": 68,
    "pselect6": 72, "ppoll": 73, "fstat": 80, "exit": 93, "exit_group": 94, "futex": 98,
    "set_robust_list": 99, "nanosleep": 101, "getitimer": 102, "setitimer": 103, "clock_gettime": 113,
    "clock_getres": 114, "clock_nanosleep": 115, "sched_getscheduler": 120, "sched_getparam": 121,
    "sched_getaffinity": 123, "sched_yield": 124, "restart_syscall": 128, "tgkill": 131, "sigaltstack": 132,
    "rt_sigaction": 134, "rt_sigprocmask": 135, "rt_sigreturn": 139, "times": 153, "uname": 160,
    "getrusage": 165, "gettimeofday": 169, "getpid": 172, "getppid": 173, "getuid": 174, "geteuid": 175,
    "getgid": 176, "getegid": 177, "gettid": 178, "sysinfo": 179, "shutdown": 210, "sendto": 206,
    "recvfrom": 207, "sendmsg": 211, "recvmsg": 212, "brk": 214, "munmap": 215, "mremap": 216, "clone": 220,
    "mmap": 222, "mprotect": 226, "msync": 227, "mincore": 232, "madvise": 233, "prlimit64": 261,
    "getrandom": 278, "membarrier": 283, "rseq": 293, "clone3": 435,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Machine:
    audit: int
    numbers: Mapping[str, int]


_MACHINES = {
    "x86_64": _Machine(audit=0xC000003E, numbers=_X86_64),
    "aarch64": _Machine(audit=0xC00000B7, numbers=_AARCH64),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))


def seccomp_offered() -> bool:
    """Whether the kernel filters system calls and this machine's numbers are known."""
    if platform.system() != "Linux" or platform.machine() not in _MACHINES:
        return False
    return int(ctypes.CDLL(None, use_errno=True).prctl(_PR_GET_SECCOMP, 0, 0, 0, 0)) >= 0


def give_up_calls() -> bool:
    """Filter the calls of this process from now on; False where that is not offered."""
    if not seccomp_offered():
        return False
    code = _filter(_MACHINES[platform.machine()], os.getpid())
    buffer = ctypes.create_string_buffer(code, len(code))
    program = _Program(length=len(code) // 8, filter=ctypes.addressof(buffer))
    system = ctypes.CDLL(None, use_errno=True)
    if system.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_SECCOMP)")
    return True


def _filter(machine: _Machine, pid: int) -> bytes:
    """The filter as the kernel reads it: eight bytes an instruction, jumps counted forward."""
    numbers = machine.numbers
    refuse = _step(_RETURN, _ERRNO | errno.EPERM)
    allow = _step(_RETURN, _ALLOW)
    code = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, machine.audit, yes=1),
        refuse,
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, 0x40000000, no=1),  # another numbering of the same calls
        refuse,
        # The C library then falls back to clone, whose flags can be seen.
        _step(_EQUAL, numbers["clone3"], no=1),
        _step(_RETURN, _ERRNO | errno.ENOSYS),
        *_if_argument(numbers["clone"], _step(_ANY_BIT, _CLONE_THREAD, no=1)),
        *_if_argument(numbers["tgkill"], _step(_EQUAL, pid, no=1)),
        *_if_argument(numbers["prlimit64"], _step(_EQUAL, 0, no=1)),
    ]
    for name in ALLOWED:
        if name in numbers:
            code += [_step(_EQUAL, numbers[name], no=1), allow]
    return b"".join([*code, refuse])


def _if_argument(number: int, test: bytes) -> list[bytes]:
    """Allow a call if its first argument passes a test, else refuse it."""
    return [
        _step(_EQUAL, number, no=4),
        _step(_LOAD, _FIRST_ARGUMENT),
        test,
        _step(_RETURN, _ALLOW),
        _step(_RETURN, _ERRNO | errno.EPERM),
    ]


def _step(operation: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", operation, yes, no, value)

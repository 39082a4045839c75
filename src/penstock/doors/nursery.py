"""The nursery: `python -m penstock.doors.nursery LINE MEMORY PARENT`, started by a pool of parsers.

It loads every reader once and then makes copies of itself, one for each line that comes with a byte over its
own. It never sees a file, so that no file can take it over. It tells of each copy when it is made and how it
ended, and ends with its line, or with its parent; its copies end with it.
"""

from __future__ import annotations

import gc
import os
import resource
import select
import signal
import socket
import sys
from typing import NoReturn

from penstock.doors.parser import serve
from penstock.engines.parsers import sandbox, wire
from penstock.pipeline.parse.reading import warm_up


def main() -> None:
    """Get ready, then make a child for everybody who asks."""
    line = socket.socket(fileno=int(sys.argv[1]))
    memory_bytes, parent = int(sys.argv[2]), int(sys.argv[3])
    ends, rung = socket.socketpair()
    for bell in (ends, rung):
        bell.setblocking(False)
    try:
        warm_up()
        sandbox.die_with(parent)
    except Exception as error:  # the parent is told why, whatever it is
        _tell(line, wire.Unborn(message=_words(error), fatal=True))
        raise
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(rung.fileno(), warn_on_full_buffer=False)
    gc.collect()
    gc.freeze()  # what is here for good is not looked at again, and so stays one for all copies
    poll = select.poll()
    poll.register(line, select.POLLIN)
    poll.register(ends, select.POLLIN)
    while True:
        ready = {handle for handle, _ in poll.poll()}
        if ends.fileno() in ready:
            _hear_of_ends(line, ends)
        if line.fileno() in ready and not _make_one(line, (ends, rung), memory_bytes):
            return


def _make_one(line: socket.socket, bells: tuple[socket.socket, ...], memory_bytes: int) -> bool:
    """False at the end of the line."""
    asked, handles, _, _ = socket.recv_fds(line, 1, 1)
    if not asked or not handles:
        return False
    nursery = os.getpid()
    try:
        pid = os.fork()
    except OSError as error:
        _tell(line, wire.Unborn(message=_words(error)))
        pid = -1
    if pid == 0:
        for inherited in (line, *bells):
            inherited.close()
        _live(handles[0], memory_bytes, nursery)
    os.close(handles[0])
    if pid > 0:
        _lead_a_group(pid)
        _tell(line, wire.Born(pid=pid))
    return True


def _live(line: int, memory_bytes: int, nursery: int) -> NoReturn:
    """What a copy does; it never comes back from here."""
    code = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        _lead_a_group(os.getpid())
        serve(socket.socket(fileno=line), memory_bytes, nursery)
        code = 0
    finally:
        os._exit(code)


def _lead_a_group(pid: int) -> None:
    """Asked by both, for either may be first: who wants to end it ends its group."""
    try:
        os.setpgid(pid, pid)
    except OSError:  # it is gone already
        return


def _hear_of_ends(line: socket.socket, ends: socket.socket) -> None:
    ends.recv(4096)
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        _tell(line, _gone(pid, status, usage))


def _gone(pid: int, status: int, usage: resource.struct_rusage) -> wire.Gone:
    return wire.Gone(pid=pid, code=os.waitstatus_to_exitcode(status), resident_kib=usage.ru_maxrss)


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[: wire.MESSAGE_CHARS_MAX]


def _tell(line: socket.socket, message: wire.Told) -> None:
    line.sendall(wire.framed(message))


if __name__ == "__main__":
    main()

"""A parser process: a copy that the nursery makes of itself, when everything a parser may need is loaded.

It shuts itself in, and then reads one file after another: a task and an open descriptor come over its line,
windows of text go back. It ends when the line does.
"""

from __future__ import annotations

import io
import os
import resource
import socket

from penstock.engines.parsers import sandbox, wire
from penstock.model.errors import Refused
from penstock.pipeline.parse.cleaning import clean, one_line
from penstock.pipeline.parse.manuscript import Limits, Window
from penstock.pipeline.parse.reading import read

GRACE_SECONDS = 2.0
"""The parent ends a document that takes too long; the kernel does so a little later if there is no parent."""
OUT_OF_MEMORY = "Parsing needed more memory than a document may use."


def serve(line: socket.socket, memory_bytes: int, parent: int) -> None:
    """Shut this process in, then read what comes."""
    try:
        shut = sandbox.shut_in(memory_bytes, parent)
    except Exception as error:  # the parent is told why, whatever it is
        _say(line, _failure("ERR_BROKEN", f"{type(error).__name__}: {error}", fatal=True))
        raise
    _say(
        line,
        wire.Ready(
            landlock=shut.landlock,
            seccomp=shut.seccomp,
            unprivileged=shut.unprivileged,
            resident_kib=_resident_kib(),
        ),
    )
    while _serve(line):
        pass


def _serve(line: socket.socket) -> bool:
    """Read one file; False at the end of the line."""
    data, handles, _, _ = socket.recv_fds(line, 1 << 16, 1)
    if not data or not handles:
        return False
    task = wire.task(data[wire.HEADER.size :])
    # Made beforehand: when it is needed there may be no memory to make it.
    too_much = wire.framed(_failure("ERR_PARSE_MEMORY", OUT_OF_MEMORY, task.nonce, fatal=True))
    sandbox.watch_time(task.seconds + GRACE_SECONDS, task.seconds_passed + GRACE_SECONDS)
    try:
        with os.fdopen(handles[0], "rb") as file:
            ending = _read(file, task, line)
        _say(line, ending)
    except Refused as refused:
        _say(line, _failure(refused.code, refused.message, task.nonce))
    except MemoryError:
        line.sendall(too_much)
        return False
    except ConnectionError:
        return False
    except Exception as error:  # a reader's own mistake must not look like a text
        message = f"The parser failed on this file: {type(error).__name__}: {error}"
        _say(line, _failure("ERR_PARSER_CRASHED", message, task.nonce, fatal=True))
        return False
    sandbox.watch_time(0, 0)
    return True


def _read(file: io.BufferedReader, task: wire.Task, line: socket.socket) -> wire.End:
    def send(window: Window) -> None:
        _say(
            line,
            wire.Window(
                nonce=task.nonce,
                text=window.text,
                pages=window.pages,
                headings=window.headings,
                cuts=window.cuts,
            ),
        )

    limits = Limits(text_bytes=task.text_bytes, pages=task.pages, unpacked_bytes=task.unpacked_bytes)
    ending = read(file, task.name, limits, send, lenient=task.lenient)
    return wire.End(
        nonce=task.nonce,
        media=ending.media,
        title=ending.title,
        language=ending.language,
        notes=ending.notes,
        resident_kib=_resident_kib(),
    )


def _failure(code: str, message: str, nonce: str = "", *, fatal: bool = False) -> wire.Failure:
    """What went wrong on one line, though words of the file may stand in it."""
    told = one_line(clean(message))[: wire.MESSAGE_CHARS_MAX]
    return wire.Failure(nonce=nonce, code=code, message=told, fatal=fatal)


def _say(line: socket.socket, message: wire.Said) -> None:
    line.sendall(wire.framed(message))


def _resident_kib() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

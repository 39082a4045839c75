"""A parser that a file took over: it speaks the wire's language and lies in it."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Mapping

from penstock.engines.parsers.wire import HEADER, End, Failure, Ready, Said, Window, framed
from penstock.model.parsed import Heading, Media, Page

GREETING = Ready(landlock=0, seccomp=False, unprivileged=True, resident_kib=0)
TRUE_END = End(media=Media.TEXT)


def _sound(*messages: Said) -> bytes:
    return b"".join(framed(message) for message in messages)


def _paged(*pages: tuple[int, int, int]) -> bytes:
    placed = tuple(Page(number=number, start=start, end=end) for number, start, end in pages)
    return _sound(Window(text="words", pages=placed), TRUE_END)


LIES: Mapping[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "noise": lambda: b"\xff" * 100,
    "a frame without end": lambda: HEADER.pack(0xFFFFFFFF),
    "half a frame": lambda: HEADER.pack(100) + b"x",
    "a second greeting": lambda: _sound(GREETING),
    "no text at all": lambda: _sound(TRUE_END),
    "control characters": lambda: _sound(Window(text="a\x00b"), TRUE_END),
    "a page too few": lambda: _paged((1, 0, 3)),
    "a page twice": lambda: _paged((1, 0, 3), (1, 3, 5)),
    "a gap between pages": lambda: _paged((1, 0, 2), (2, 3, 5)),
    "cuts out of order": lambda: _sound(Window(text="words", cuts=(3, 1)), TRUE_END),
    "a cut beyond the text": lambda: _sound(Window(text="words", cuts=(99,)), TRUE_END),
    "a heading beyond the text": lambda: _sound(
        Window(text="words", headings=(Heading(level=1, title="x", start=99),)), TRUE_END
    ),
    "a heading of no level": lambda: _sound(
        Window(text="words", headings=(Heading(level=9, title="x", start=0),)), TRUE_END
    ),
    "a title that steers the terminal": lambda: _sound(
        Window(text="words"), End(media=Media.TEXT, title="\x1b]0;owned\x07")
    ),
    "a note of two lines": lambda: _sound(Window(text="words"), End(media=Media.TEXT, notes=("one\ntwo",))),
    "a heading of two lines": lambda: _sound(
        Window(text="words", headings=(Heading(level=1, title="x\ny", start=0),)), TRUE_END
    ),
    "a refusal that steers the terminal": lambda: _sound(
        Failure(code="ERR_NO_TEXT", message="\x1b[2Jall is well")
    ),
    "a code of its own": lambda: _sound(Failure(code="ERR_OF_MY_OWN", message="x")),
}


def main(way: str, line: socket.socket) -> None:
    """Greet, wait for a task, lie."""
    line.sendall(framed(GREETING))
    socket.recv_fds(line, 1 << 16, 1)
    if way == "silence":
        time.sleep(600)
    if way == "more text than allowed":
        while True:
            line.sendall(_sound(Window(text="words " * 10_000)))
    line.sendall(LIES[way]())
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))

"""A parser that a file took over: it speaks the wire's language and lies in it."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import structs

from penstock.engines.parsers.wire import HEADER, End, Failure, Ready, Said, Window, framed, task
from penstock.model.parsed import Heading, Media, Page

GREETING = Ready(landlock=0, seccomp=False, unprivileged=True, resident_kib=0)
NONCE = "n" * 32
"""Stands for that of the task, until it is known."""
TRUE_END = End(nonce=NONCE, media=Media.TEXT)


def _sound(*messages: Said, nonce: str = NONCE) -> bytes:
    answers = (m if isinstance(m, Ready) else structs.replace(m, nonce=nonce) for m in messages)
    return b"".join(framed(message) for message in answers)


def _window(text: str, **more: Any) -> Window:
    return Window(nonce=NONCE, text=text, **more)


def _paged(*pages: tuple[int, int, int]) -> bytes:
    placed = tuple(Page(number=number, start=start, end=end) for number, start, end in pages)
    return _sound(_window("words", pages=placed), TRUE_END)


LIES: Mapping[str, Callable[[], bytes]] = {
    "nothing": lambda: b"",
    "noise": lambda: b"\xff" * 100,
    "a frame without end": lambda: HEADER.pack(0xFFFFFFFF),
    "half a frame": lambda: HEADER.pack(100) + b"x",
    "a second greeting": lambda: _sound(GREETING),
    "no text at all": lambda: _sound(TRUE_END),
    "control characters": lambda: _sound(_window("a\x00b"), TRUE_END),
    "a page too few": lambda: _paged((1, 0, 3)),
    "a page twice": lambda: _paged((1, 0, 3), (1, 3, 5)),
    "a gap between pages": lambda: _paged((1, 0, 2), (2, 3, 5)),
    "cuts out of order": lambda: _sound(_window("words", cuts=(3, 1)), TRUE_END),
    "a cut beyond the text": lambda: _sound(_window("words", cuts=(99,)), TRUE_END),
    "a heading beyond the text": lambda: _sound(
        _window("words", headings=(Heading(level=1, title="x", start=99),)), TRUE_END
    ),
    "a heading of no level": lambda: _sound(
        _window("words", headings=(Heading(level=9, title="x", start=0),)), TRUE_END
    ),
    "a title that steers the terminal": lambda: _sound(
        _window("words"), End(nonce=NONCE, media=Media.TEXT, title="\x1b]0;owned\x07")
    ),
    "a note of two lines": lambda: _sound(
        _window("words"), End(nonce=NONCE, media=Media.TEXT, notes=("one\ntwo",))
    ),
    "a heading of two lines": lambda: _sound(
        _window("words", headings=(Heading(level=1, title="x\ny", start=0),)), TRUE_END
    ),
    "a refusal that steers the terminal": lambda: _sound(
        Failure(code="ERR_NO_TEXT", message="\x1b[2Jall is well")
    ),
    "an answer to another question": lambda: _sound(_window("words"), TRUE_END, nonce="of another"),
    "an end of another answer": lambda: _sound(_window("words")) + _sound(TRUE_END, nonce="of another"),
    "a code of its own": lambda: _sound(Failure(code="ERR_OF_MY_OWN", message="x")),
}


def main(way: str, line: socket.socket) -> None:
    """Greet, wait for a task, lie."""
    line.sendall(framed(GREETING))
    nonce = _nonce(line)
    if way == "silence":
        time.sleep(600)
    if way == "more text than allowed":
        while True:
            line.sendall(_sound(_window("words " * 10_000), nonce=nonce))
    if way == "an answer ahead":
        line.sendall(2 * _sound(_window("words"), TRUE_END, nonce=nonce))
        _nonce(line)
        time.sleep(600)
    # Of the same length, so that frames stay what they are.
    line.sendall(LIES[way]().replace(NONCE.encode(), nonce.encode()))
    os._exit(0)


def _nonce(line: socket.socket) -> str:
    """That of the next task."""
    data, _, _, _ = socket.recv_fds(line, 1 << 16, 1)
    return task(data[HEADER.size :]).nonce


if __name__ == "__main__":
    main(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))

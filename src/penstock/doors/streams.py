"""Standard streams that cannot be written: a full disk, a reader that has gone."""

from __future__ import annotations

import os
import select
import sys
from typing import TextIO


def silence(stream: TextIO) -> None:
    """Nobody can read it any more: let the rest, and the flush at exit, run into nothing."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def is_unread(stream: TextIO) -> bool:
    """Has whoever read it gone? A pipe tells so without being written to."""
    asked = select.poll()
    asked.register(stream.fileno(), 0)  # an error is told unasked
    return any(told & select.POLLERR for _, told in asked.poll(0))


def finish() -> None:
    """Leave nothing for the interpreter's own flush to fail on, which would replace the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            try:
                stream.flush()
            except OSError:
                silence(stream)

"""Where an error came from, as it may be kept with a job: places in the program, never what it worked on.

An exception's message and a frame's variables may hold a document's words, and the full path of a module the
name of a person's folder. Types, functions and line numbers tell a developer where to look, and nobody else
anything.
"""

from __future__ import annotations

import traceback
from pathlib import PurePath

FRAMES_MAX = 20
"""Of each error the innermost ones are kept."""
LENGTH_MAX = 4000
CAUSES_MAX = 5
PARTS = 3
"""Of a module's path so many parts are told."""


def trace_of(error: BaseException) -> str:
    """The error's frames and those of what caused it, the oldest first; bounded."""
    told: list[str] = []
    each: BaseException | None = error
    while each is not None and len(told) < CAUSES_MAX:
        told.append(_one(each))
        each = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
    # Too long a text loses its beginning: what failed at last stands at the end.
    return "\n\nwhich led to\n\n".join(reversed(told))[-LENGTH_MAX:]


def _one(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{_place(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames[-FRAMES_MAX:]]
    return "\n".join([*lines, type(error).__name__])


def _place(filename: str) -> str:
    return "/".join(PurePath(filename).parts[-PARTS:])

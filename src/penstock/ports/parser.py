"""Parsing: a file's bytes become text, somewhere a bad file can do no harm.

R1  A file that cannot be read as what it is ends in Refused with a code of its own, and is never retried.
R2  No file costs more than its limits of time, memory, output and pages, nor anything of its neighbours.
R3  A parser that dies is told apart from one that refuses: Broken with ERR_PARSER_CRASHED.
R4  The text is valid, clean and in reading order; pages, headings and cuts are offsets into it.
R5  Cancelling the call ends the child and everything it started.
R6  A process that has read a file of one owner never sees one of another.
R7  Whoever hands in a file that takes long is told so, once it is known: others need not wait behind it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from penstock.model.parsed import Parsed


class Parser(Protocol):
    """Reads files."""

    async def parse(
        self,
        source: Path,
        name: str,
        *,
        lenient: bool = False,
        owner: str = "",
        slow: Callable[[], None] = ...,
    ) -> Parsed:
        """The text of the file at `source`, which people know as `name` (its ending is a hint, no more).

        `lenient` takes a damaged file for what can still be read of it, with a note for what cannot; `owner`
        says whose file it is (R6); `slow` may be called more than once (R7).
        """
        ...

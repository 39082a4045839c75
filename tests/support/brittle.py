"""A worker whose parsers die on a certain word, as a real one may on a file that breaks its library.

`python -m tests.support.brittle` is the worker; its children are the real parser but for that word.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from penstock.settings import load
from penstock.wiring import parsers

WORD = b"brittle"
TOP = Path(__file__).resolve().parents[2]
CHILD = (
    f"import sys; sys.path[:0] = [{str(TOP / 'src')!r}, {str(TOP)!r}]\n"
    "from tests.support.brittle import parse; parse()"
)
"""A child is started with an empty environment, so it is told where things are."""


def parse() -> None:
    """The parser's whole life; it aborts where the word is."""
    from penstock.doors import parser

    real = parser.read

    def read(file, *rest, **more):  # type: ignore[no-untyped-def]  # passed on as it came
        if WORD in file.read(4096):
            os.abort()
        file.seek(0)
        return real(file, *rest, **more)

    parser.read = read
    parser.main()


def main() -> None:
    from tests.support.doomed import work

    parsers.COMMAND = (sys.executable, "-I", "-B", "-c", CHILD)
    asyncio.run(work(load(None, os.environ, {}), None))


if __name__ == "__main__":
    main()

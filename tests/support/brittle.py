"""A worker whose parsers die on a certain word, as a real one may on a file that breaks its library.

`python -m tests.support.brittle` is the worker; its children are the real parsers but for that word.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

from penstock.settings import load
from penstock.wiring import parsers

WORD = b"brittle"
TOP = Path(__file__).resolve().parents[2]
CHILD = (
    f"import sys; sys.path[:0] = [{str(TOP / 'src')!r}, {str(TOP)!r}]\n"
    "from tests.support.brittle import parse; parse()"
)
"""A nursery is started with an empty environment, so it is told where things are."""


def parse() -> None:
    """The whole life of a nursery whose parsers abort where the word is."""
    from penstock.doors import nursery, parser
    from penstock.pipeline.parse.reading import read as real

    def read(file: BinaryIO, *rest: Any, **more: Any) -> Any:
        if WORD in file.read(4096):
            os.abort()
        file.seek(0)
        return real(file, *rest, **more)

    vars(parser)["read"] = read  # the name is the seam
    nursery.main()


def main() -> None:
    from tests.support.doomed import work

    parsers.COMMAND = (sys.executable, "-I", "-B", "-c", CHILD)
    asyncio.run(work(load(None, os.environ, {}), None))


if __name__ == "__main__":
    main()

"""A worker whose disk is full from a durable edge on, until SIGUSR1: `python -m tests.support.crowded`.

From the edge's commit on the kernel lets no file of the process grow: neither the database nor its log nor a
blob. Files can still be made, so the process tells by two empty ones that it has come to the edge and that
it has noticed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import resource
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import msgspec

from penstock.settings import load
from tests.support.doomed import Doom, doom_writers, work


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """When the disk is full, and where it is told."""

    doom: Doom
    folder: str


class Noticing(logging.Handler):
    """Makes a file when the program says that the disk is full."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file

    def emit(self, record: logging.LogRecord) -> None:
        if "disk is full" in record.getMessage():
            self._file.touch()


def main() -> None:
    crowd = msgspec.json.decode(sys.argv[1], type=Crowd)
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        Path(crowd.folder, "full").touch()

    def empty(_number: int, _frame: object) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))

    signal.signal(signal.SIGUSR1, empty)
    logging.getLogger().addHandler(Noticing(Path(crowd.folder, "noticed")))
    doom_writers(crowd.doom, fill)
    asyncio.run(work(load(None, os.environ, {}), None))


if __name__ == "__main__":
    main()

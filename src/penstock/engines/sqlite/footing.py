"""Whether the file at the path is still the one that is open.

A database that is moved, deleted or replaced under a running program stays open, and whatever is written to
it is found by nobody who opens the path. So every group of writes looks first, which takes microseconds, and
a process that writes nothing looks now and then; who finds another file, or none, writes no more and ends.
"""

from __future__ import annotations

import asyncio
import logging
import os
from pathlib import Path

from penstock.model.errors import Displaced

log = logging.getLogger("penstock.sqlite")
LOOK_SECONDS = 2.0


class SqliteFooting:
    """What was opened, and what is there now; asked by any thread."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened = _place(path)
        self._is_told = False

    def check(self) -> None:
        """Displaced if another file is there, or none; one that cannot be looked at tells so elsewhere."""
        try:
            if _place(self._path) == self._opened:
                return
            found = "another file is there"
        except (FileNotFoundError, NotADirectoryError):
            found = "there is none"
        except OSError:
            return
        fault = Displaced(
            f"{self._path} is not the file this program has open: {found}; nothing more is written"
        )
        if not self._is_told:
            self._is_told = True
            log.error("%s. %s", fault.message, " ".join(fault.suggestions))
        raise fault

    async def run(self) -> None:
        """Look again and again; Displaced ends it."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            self.check()


def _place(path: Path) -> tuple[int, int]:
    found = os.stat(path)
    return found.st_dev, found.st_ino

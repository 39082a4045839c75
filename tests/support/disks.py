"""A disk that takes its time: what a store syncs stands still, or fails, while it is told to."""

from __future__ import annotations

import errno
import os
import threading

PATIENCE = 20.0


class Disk:
    """The real sync, which stands still or fails while it is told to."""

    def __init__(self) -> None:
        self.fails = False
        self.waited_for = threading.Event()
        self._turns = threading.Event()
        self._turns.set()

    def stall(self) -> None:
        self.waited_for.clear()
        self._turns.clear()

    def go_on(self) -> None:
        self._turns.set()

    def sync(self, descriptor: int) -> None:
        self.waited_for.set()
        self._turns.wait(PATIENCE)
        if self.fails:
            raise OSError(errno.EIO, "Input/output error")
        os.fdatasync(descriptor)

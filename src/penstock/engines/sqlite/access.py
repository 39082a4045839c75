"""What the queue and the desk need of the store they belong to."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Protocol, TypeVar

from penstock.engines.system.rolls import Rolls
from penstock.model.rules import Rules
from penstock.ports.clock import Clock

T = TypeVar("T")


FRESH_SECONDS = 1.0
"""Whoever waited longer for its turn judges nobody by silence: others could not write either."""


class Access(Protocol):
    """Write in the next group, read beside it, ring when there is news."""

    @property
    def rules(self) -> Rules: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def booked(self) -> bool:
        """Jobs are handed out by an engine outside, which must hear of each."""
        ...

    @property
    def rolls(self) -> Rolls: ...

    async def change(
        self,
        work: Callable[[sqlite3.Connection], T],
        *,
        timeout: float | None = None,
        durable: bool = True,
        swift: bool = False,
        punctual: bool = False,
    ) -> T: ...
    async def look(self, work: Callable[[sqlite3.Connection], T]) -> T: ...
    def version(self) -> int: ...
    async def arrival(self, timeout: float) -> bool: ...
    def announce(self) -> None: ...
    def ring(self) -> None: ...

"""The roll: which attempts of a worker a handler has begun, written where a killed process leaves it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from penstock.model.jobs import Lease


class Roll(Protocol):
    """Called over for every attempt, so it costs next to nothing."""

    def begins(self, lease: Lease) -> None:
        """The handler of this attempt begins, as soon as this returns; Unavailable if nobody could know."""
        ...

    def ended(self, leases: Iterable[Lease]) -> None:
        """These attempts are settled, or lost to others."""
        ...


class NoRoll:
    """Keeps nothing: every attempt counts as begun."""

    def begins(self, lease: Lease) -> None:
        """Nobody asks."""

    def ended(self, leases: Iterable[Lease]) -> None:
        """Nobody asks."""


NO_ROLL = NoRoll()

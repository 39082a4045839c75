"""What a parent tells its serving child over the pipe between them."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.settings import Settings

STORE_GONE = 66
"""With which the child ends when the store is no longer where it was; that of a missing input elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingOrders:
    """Where to answer, by which settings."""

    settings: Settings
    listening: int
    """The descriptor of the bound socket."""
    ready: int
    """Where to write a byte once requests are answered."""

"""Whether the store is still where it was opened."""

from __future__ import annotations

from typing import Protocol


class Footing(Protocol):
    """Of one process."""

    def check(self) -> None:
        """Displaced if the store is no longer where it was; nothing is written to it from then on."""
        ...

    async def run(self) -> None:
        """Look again and again; Displaced ends it."""
        ...

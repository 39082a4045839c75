"""Time: the only place the core asks what time it is."""

from __future__ import annotations

from typing import Protocol


class Clock(Protocol):
    """Wall time for what is stored, steady time for how long something took."""

    def now(self) -> float:
        """Seconds since the epoch; may jump."""
        ...

    def steady(self) -> float:
        """Seconds since some start; never jumps and never runs back."""
        ...

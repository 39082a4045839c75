"""The machine's clock."""

from __future__ import annotations

import time


class SystemClock:
    """Wall and steady time of this machine."""

    def now(self) -> float:
        """Seconds since the epoch."""
        return time.time()

    def steady(self) -> float:
        """Seconds that never jump."""
        return time.monotonic()

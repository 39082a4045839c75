"""What a queue on Redis cannot take, though a database could."""

from __future__ import annotations

from collections.abc import Callable

from penstock.settings.tree import Settings

PAYLOAD_BYTES_MAX = 16 << 20
METADATA_BYTES_MAX = 4 << 20
"""As `engines/redis/bounds.py` has them: a worker fetches whole jobs, and one reply has a bound."""


def too_large(bytes_of: Callable[[Settings], int], most: int) -> Callable[[Settings], str | None]:
    """A fault where the limit allows what Redis would refuse job by job."""

    def wrong(settings: Settings) -> str | None:
        if settings.queue.scheme == "database" or bytes_of(settings) <= most:
            return None
        return f"{bytes_of(settings):,} bytes, and the queue is on Redis"

    return wrong

"""The shared rate: how fast all producers together may go.

T1  Places are given out in the order they are asked for, no more in any second than the rate and a twentieth.
T2  Whoever waits as long as he is told keeps the rate, however many others there are.
T3  Time nobody used is not saved up: after a rest there is no burst.
T4  A clock that was set back holds nobody up for longer than a minute, or two hundred places at a low rate.
"""

from __future__ import annotations

from typing import Protocol

FAR_SECONDS = 60.0
FAR_PLACES = 200
"""A place further away than both was given out by a clock that ran ahead; nobody waits for it (T4)."""
SLACK_SECONDS = 0.02
"""Time that may be caught up after a hiccup; small, because it is a burst (T3)."""


class Rate(Protocol):
    """Gives out places in time."""

    async def take(self, count: int) -> float:
        """Take so many places at once (T1 to T4); how many seconds to wait before they may be used."""
        ...


def places_at_once(per_second: float) -> int:
    """How many places to take in one go: few enough that using them together is no burst (T1)."""
    return max(1, int(per_second * 0.03))


class Buckets(Protocol):
    """Buckets by name that fill again, shared by everybody who counts the same."""

    def take(self, name: str, *, most: float, per_second: float, now: float) -> float:
        """Take one from a bucket that holds `most` when full; what was in it, less than one is nothing.

        `now` is steady time; a bucket nobody knows is full.
        """
        ...

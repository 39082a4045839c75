"""The feed: how whoever sends events on learns that there are new ones, whichever process committed them.

S1  `changes` returns True soon after any process has committed anything, at once where one committed since it
    last did, and False when the time ran out. One waits at a time; nobody waiting costs nothing.
S2  `pages` tells those of the users who have later events than the numbers given: each with his next events
    in order and his last number, all as of one moment that is not before the call.
S3  A page whose events do not follow the number given, one by one, tells that some between are forgotten.
S4  `bounds` tells each user's last number with its time, and the oldest one kept. Numbers are never given
    twice, also not by an older copy of the data that was put back, where that can be noticed.
S5  `snapshot` is one moment: its documents, answers and uploads are as they were right after its `seq`.
S6  `underway` tells how far running stages and uploads are and what unfinished answers say so far.
S7  A user is told his own alone.
S8  What is whispered reaches those who hear in other processes within milliseconds, or not at all.
S9  `stamp` tells when a number was given: by that a reader's last event is known again. Of the last one it is
    known also where nothing is kept.
S10 Of a workspace that is removed, `pages` tells no words from then on: numbers, ids and states stay.
S11 An event whose payload is no JSON object any more counts as forgotten (S3); others are told on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Protocol

from penstock.model.conversations import MessageDelta
from penstock.model.feed import Bounds, Page, Snapshot, Underway


class Feed(Protocol):
    """Looks at the log of events for many users at once."""

    async def changes(self, timeout: float) -> bool:
        """Wait until something was committed (S1)."""
        ...

    async def pages(
        self, positions: Mapping[str, int], *, limit: int = 100, in_all: int = 5_000
    ) -> list[Page]:
        """Those who moved on, first named first, with `limit` events each and `in_all` together (S2)."""
        ...

    async def bounds(self, users: Collection[str]) -> Mapping[str, Bounds]:
        """What is kept of each user's events (S4)."""
        ...

    async def stamp(self, user: str, seq: int) -> float | None:
        """When this number was given; None where that is no longer known, or it never was (S9)."""
        ...

    async def snapshot(self, user: str) -> Snapshot:
        """Where things stand for him (S5)."""
        ...

    async def underway(self, users: Collection[str]) -> list[Underway]:
        """What goes on for these users now; those for whom nothing does are left out (S6)."""
        ...

    def whisper(self, user: str, delta: MessageDelta) -> None:
        """Tell other processes the next words of an answer of this user, which this one writes (S8)."""
        ...

    def hear(self, heard: Callable[[str, MessageDelta], None]) -> None:
        """Be called back with what others whisper, from now on (S8)."""
        ...

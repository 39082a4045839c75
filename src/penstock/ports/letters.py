"""Dead letters, as an operator takes them in hand, and the lists they lie in where there are such lists.

G1  A letter keeps the exact bytes of its message, whatever they are, through every look and replay.
G2  Replaying a letter twice does once what it asks for; the second time says so.
G3  Whatever a message's job was, its replay is a job of its own that names the old one, or, where no job came
    of it, the same bytes in the list they came by.
G4  Letters that come while others are looked at are not lost to the next look.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from penstock.model.letters import Letter, Replay


class Letters(Protocol):
    """What can be done with what failed."""

    def walk(self, code: str | None = None) -> AsyncIterator[Letter]:
        """All of them, the latest first; with a code only those that failed so."""
        ...

    async def replay(self, letter: Letter) -> Replay:
        """Have it done again (G2, G3); Refused says why not."""
        ...

    async def replayed(self, name: str) -> Replay | None:
        """What became of a letter or job that is no letter any more because it was replayed."""
        ...

    async def count(self, before: float) -> int:
        """How many there are from before that time."""
        ...

    async def purge(self, before: float) -> int:
        """Remove those for good; how many."""
        ...


class Mailbox(Protocol):
    """Lists of letters that an engine keeps."""

    def walk(self) -> AsyncIterator[Letter]:
        """All of them, the latest first (G1, G4)."""
        ...

    async def send_back(self, letter: Letter) -> bool:
        """Put its message into the list it came by and remove it, in one; False if it is gone."""
        ...

    async def settle(self, letter: Letter, new: str) -> None:
        """Remove it and remember which job came of it."""
        ...

    async def outcome(self, name: str) -> str | None:
        """Which job came of a letter that was replayed, by its id or its job's; empty where its message went
        back to a list.
        """
        ...

    async def count(self, before: float) -> int:
        """How many there are from before that time."""
        ...

    async def purge(self, before: float) -> int:
        """Remove those for good; how many."""
        ...

"""Auditing: what catalogue, vectors, words and queue say of each other, looked at in one moment.

A1  All flaws of one call are seen in one snapshot, so work under way is no flaw.
A2  Mending twice is mending once; what is no flaw any more is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from penstock.model.diagnosis import Disagreement, Laid, Need, Owed


class Auditor(Protocol):
    """Compares, and mends what can be mended inside the database."""

    async def disagreements(
        self, *, limit: int = 1000, deep: bool = False, declared: Sequence[str] = ()
    ) -> list[Disagreement]:
        """Every flaw, at most `limit` of a kind (A1); `deep` also reads every page, chunk and word.

        Collections that are `declared` are made when they are needed: jobs may wait for them already.
        """
        ...

    async def laid(self, *, after: int = 0, limit: int = 100) -> list[Laid]:
        """Current versions of generations in use, with a higher number than that, and their kept texts."""
        ...

    async def spans(self, version: int) -> list[tuple[int, int, str]]:
        """Where each chunk of a version starts and ends in its text, and what it says."""
        ...

    async def mend(self, flaws: Sequence[Disagreement]) -> list[bool]:
        """Mend what is a matter of the database alone (A2); False where that is not enough."""
        ...

    async def needed(self, *, after: str = "", limit: int = 1000) -> list[Need]:
        """Bytes something refers to, by hash; each hash once."""
        ...

    async def unneeded(self, blobs: Sequence[str]) -> list[str]:
        """Those of these bytes that nothing refers to and nobody has been told to remove."""
        ...

    async def forget_parse(self, blob: str) -> None:
        """A kept parse whose bytes are gone is made anew when it is next wanted."""
        ...

    async def owed(self) -> list[Owed]:
        """What is owed, by kind."""
        ...

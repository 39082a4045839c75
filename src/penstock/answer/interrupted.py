"""Answers whose writers are gone, as a healer meets them."""

from __future__ import annotations

from penstock.answer.dialogue import uncited
from penstock.model.conversations import MessageId
from penstock.ports.conversations import Transcript


class Interrupted:
    """Ends them as their writers would have: with their words, without numbers whose sources nobody kept."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript

    async def heal(self, *, limit: int = 100) -> list[MessageId]:
        """End what nobody writes any more; which."""
        return await self._transcript.heal(uncited, limit=limit)

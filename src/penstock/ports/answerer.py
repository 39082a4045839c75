"""Answering: a language model behind an endpoint writes, as it goes.

A1  The words come as pieces of text in order; together they are what the model wrote, nothing else.
A2  What the call used comes last, where the endpoint says it; it is told once.
A3  An endpoint that is down, limits us or breaks off raises Unavailable, with its Retry-After; one that
    refuses the request raises Refused; one that answers nonsense raises Broken. Codes are ERR_ANSWERER_*.
A4  Closing or cancelling the iterator ends the call at once.
A5  No call takes longer than its deadline, nor gives more than its limit.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Protocol

from penstock.model.answers import Usage


class Answerer(Protocol):
    """Writes answers."""

    @property
    def model(self) -> str:
        """The model's name, as people are told it."""
        ...

    def write(self, instructions: str, question: str) -> AsyncGenerator[str | Usage, None]:
        """What the model writes, told `instructions` as the system and asked `question` as the user."""
        ...

    async def close(self) -> None:
        """Let go of the connections."""
        ...

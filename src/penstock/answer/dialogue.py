"""What was said before in a conversation: questions, and the newest finished answer to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.answer.citations import CitationSieve
from penstock.model.conversations import Message, MessageId, MessageStatus, Role

ANSWER_CHARACTERS_KEPT = 1_500
"""Of an earlier answer; its beginning says what it was about."""
QUESTION_CHARACTERS_KEPT = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question and what was answered; empty where nothing was."""

    question: str
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What a person asked in his own words, and the turns before, oldest first."""

    question: str
    turns: tuple[Turn, ...] = ()


def turns_of(messages: Sequence[Message]) -> tuple[Turn, ...]:
    """The turns these messages, in their order, amount to."""
    answers: dict[MessageId | None, str] = {
        each.reply_to: each.content
        for each in messages
        if each.role is Role.AI and each.status is MessageStatus.DONE
    }
    return tuple(
        Turn(
            question=each.content[:QUESTION_CHARACTERS_KEPT],
            answer=uncited(answers.get(each.id, ""))[:ANSWER_CHARACTERS_KEPT],
        )
        for each in messages
        if each.role is Role.USER
    )


def uncited(text: str) -> str:
    """The text without citations: their numbers mean nothing where their sources are not."""
    sieve = CitationSieve(0)
    return sieve.feed(text) + sieve.finish()

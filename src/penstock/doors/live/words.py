"""How much of each answer was shown here, and what comes next of those that other processes write.

Such an answer is heard of twice: its words as they are written, some of which may be lost, and the whole text
so far as the message keeps it, which is late. What follows what was shown is shown at once; what is ahead of
it waits until the message fills the gap.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace

from penstock.model.conversations import MessageDelta
from penstock.model.feed import AnswerSoFar

ANSWERS_MAX = 1_000
"""Answers of which it is remembered how much was shown."""
AHEAD_CHARACTERS_MAX = 64 * 1024


class Words:
    """By message."""

    def __init__(self) -> None:
        self._shown: OrderedDict[str, int] = OrderedDict()
        self._ahead: dict[str, MessageDelta] = {}
        """Words that were heard before those they follow."""

    def written(self, delta: MessageDelta) -> None:
        """This process writes it, and shows all of it."""
        self._note(delta.message_id, _end(delta))

    def heard(self, delta: MessageDelta) -> MessageDelta | None:
        """Another process writes it; what is to be shown now, if anything."""
        shown = self._shown.get(delta.message_id, 0)
        if _end(delta) <= shown:
            return None
        if delta.start > shown:
            self._wait(delta)
            return None
        return self._next(replace(delta, start=shown, text=delta.text[shown - delta.start :]))

    def kept(self, answer: AnswerSoFar) -> MessageDelta | None:
        """What the message holds by now; what is to be shown of it, and of what waited for it."""
        shown = self._shown.get(answer.message_id, 0)
        text = answer.content[shown:]
        end = shown + len(text)
        ahead = self._ahead.get(answer.message_id)
        if ahead is not None and ahead.start <= end:
            del self._ahead[answer.message_id]
            text += ahead.text[end - ahead.start :]
        if not text:
            return None
        return self._next(
            MessageDelta(
                workspace_id=answer.workspace_id,
                conversation_id=answer.conversation_id,
                message_id=answer.message_id,
                start=shown,
                text=text,
            )
        )

    def _next(self, delta: MessageDelta) -> MessageDelta:
        self._note(delta.message_id, _end(delta))
        return delta

    def _wait(self, delta: MessageDelta) -> None:
        """Only one run of words waits: of two with a gap between them, the later one."""
        before = self._ahead.get(delta.message_id)
        if before is not None and _end(before) == delta.start:
            delta = replace(before, text=before.text + delta.text)
        self._note(delta.message_id, 0)
        self._ahead[delta.message_id] = delta
        if len(delta.text) > AHEAD_CHARACTERS_MAX:
            del self._ahead[delta.message_id]

    def _note(self, message: str, end: int) -> None:
        self._shown[message] = max(end, self._shown.pop(message, 0))
        if len(self._shown) > ANSWERS_MAX:
            forgotten, _ = self._shown.popitem(last=False)
            self._ahead.pop(forgotten, None)


def _end(delta: MessageDelta) -> int:
    return delta.start + len(delta.text)

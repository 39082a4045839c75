"""Showing an answer while it is written: the words of a moment together, at most twenty times a second.

Whoever shows them may be slow: what comes meanwhile waits as one piece, never longer than the answer. And it
may fail: the answer goes on, for its end is told by the log of events.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from penstock.model.conversations import Assignment, MessageDelta

log = logging.getLogger("penstock.chat")
MOMENT_SECONDS = 0.05

Show = Callable[[MessageDelta], Awaitable[None]]


async def nobody(delta: MessageDelta) -> None:
    """Looks on."""


class Showing:
    """One answer's words on their way to whoever looks on."""

    def __init__(self, show: Show) -> None:
        self.text = ""
        self._show = show
        self._shown = 0
        self._news = asyncio.Event()
        self._ended = False

    def say(self, text: str) -> None:
        """The next words."""
        self.text += text
        self._news.set()

    def end(self) -> None:
        """There will be no more."""
        self._ended = True
        self._news.set()

    async def run(self, task: Assignment) -> None:
        """Until all is shown that was said before the end."""
        try:
            while not (self._ended and self._shown == len(self.text)):
                await self._news.wait()
                self._news.clear()
                await self._flush(task)
                if not self._ended:
                    await asyncio.sleep(MOMENT_SECONDS)
        except Exception as error:
            log.warning("an answer is no longer shown while it is written: %s", type(error).__name__)

    async def _flush(self, task: Assignment) -> None:
        start, text = self._shown, self.text[self._shown :]
        self._shown = len(self.text)
        if text:
            await self._show(
                MessageDelta(
                    workspace_id=task.conversation.workspace,
                    conversation_id=task.conversation.id,
                    message_id=task.answer.id,
                    start=start,
                    text=text,
                )
            )

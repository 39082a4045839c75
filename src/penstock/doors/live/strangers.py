"""Those who are connected and have shown nothing yet: they wait for their own first message.

Their places are few, and whoever has waited longest makes room for the next. So silent connections, however
many somebody opens, keep neither him out who brings a token, who does not wait here, nor him who says at once
who he is. Refusing the next one instead would let a few hundred of them shut the door.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from penstock.model.errors import Exhausted

FIRST_MESSAGE_SECONDS = 5.0
STRANGERS_MAX = 200
T = TypeVar("T")


class Strangers:
    """The waiting room of one process."""

    def __init__(self) -> None:
        self._waiting: dict[asyncio.Timeout, None] = {}
        """The patience with each; who waits longest stands first."""

    async def first_words(self, hear: Callable[[], Awaitable[T]]) -> T:
        """What one says; TimeoutError where that takes long, Exhausted where another took the place."""
        try:
            async with asyncio.timeout(FIRST_MESSAGE_SECONDS) as patience:
                self._make_room()
                self._waiting[patience] = None
                return await hear()
        except TimeoutError:
            if patience not in self._waiting:
                raise Exhausted("too many connections wait to sign in", code="ERR_CONNECTIONS") from None
            raise
        finally:
            self._waiting.pop(patience, None)

    def _make_room(self) -> None:
        if len(self._waiting) >= STRANGERS_MAX:
            longest = next(iter(self._waiting))
            del self._waiting[longest]
            if not longest.expired():
                longest.reschedule(0.0)

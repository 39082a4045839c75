"""Documents on their way to an end, followed by events: nobody asks again and again.

A document that is read is often further than the event that had it read. So what is told is the state the
event names, over whatever else the document says by then; what came before the first look is in that look.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing

from msgspec.structs import replace

from penstock.client.errors import PenstockError
from penstock.client.events import Event, Resync
from penstock.client.subscription import Subscription, ended
from penstock.client.values import Document

READ_AT_ONCE = 8
UNKNOWN = "ERR_DOCUMENT_UNKNOWN"
GONE = frozenset({UNKNOWN, "ERR_WORKSPACE_UNKNOWN"})
"""Of one that was seen before; a workspace that never was there is a mistake."""
MOVED_ON = "document.status_updated"
EMPTIED = frozenset({"collection.removed", "workspace.removed"})
"""What is told once for all documents that were in it."""
Read = Callable[[str], Awaitable[Document]]


async def follow(ids: Iterable[str], read: Read, events: Subscription) -> AsyncGenerator[Document, None]:
    """Each document as it is now, then once and in order in every status the log tells, until all have ended.

    Events are heard before the first look, so nothing happens unseen between the two. One that is not there,
    or no longer, has ended as `deleted`, also where the log tells first that it failed; the others are
    followed on. One that is tried again before the last has ended is followed again. Where events were missed
    only the status of now is told.
    """
    followed = {each: _Followed(each, read) for each in ids}
    async with events:
        async with aclosing(_look_at(list(followed.values()))) as documents:
            async for document in documents:
                yield document
        while open_ := [each for each in followed.values() if not each.has_ended]:
            happened = await anext(events, None)
            if happened is None:
                raise ended()
            if isinstance(happened, Resync) or happened.type in EMPTIED:
                emptied = {} if isinstance(happened, Resync) else happened.payload
                async with aclosing(_look_at([each for each in open_ if each.was_in(emptied)])) as documents:
                    async for document in documents:
                        yield document
            elif isinstance(happened, Event) and happened.type == MOVED_ON:
                one = followed.get(str(happened.payload.get("document_id")))
                if one is not None and (told := await one.hear(happened)) is not None:
                    yield told


class _Followed:
    """One document, and what was told of it."""

    def __init__(self, document_id: str, read: Read) -> None:
        self._id = document_id
        self._read = read
        self._told: Document | None = None
        self._looked_behind = ""
        """The time up to which the last look shows it; empty once an event behind that was heard."""

    @property
    def has_ended(self) -> bool:
        """Whether it was told in a state that nothing but a new request changes."""
        return self._told is not None and self._told.has_ended

    def was_in(self, emptied: Mapping[str, object]) -> bool:
        """Whether it lay there when it was told last; everything lies in what has no name."""
        told = self._told
        return told is None or (
            emptied.get("workspace_id") in (None, told.workspace_id)
            and emptied.get("collection") in (None, told.collection)
        )

    async def look(self) -> Document | None:
        """It as it is now; None where that was told already."""
        now = await self._now()
        self._looked_behind = now.updated_at
        return self._tell(now, now.status)

    async def hear(self, event: Event) -> Document | None:
        """It in the state that the event tells; None where that was told, or past before the last look."""
        status = str(event.payload.get("status"))
        if self._told is None or status == self._told.status:
            return None
        now = Document.deleted(self._id) if status == "deleted" else await self._now()
        if self._is_past(event, now):
            return None
        self._looked_behind = ""
        return self._tell(now, status)

    def _is_past(self, event: Event, now: Document) -> bool:
        """Whether the last look was behind it; a clock that was set back hides no end."""
        if now.has_ended and now.status == event.payload.get("status"):
            return False
        self._looked_behind = min(self._looked_behind, now.updated_at)
        return event.ts < self._looked_behind

    def _tell(self, now: Document, status: str) -> Document | None:
        before = self._told
        if now.status == "deleted" and status == "error":  # whose reason is gone with it
            status = now.status
        if before is not None and before.status == status:
            return None
        if now.status != status:  # it is further by now; of one that is gone, what was known of it is told
            known = before if now.status == "deleted" and before is not None else now
            now = replace(known, status=status, error=None)
        self._told = now
        return now

    async def _now(self) -> Document:
        try:
            return await self._read(self._id)
        except PenstockError as error:
            if error.code not in (GONE if self._told is not None else (UNKNOWN,)):
                raise
            return Document.deleted(self._id)


async def _look_at(followed: Sequence[_Followed]) -> AsyncGenerator[Document, None]:
    """What is new about them, some at a time."""
    for start in range(0, len(followed), READ_AT_ONCE):
        looks = [each.look() for each in followed[start : start + READ_AT_ONCE]]
        for document in await asyncio.gather(*looks):
            if document is not None:
                yield document

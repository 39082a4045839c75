"""Documents on their way to an end, followed by events: nobody asks again and again."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from contextlib import aclosing

from penstock.client.errors import PenstockError
from penstock.client.events import Event, Resync
from penstock.client.subscription import Subscription, ended
from penstock.client.values import Document

READ_AT_ONCE = 8
UNKNOWN = "ERR_DOCUMENT_UNKNOWN"
Read = Callable[[str], Awaitable[Document]]


async def follow(ids: Iterable[str], read: Read, events: Subscription) -> AsyncGenerator[Document, None]:
    """Each document as it is now and whenever its status is another, until all have ended.

    Events are heard before the first look, so nothing happens unseen between the two. One that is not there,
    or no longer, has ended as `deleted`; the others are followed on.
    """
    told: dict[str, str] = dict.fromkeys(ids, "")
    async with events:
        async with aclosing(_read_all(list(told), read)) as documents:
            async for document in documents:
                yield document
                _note(told, document)
        while told:
            happened = await anext(events, None)
            if happened is None:
                raise ended()
            if isinstance(happened, Resync):
                concerned = list(told)
            elif isinstance(happened, Event) and happened.type == "document.status_updated":
                named = happened.payload.get("document_id")
                concerned = [named] if isinstance(named, str) and named in told else []
            else:
                continue
            async with aclosing(_read_all(concerned, read)) as documents:
                async for document in documents:
                    if told.get(document.id) != document.status:
                        yield document
                    _note(told, document)


def _note(told: dict[str, str], document: Document) -> None:
    if document.has_ended:
        told.pop(document.id, None)
    else:
        told[document.id] = document.status


async def _read_all(ids: list[str], read: Read) -> AsyncGenerator[Document, None]:
    """The documents as they are now, some at a time."""
    for start in range(0, len(ids), READ_AT_ONCE):
        looks = [_look(each, read) for each in ids[start : start + READ_AT_ONCE]]
        for document in await asyncio.gather(*looks):
            yield document


async def _look(document: str, read: Read) -> Document:
    try:
        return await read(document)
    except PenstockError as error:
        if error.code != UNKNOWN:
            raise
        return Document.deleted(document)

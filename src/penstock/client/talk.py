"""An answer while it is written: its words as they come, then the message as it is kept."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable

from msgspec import Struct

from penstock.client.errors import unreachable
from penstock.client.events import Event, Passing, Resync
from penstock.client.subscription import Subscription, ended
from penstock.client.values import Message, Posted

LOOK_SECONDS = 0.5


class Delta(Struct, frozen=True, kw_only=True):
    """The next words of an answer; `start` is where they stand in it."""

    start: int
    text: str


async def whole(posted: Posted, read: Callable[[str], Awaitable[Message]], seconds: float) -> Posted:
    """The same with the whole answer: one that another process writes is looked at until it has ended."""
    answer = posted.answer
    try:
        async with asyncio.timeout(seconds):
            while not answer.has_ended:
                await asyncio.sleep(LOOK_SECONDS)
                answer = await read(answer.id)
    except TimeoutError:
        raise unreachable(f"no answer in {seconds:g} s") from None
    return Posted(question=posted.question, answer=answer)


async def stream(
    post: Callable[[], Awaitable[Posted]],
    read: Callable[[str], Awaitable[Message]],
    events: Subscription,
) -> AsyncGenerator[Delta | Message, None]:
    """Ask, give every word once and in order, and at last the whole answer, which is what counts.

    Words that passed while the line was broken are read from the message.
    """
    async with events:
        answer = (await post()).answer
        told = 0
        while not answer.has_ended:
            match await anext(events, None):
                case None:
                    raise ended()
                case Passing(type="message.delta", payload={"message_id": answer.id, **delta}):
                    start, text = int(delta["start"]), str(delta["text"])
                    if start > told:
                        answer = await read(answer.id)
                        start, text = 0, answer.content
                    if (new := text[told - start :]) and not answer.has_ended:
                        yield Delta(start=told, text=new)
                        told += len(new)
                case Event(type="message.status_updated", payload={"message_id": answer.id}) | Resync():
                    answer = await read(answer.id)
        yield answer

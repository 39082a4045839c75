"""From settings to a house that answers requests: one store, one set of models, one chat."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass

from penstock.answer.answers import Answers
from penstock.answer.chat import Chat
from penstock.answer.texts import Texts
from penstock.engines.disk.blobs import DiskBlobs
from penstock.engines.system.buckets import SharedBuckets
from penstock.intake.arrivals import Counting
from penstock.model.catalogue import WorkspaceId
from penstock.model.errors import report_of
from penstock.ports.blobs import Blobs
from penstock.ports.rate import Buckets
from penstock.ports.tokens import Tokens
from penstock.settings import Settings
from penstock.wiring.answers import keep_chat, open_every_answers
from penstock.wiring.collections import declare_all
from penstock.wiring.models import open_answerer
from penstock.wiring.sign_in import open_tokens
from penstock.wiring.store import Store, open_store
from penstock.work.healer import Healer
from penstock.work.tenant_desk import TenantDesk

log = logging.getLogger("penstock.uploads")


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    """What a serving process has open."""

    store: Store
    tokens: Tokens | None
    blobs: Blobs
    chat: Chat
    answers: Callable[[WorkspaceId], Answers]
    texts: Texts
    counting: Counting
    """How far uploads are."""
    buckets: Buckets
    """What users have left to ask for."""

    async def desk_of(self, workspace: WorkspaceId) -> TenantDesk:
        """Jobs as the owner of this workspace may see and change them."""
        return TenantDesk(self.store.desk, await self.store.catalogue.tenants(workspace))


@asynccontextmanager
async def open_house(settings: Settings) -> AsyncIterator[Open]:
    """Everything the doors need; at the end every answer has ended."""
    async with (
        AsyncExitStack() as stack,
        open_store(settings, patient=True) as store,
        open_tokens(settings, store.clock) as tokens,
        open_answerer(settings) as answerer,
        open_every_answers(settings, store, answerer) as answers,
        keep_chat(store, answers, answerer) as chat,
        keep_counting(store) as counting,
        _hinted(settings, store),
    ):
        await declare_all(store, settings)
        buckets = SharedBuckets(settings.data / "run" / "requests")
        stack.callback(buckets.close)
        blobs = DiskBlobs(settings.data / "blobs")
        texts = Texts(store.catalogue, store.browser, blobs)
        yield Open(
            store=store,
            tokens=tokens,
            blobs=blobs,
            chat=chat,
            answers=answers,
            texts=texts,
            counting=counting,
            buckets=buckets,
        )


def _hinted(settings: Settings, store: Store) -> AbstractAsyncContextManager[None]:
    """Commits told by a Redis that holds the queue are heard of."""
    if settings.queue.scheme == "database":
        return nullcontext()
    from penstock.wiring.booked import heeding

    return heeding(settings, store)


@asynccontextmanager
async def keep_counting(store: Store) -> AsyncIterator[Counting]:
    """What says how far uploads are, and ends those whose process is gone."""
    counting = Counting(store.reception)
    healer = Healer(store.reception, store.clock, what="upload")
    rounds = [asyncio.create_task(each.run()) for each in (counting, healer)]
    for each in rounds:
        each.add_done_callback(_tell)
    try:
        yield counting
    finally:
        for each in rounds:
            each.cancel()
        await asyncio.gather(*rounds, return_exceptions=True)


def _tell(ended: asyncio.Task[None]) -> None:
    """A round that failed is a mistake of ours; without it uploads are taken for broken off."""
    if not ended.cancelled() and (error := ended.exception()) is not None:
        log.critical("nobody says how far uploads are: %s", report_of(error).message)

"""From settings to answers: which model reads questions, and which one, if any, writes."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from penstock.answer.answers import Answers
from penstock.answer.ask import Asker
from penstock.answer.chat import Chat
from penstock.answer.interrupted import Interrupted
from penstock.answer.places import Places
from penstock.answer.reading import Reader
from penstock.answer.replying import Replier
from penstock.answer.search import Searcher
from penstock.engines.disk.blobs import DiskBlobs
from penstock.engines.disk.moving import DiskMover
from penstock.engines.minilm import MODEL
from penstock.intake.whereabouts import Whereabouts
from penstock.model.catalogue import LOCAL_WORKSPACE, WorkspaceId
from penstock.model.errors import report_of
from penstock.model.ids import new_worker_id
from penstock.ports.answerer import Answerer
from penstock.settings import Settings
from penstock.wiring.models import open_answerer, open_models
from penstock.wiring.store import Store
from penstock.wiring.watching import folders_of
from penstock.work.healer import Healer

log = logging.getLogger("penstock.chat")
MEASURED = frozenset({MODEL})
"""The models the confidence was measured with."""


@asynccontextmanager
async def open_answers(
    settings: Settings, store: Store, *, workspace: WorkspaceId = LOCAL_WORKSPACE, language_model: bool = True
) -> AsyncIterator[Answers]:
    """What searches and answers for a workspace; `language_model` False leaves it at quotations."""
    async with AsyncExitStack() as stack:
        answerer = await stack.enter_async_context(open_answerer(settings)) if language_model else None
        answers = await stack.enter_async_context(open_every_answers(settings, store, answerer))
        yield answers(workspace)


@asynccontextmanager
async def open_every_answers(
    settings: Settings, store: Store, answerer: Answerer | None
) -> AsyncIterator[Callable[[WorkspaceId], Answers]]:
    """What searches and answers, for any workspace, with one set of models for all."""
    async with open_models(settings) as models:
        reader = Reader(models.embedder, models.tokenizer)
        searcher = Searcher(store.index, [reader], measured=MEASURED)
        asker = Asker(searcher, reader=reader, answerer=answerer)
        blobs, whereabouts = (
            DiskBlobs(settings.data / "blobs"),
            Whereabouts(folders_of(settings), DiskMover()),
        )

        def answers(workspace: WorkspaceId) -> Answers:
            places = Places(store.catalogue, workspace, blobs, whereabouts)
            return Answers(store.catalogue, workspace, searcher=searcher, asker=asker, places=places)

        yield answers


@asynccontextmanager
async def open_chat(settings: Settings, store: Store) -> AsyncIterator[Chat]:
    """What answers in conversations, with models of its own."""
    async with (
        open_answerer(settings) as answerer,
        open_every_answers(settings, store, answerer) as answers,
        keep_chat(store, answers, answerer) as chat,
    ):
        yield chat


@asynccontextmanager
async def keep_chat(
    store: Store, answers: Callable[[WorkspaceId], Answers], answerer: Answerer | None
) -> AsyncIterator[Chat]:
    """What answers in conversations, kept alive and healed beside; at the end every answer has ended."""
    chat = Chat(store, store.transcript, Replier(answers, store.transcript, answerer), owner=new_worker_id())
    rounds = [
        asyncio.create_task(each.run()) for each in (chat, Healer(Interrupted(store.transcript), store.clock))
    ]
    for each in rounds:
        each.add_done_callback(_tell)
    try:
        yield chat
    finally:
        await chat.close()
        for task in rounds:
            task.cancel()
        await asyncio.gather(*rounds, return_exceptions=True)


def _tell(ended: asyncio.Task[None]) -> None:
    """A round that failed is a mistake of ours; without it every answer ends as interrupted."""
    if not ended.cancelled() and (error := ended.exception()) is not None:
        log.critical("answers are no longer kept alive: %s", report_of(error).message)

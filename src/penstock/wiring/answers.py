"""From settings to answers: which model reads questions, and which one, if any, writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from penstock.answer.answers import Answers
from penstock.answer.ask import Asker
from penstock.answer.places import Places
from penstock.answer.reading import Reader
from penstock.answer.search import Searcher
from penstock.engines.disk.blobs import DiskBlobs
from penstock.engines.disk.moving import DiskMover
from penstock.engines.minilm import MODEL
from penstock.intake.whereabouts import Whereabouts
from penstock.model.catalogue import LOCAL_WORKSPACE, WorkspaceId
from penstock.settings import Settings
from penstock.wiring.models import open_answerer, open_models
from penstock.wiring.store import Store
from penstock.wiring.watching import folders_of

MEASURED = frozenset({MODEL})
"""The models the confidence was measured with."""


@asynccontextmanager
async def open_answers(
    settings: Settings, store: Store, *, workspace: WorkspaceId = LOCAL_WORKSPACE, language_model: bool = True
) -> AsyncIterator[Answers]:
    """What searches and answers for a workspace; `language_model` False leaves it at quotations."""
    async with AsyncExitStack() as stack:
        models = await stack.enter_async_context(open_models(settings))
        answerer = await stack.enter_async_context(open_answerer(settings)) if language_model else None
        reader = Reader(models.embedder, models.tokenizer)
        searcher = Searcher(store.index, [reader], measured=MEASURED)
        asker = Asker(searcher, reader=reader, answerer=answerer)
        places = Places(
            store.catalogue,
            workspace,
            DiskBlobs(settings.data / "blobs"),
            Whereabouts(folders_of(settings), DiskMover()),
        )
        yield Answers(store.catalogue, workspace, searcher=searcher, asker=asker, places=places)

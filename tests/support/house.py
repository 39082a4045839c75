"""A house with two small collections in a real store, read by the bundled model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.answer.answers import Answers
from penstock.answer.ask import Asker
from penstock.answer.reading import Reader
from penstock.answer.scoping import Filters
from penstock.answer.search import Searcher
from penstock.engines.minilm import BundledEmbedder, BundledTokenizer
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.answers import Findings
from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.parsed import Heading, Page
from penstock.model.rules import Rules
from penstock.ports.answerer import Answerer
from tests.support.clock import FakeClock
from tests.support.shelves import Librarian, Text

HANDBOOK = """\
Keys

The cellar key hangs behind the kitchen door. It must be back on its hook by ten in the evening, because the
night porter counts the keys. A lost key costs forty crowns, which the house keeps.

Bicycles

Bicycles stand in the yard under the roof, never in the hall. The pump is lent out at the gate. Whoever finds
a flat tyre tells the caretaker, who mends it on Fridays.
"""
MENU = "On Fridays there is fish. Soup is served every day at noon, and bread is baked in the morning."
EVERYTHING = Filters()
Model = tuple[BundledEmbedder, BundledTokenizer]


@dataclass
class House:
    """A store with its librarian and what answers from it."""

    store: SqliteStore
    librarian: Librarian
    reader: Reader
    searcher: Searcher

    @property
    def answers(self) -> Answers:
        return self.answered_by(None)

    def answered_by(self, answerer: Answerer | None) -> Answers:
        """The same house with a language model to write for it."""
        asker = Asker(self.searcher, reader=self.reader, answerer=answerer)
        return Answers(self.store.catalogue, LOCAL_WORKSPACE, searcher=self.searcher, asker=asker)

    async def find(self, question: str, filters: Filters = EVERYTHING, *, top: int = 10) -> Findings:
        return await self.answers.search(filters, question, top=top)

    async def furnish(self) -> None:
        """Two collections, three documents."""
        await self.furnish_with(self.librarian)

    @staticmethod
    async def furnish_with(librarian: Librarian) -> None:
        """The same for a store that is opened otherwise."""
        rules, kitchen = await librarian.declare("rules"), await librarian.declare("kitchen")
        bicycles = HANDBOOK.index("Bicycles")
        handbook = Text(
            path="/docs/house/handbook.txt",
            text=HANDBOOK,
            title="House rules",
            headings=(
                Heading(level=1, title="Keys", start=0),
                Heading(level=1, title="Bicycles", start=bicycles),
            ),
            pages=(
                Page(number=1, start=0, end=bicycles),
                Page(number=2, start=bicycles, end=len(HANDBOOK)),
            ),
            metadata={"year": 2024, "language": "en"},
        )
        gate = Text(path="/docs/house/gate.txt", text="The gate is shut at eleven at night.")
        await librarian.put(rules, handbook)
        await librarian.put(rules, gate)
        await librarian.put(kitchen, Text(path="/docs/menu.txt", text=MENU, metadata={"year": 2023}))


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    """The bundled model, loaded once for all."""
    tokenizer = BundledTokenizer()
    embedder = BundledEmbedder(tokenizer)
    yield embedder, tokenizer
    asyncio.run(embedder.close())


@asynccontextmanager
async def open_house(folder: Path, model: Model) -> AsyncIterator[House]:
    """An empty house."""
    embedder, tokenizer = model
    store = await open_sqlite(folder, rules=Rules(), clock=FakeClock())
    reader = Reader(embedder, tokenizer)
    searcher = Searcher(store.index, [reader], measured=frozenset({embedder.model}))
    try:
        yield House(store, Librarian(store, embedder, tokenizer), reader, searcher)
    finally:
        await store.close()

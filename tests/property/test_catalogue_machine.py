"""A machine that admits, builds, publishes, renames, hides, rebuilds and purges, against a plain model.

Whatever the order, readers see exactly what the model says: by list, by words and by vectors, in this process
and in a second one that lives beside it.
"""

import asyncio
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.catalogue import (
    LOCAL_WORKSPACE,
    CollectionId,
    Document,
    DocumentId,
    GenerationId,
    VersionId,
)
from penstock.model.chunks import text_key
from penstock.model.errors import Broken, Refused
from penstock.model.rules import Rules
from penstock.ports.database import Transaction
from tests.support.cataloguing import (
    MODEL,
    blob_of,
    declared,
    new_chunks,
    new_document,
    pay_purges,
    question,
    scope_of,
    vector_of,
    write_version,
)
from tests.support.clock import FakeClock

PATHS = st.sampled_from(["/a", "/b", "/c"])
WORDS = ["fish", "bird", "stone", "river"]
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3, unique=True).map(tuple)


@dataclass
class Building:
    """A version being built, as the model knows it."""

    id: VersionId
    generation: GenerationId
    texts: tuple[str, ...]
    whole: bool


@dataclass
class Kept:
    """A document that is not hidden: what each generation holds of it, and what is being built."""

    id: DocumentId
    current: dict[GenerationId, tuple[int, tuple[str, ...]]] = field(default_factory=dict)
    building: list[Building] = field(default_factory=list)


class CatalogueMachine(RuleBasedStateMachine):
    """Two open stores on one folder; every verb goes to one of them, every look to both."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-machine-"))
        self.clock = FakeClock()
        self.stores: list[SqliteStore] = []
        self.model: dict[str, Kept] = {}

    @initialize()
    def start(self) -> None:
        self.stores = [self.opened(), self.opened()]
        shelf = self.write(declared)
        self.collection: CollectionId = shelf.id
        self.answering: GenerationId = shelf.generation
        self.open: GenerationId | None = None

    def teardown(self) -> None:
        for store in self.stores:
            self.run(store.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    def run(self, work: Any) -> Any:
        return self.loop.run_until_complete(work)

    def opened(self) -> SqliteStore:
        store: SqliteStore = self.run(
            open_sqlite(self.folder, rules=Rules(), clock=self.clock, synchronous="normal")
        )
        return store

    def write(self, work: Any) -> Any:
        return self.run(self.stores[0].write(work))

    @rule(path=PATHS)
    def admit(self, path: str) -> None:
        """K2: the same identity is the same document."""
        document: Document = self.write(lambda tx: tx.documents.admit(new_document(self.collection, path)))
        known = self.model.setdefault(path, Kept(id=document.id))
        assert known.id == document.id

    @rule(path=PATHS, texts=TEXTS)
    def ingest(self, path: str, texts: tuple[str, ...]) -> None:
        """The usual way: a version begun, written and published."""
        self.admit(path)
        self.build(path, texts, beside=False, whole=True)
        self.publish(path, 0)

    @precondition(lambda self: self.open is not None)
    @rule(path=PATHS)
    def rebuild(self, path: str) -> None:
        """What readers see of a document, built beside."""
        kept = self.model.get(path)
        if kept is not None and self.answering in kept.current:
            self.build(path, kept.current[self.answering][1], beside=True, whole=True)
            self.publish(path, 0)

    @precondition(lambda self: self.model)
    @rule(path=PATHS, texts=TEXTS, beside=st.booleans(), whole=st.booleans())
    def build(self, path: str, texts: tuple[str, ...], beside: bool, whole: bool) -> None:
        """K5, K6: a version begun, all or but its first chunk written; the latest stands first."""
        kept = self.model.get(path)
        generation = self.open if beside else self.answering
        if kept is None or generation is None:
            return

        def work(tx: Transaction) -> VersionId:
            if whole:
                return write_version(tx, kept.id, generation, texts).id
            return write_first(tx, kept.id, generation, texts)

        version = self.write(work)
        whole = whole or len(texts) == 1 or any(each.id == version and each.whole for each in kept.building)
        others = [each for each in kept.building if each.texts == texts and each.id != version]
        kept.building = [Building(version, generation, texts, whole), *others]

    @precondition(lambda self: any(kept.building for kept in self.model.values()))
    @rule(path=PATHS, pick=st.integers(0, 1))
    def publish(self, path: str, pick: int) -> None:
        """K4: only a complete version of a generation that is wanted becomes current."""
        kept = self.model.get(path)
        if kept is None or pick >= len(kept.building):
            return
        chosen = kept.building[pick]
        possible = chosen.whole and chosen.generation in (self.answering, self.open)
        try:
            self.write(lambda tx: tx.documents.publish(chosen.id, chunks=len(chosen.texts)))
        except (Broken, Refused):
            assert not possible
            return
        assert possible
        kept.building.remove(chosen)
        kept.current[chosen.generation] = (chosen.id, chosen.texts)

    @rule(path=PATHS)
    def hide(self, path: str) -> None:
        """K7: out of every answer."""
        kept = self.model.pop(path, None)
        if kept is not None:
            self.write(lambda tx: tx.documents.hide(kept.id))

    @rule(old=PATHS, new=PATHS)
    def rename(self, old: str, new: str) -> None:
        """K8: what was at the new place is hidden, everything else stays."""
        if old in self.model:
            kept = self.model.pop(old)
            self.write(lambda tx: tx.documents.rename(kept.id, new, new.strip("/")))
            self.model[new] = kept

    @rule(recipe=st.sampled_from(['{"r":1}', '{"r":2}']))
    def open_generation(self, recipe: str) -> None:
        """K13: one is built beside at a time."""
        self.open = self.write(lambda tx: tx.shelves.open_generation(self.collection, recipe)).id

    @precondition(lambda self: self.open is not None)
    @rule()
    def swap(self) -> None:
        """K13: if and only if every document readers see is in it, with no older bytes."""
        complete = all(
            self.open in kept.current
            and (kept.current[self.open][1] == seen[1] or kept.current[self.open][0] > seen[0])
            for kept in self.model.values()
            if (seen := kept.current.get(self.answering)) is not None
        )
        assert self.write(lambda tx: tx.shelves.swap(self.collection)) == complete
        if complete and self.open is not None:
            self.answering, self.open = self.open, None

    @rule()
    def abandon(self) -> None:
        """K13: giving up is possible whenever there is something to give up."""
        assert self.write(lambda tx: tx.shelves.abandon(self.collection)) == (self.open is not None)
        self.open = None

    @rule(limit=st.integers(1, 4))
    def purge(self, limit: int) -> None:
        """K15: paying what is owed changes nothing anybody sees."""
        self.run(pay_purges(self.stores[0].catalogue, limit=limit))

    @rule()
    def reopen(self) -> None:
        """The second store forgets what it had in memory; the first crashes."""
        self.run(self.stores[1].close())
        self.stores[0].abandon()
        self.stores = [self.opened(), self.opened()]

    @invariant()
    def readers_see_what_the_model_says(self) -> None:
        if self.stores:
            for store in self.stores:
                self.run(self.check(store))

    async def check(self, store: SqliteStore) -> None:
        seen = {
            path: (kept.id, kept.current[self.answering][1] if self.answering in kept.current else ())
            for path, kept in self.model.items()
        }
        listed = await store.catalogue.documents(LOCAL_WORKSPACE)
        assert {each.identity: (each.id, each.chunks) for each in listed} == {
            path: (document, len(texts)) for path, (document, texts) in seen.items()
        }
        expected = sorted((path, text) for path, (_, texts) in seen.items() for text in texts)
        scope = scope_of(self.collection)
        (found,) = await store.index.candidates(scope, question(" ".join(WORDS), vector_of("fish")))
        for leg in (found.dense, found.lexical):
            passages = await store.index.passages(scope, [each.chunk for each in leg])
            assert sorted((each.identity, each.text) for each in passages) == expected
            assert len(leg) == len(expected)


def write_first(
    tx: Transaction, document: DocumentId, generation: GenerationId, texts: tuple[str, ...]
) -> VersionId:
    """The first chunk of a version alone."""
    version = tx.documents.begin(document, generation, blob_of("\n".join(texts)), 100)
    tx.kept.keep_vectors(MODEL, [(text_key(texts[0]), vector_of(texts[0]))])
    tx.documents.add_chunks(version.id, MODEL, new_chunks(texts[:1]))
    return version.id


TestCatalogueMachine = CatalogueMachine.TestCase

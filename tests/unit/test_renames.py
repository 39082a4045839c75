"""What a rename does beside moving a document: bytes that moved before they were read are read."""

from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.model.catalogue import Document, DocumentId, DocumentState
from penstock.model.errors import Refused
from penstock.model.jobs import Job, WorkerId
from penstock.model.options import Options, Origin, options_of
from penstock.model.outcomes import DONE
from penstock.model.payloads import File
from penstock.pipeline.changes import Changes
from penstock.settings import load
from penstock.wiring.store import Store, open_store
from tests.support.cataloguing import admitted, claimed_job, declared, ingested, submitted
from tests.support.jobs import TENANT, a_rename
from tests.support.workshops import a_workshop

OLD, NEW = "/own/a.txt", "/own/b.txt"
MARK = "5:100:7"
WATCHED = Options(origin=Origin.WATCHED, root="/own", mark=MARK)


class Yard:
    """A store, and a worker that only renames."""

    def __init__(self, store: Store) -> None:
        self.store = store

    async def rename(self, options: Options = WATCHED, *, twice: bool = False) -> None:
        await submitted(self.store, a_rename(OLD, NEW, metadata=options.as_metadata()))
        lease = await claimed_job(self.store.queue)
        for _ in range(1 + twice):
            attempt: Any = SimpleNamespace(lease=lease)
            await Changes(a_workshop(self.store)).rename(attempt)
        await self.store.queue.settle([(lease, DONE)])

    async def at(self, path: str) -> Document | None:
        return await self.store.write(lambda tx: tx.documents.at(TENANT, declared(tx).id, path))

    async def note(self, document: DocumentId, mark: str) -> None:
        await self.store.write(lambda tx: tx.kept.note_file(document, mark=mark, root="/own"))

    async def waiting(self) -> dict[str, Job]:
        """The ingests that wait, by path."""
        jobs: dict[str, Job] = {}
        for lease in await self.store.queue.claim(WorkerId("w9"), 10):
            job = await self.store.desk.find(lease.job_id)
            assert job is not None
            assert isinstance(lease.payload, File)
            jobs[lease.payload.file_path] = job
        return jobs


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    async with open_store(load(None, {"PENSTOCK_DATA": str(tmp_path)}, {})) as store:
        await store.write(lambda tx: declared(tx))
        yield Yard(store)


async def test_a_file_that_was_read_is_only_moved(yard: Yard) -> None:
    """The look a watcher told is that of the bytes readers see: nothing is to be read."""
    before = await ingested(yard.store, OLD)
    await yard.note(before.id, MARK)

    await yard.rename()

    after = await yard.at(NEW)
    assert after is not None
    assert (after.id, after.version, after.state) == (before.id, before.version, DocumentState.INGESTED)
    assert await yard.at(OLD) is None
    assert await yard.waiting() == {}


async def test_a_file_that_moved_before_it_was_read_is_read_where_it_is(yard: Yard) -> None:
    """Its ingest found nothing and took it for deleted: the rename is what still knows of it."""
    await yard.rename(twice=True)

    there = await yard.at(NEW)
    waiting = await yard.waiting()
    assert there is not None
    assert there.state is DocumentState.PENDING
    assert list(waiting) == [NEW]
    assert options_of(waiting[NEW].metadata_json) == WATCHED
    assert [stage.job for stage in await yard.store.catalogue.stages(there.id)] == [waiting[NEW].id]


@pytest.mark.parametrize("options", [WATCHED, Options()], ids=["watched", "asked"])
async def test_a_document_without_a_version_is_read_under_its_new_name(yard: Yard, options: Options) -> None:
    """A file with the wrong ending gets the right one, and that is all its user has to do."""
    document, _ = await admitted(yard.store, OLD)
    lease = await claimed_job(yard.store.queue)
    await yard.store.queue.settle([(lease, DONE)])

    await yard.rename(options)

    there = await yard.at(NEW)
    assert there is not None
    assert (there.id, there.state) == (document.id, DocumentState.PENDING)
    assert list(await yard.waiting()) == [NEW]


async def test_what_came_to_the_old_path_meanwhile_is_looked_at_again(yard: Yard) -> None:
    """Other bytes were read there than those that moved: neither path is taken for the other."""
    document = await ingested(yard.store, OLD)
    await yard.note(document.id, "9:900:9")

    await yard.rename()

    assert sorted(await yard.waiting()) == [OLD, NEW]


async def test_a_document_asked_for_by_name_must_be_there(yard: Yard) -> None:
    """Who names a document that nobody knows is told so; nothing is read in its stead."""
    with pytest.raises(Refused) as caught:
        await yard.rename(Options())

    assert caught.value.code == "ERR_DOCUMENT_UNKNOWN"
    assert await yard.waiting() == {}


async def test_a_document_with_a_version_is_never_read_for_a_rename_somebody_asked(yard: Yard) -> None:
    """A rename is a change of metadata, whatever lies at the new path."""
    before = await ingested(yard.store, OLD)

    await yard.rename(Options())

    after = await yard.at(NEW)
    assert after is not None
    assert (after.id, after.version) == (before.id, before.version)
    assert await yard.waiting() == {}

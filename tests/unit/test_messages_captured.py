"""From a message to its bytes: what lies where it was declared is taken, and nothing else."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.disk import DiskBlobs
from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.errors import Refused
from penstock.model.jobs import NewJob, WorkerId
from penstock.model.messages import Refusal
from penstock.model.options import options_of
from penstock.pipeline.capture import Captured, Capturer
from penstock.pipeline.workshop import Workshop
from penstock.settings import Settings, load
from penstock.wiring.declared import declared_by, translator
from penstock.wiring.store import Store, open_store
from tests.support.messages import QUEUE, WORKER

UNUSED: Any = None
"""Tools that taking bytes does not need."""


class Yard:
    """A collection `notes` with its incoming folder, beside the producer's folder."""

    def __init__(self, settings: Settings, store: Store, top: Path) -> None:
        self._settings, self._store = settings, store
        self.incoming = top / "data/sources/notes/incoming"
        self.incoming.mkdir(parents=True)
        self.scanned = top / "scanned"
        self.scanned.mkdir()
        self._blobs = DiskBlobs(top / "data/blobs")

    async def translated(self, fields: dict[str, Any], origin: str = "rag:ingest:queue") -> NewJob | Refusal:
        declared = await declared_by(self._store, self._settings)
        return translator(self._settings, lambda: declared)(json.dumps(fields).encode(), origin)

    async def captured(self, path: Path) -> Captured | None:
        """What a worker takes of the file a message names."""
        job = await self.translated(QUEUE | {"rag_id": "notes", "source_path": str(path)})
        assert isinstance(job, NewJob), job
        await self._store.write(lambda tx: tx.submit([job]))
        (lease,) = await self._store.queue.claim(WorkerId("w"), 1)
        shop = Workshop(
            database=self._store,
            catalogue=self._store.catalogue,
            blobs=self._blobs,
            parser=UNUSED,
            tokenizer=UNUSED,
            embedding=UNUSED,
            file_bytes_max=1 << 20,
        )
        return await Capturer(shop, UNUSED).capture(lease, options_of(lease.metadata_json))


@pytest.fixture
async def yard(tmp_path: Path) -> AsyncIterator[Yard]:
    keys = {"producer.scan_dir": str(tmp_path / "scanned"), "producer.collection": "notes"}
    settings = load(None, {"PENSTOCK_DATA": str(tmp_path / "data")}, keys)
    async with open_store(settings) as store:
        await store.write(lambda tx: tx.shelves.declare(LOCAL_WORKSPACE, "notes", recipe_json="{}"))
        yield Yard(settings, store, tmp_path)


@pytest.mark.parametrize("folder", ["incoming", "scanned"])
async def test_the_file_a_message_names_is_taken(yard: Yard, folder: str) -> None:
    """From the collection's own folder as from any that was declared."""
    path = getattr(yard, folder) / "a.txt"
    path.write_text("hello", encoding="utf-8")

    captured = await yard.captured(path)

    assert captured is not None
    assert (captured.identity, captured.size) == (str(path), 5)


@pytest.mark.parametrize("folder", ["incoming", "scanned"])
async def test_a_file_that_is_not_there_is_an_error(yard: Yard, folder: str) -> None:
    """The page says so: it does not retry, and it is not taken for a deleted one."""
    with pytest.raises(Refused) as refused:
        await yard.captured(getattr(yard, folder) / "missing.txt")

    assert refused.value.code == "ERR_FILE_NOT_FOUND"


@pytest.mark.parametrize("link", ["file", "folder"])
async def test_a_link_leads_nowhere(yard: Yard, tmp_path: Path, link: str) -> None:
    """A path that is right as it is written may still lead out; its bytes are not taken."""
    secret = tmp_path / "private" / "secret.txt"
    secret.parent.mkdir()
    secret.write_text("canary", encoding="utf-8")
    if link == "file":
        path = yard.incoming / "secret.txt"
        path.symlink_to(secret)
    else:
        (yard.incoming / "in").symlink_to(secret.parent)
        path = yard.incoming / "in" / "secret.txt"

    with pytest.raises(Refused):
        await yard.captured(path)


async def test_the_producers_folder_has_a_default_collection(yard: Yard) -> None:
    """A job of the worker contract that names a file there belongs to it."""
    job = await yard.translated(WORKER | {"filepath": str(yard.scanned / "a.txt")})

    assert isinstance(job, NewJob), job
    assert (job.collection, job.priority) == ("notes", 9)


@pytest.mark.parametrize(
    ("origin", "priority"),
    [
        ("rag:ingest:queue", 5),
        ("rag:ingest:queue:high", 9),
        ("rag:ingest:queue:low", 1),
        ("rag:ingest:queue:notes", 5),
    ],
)
async def test_the_list_tells_the_priority(yard: Yard, origin: str, priority: int) -> None:
    """Where the message says none itself."""
    fields = QUEUE | {"rag_id": "notes", "source_path": str(yard.incoming / "a.txt")}
    job = await yard.translated(fields, origin)

    assert isinstance(job, NewJob), job
    assert job.priority == priority

"""An upload through every verb, and kill -9 around its admission."""

import asyncio
import json
import signal

import msgspec
import pytest

from penstock.engines.disk import DiskBlobs
from penstock.intake.admission import Admission, Admitted, Order
from penstock.model.catalogue import LOCAL_TENANT, BlobId
from penstock.model.uploads import Uploaded
from penstock.pipeline.sweeper import Sweeper
from penstock.settings import load
from penstock.wiring.store import open_store
from tests.support.clock import FakeClock
from tests.support.doomed import Doom, Task
from tests.support.papers import COLLECTION, NearPapers, Papers
from tests.support.processes import Plant

KILLED = -signal.SIGKILL
TEXT = "# Cats\n\nCats sleep for sixteen hours a day.\n"


@pytest.fixture
def papers(plant: Plant) -> Papers:
    return NearPapers(plant)


def upload(papers: Papers, text: str = TEXT, name: str = "cats.md") -> Admitted:
    """Keep the bytes and hand the document in, as a door does."""

    async def work() -> Admitted:
        settings = load(None, papers.plant.environment(), {})
        blob = await DiskBlobs(settings.data / "blobs").put_bytes(text.encode())
        sent = Uploaded(blob=BlobId(blob.hash), size=blob.size, name=name)
        order = Order(tenant=LOCAL_TENANT, collection=COLLECTION, priority=5)
        async with open_store(settings) as store:
            (admitted,) = await Admission(store).uploads(order, [sent])
        return admitted

    return asyncio.run(work())


def test_an_upload_goes_through_every_verb(papers: Papers) -> None:
    """Shown, renamed, rebuilt, sent again, deleted, sent after a delete: its kept bytes are all it needs."""
    worker = papers.worker()
    first = upload(papers)
    broken = upload(papers, "{ no JSON", "broken.json")
    papers.rest(worker)
    assert papers.states() == {"cats.md": "ingested", "broken.json": "error"}
    vectors = papers.embeddings()

    listed = json.loads(papers.run("ingest", "list", "--rag", COLLECTION, "--json"))["documents"]
    shown = json.loads(papers.run("ingest", "status", "--job", first.job, "--json"))
    assert {(each["name"], each["source"]) for each in listed} == {
        ("cats.md", "upload"),
        ("broken.json", "upload"),
    }
    assert (shown["filename"], shown["document_id"]) == ("cats.md", first.document)
    assert "cats.md" in papers.run("queue", "list")

    again = upload(papers, name="kittens.md")
    papers.run("ingest", "retry", "--failed")
    papers.run("queue", "retry", first.job)
    papers.run(
        "queue", "submit", "--type", "rename", "--op", "update", "--collection", COLLECTION, "--payload",
        json.dumps({"old_path": identity_of(papers, "cats.md"), "new_path": "/tigers.md"}),
    )  # fmt: skip
    papers.run("ingest", "reindex", "--rag", COLLECTION)
    papers.rest(worker)
    assert again.document == first.document
    assert papers.embeddings() == vectors
    papers.assert_all_is_well(["tigers.md"], failed=["broken.json"])

    documents = ["--document", str(first.document), "--document", str(broken.document)]
    papers.run("ingest", "delete", "--rag", COLLECTION, *documents)
    upload(papers)
    papers.rest(worker)
    assert worker.stop() == 0
    papers.assert_all_is_well(["cats.md"])


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_an_upload_killed_at_its_admission(papers: Papers, after: bool) -> None:
    """Before it only bytes are left, which are swept; after it the document is ingested."""
    task = Task(role="upload", doom=Doom(edge="admit", after=after), text=TEXT, job_id="cats.md")
    doomed = papers.plant.start("-m", "tests.support.doomed", msgspec.json.encode(task).decode())
    assert doomed.wait(60) == KILLED
    left = papers.blobs()

    papers.settle()
    swept = asyncio.run(sweep(papers))

    assert len(left) == 1
    assert swept == (0 if after else 1)
    papers.assert_all_is_well(["cats.md"] if after else [])


async def sweep(papers: Papers) -> int:
    """One round of the sweeper, two hours later."""
    settings = load(None, papers.plant.environment(), {})
    async with open_store(settings) as store:
        clock = FakeClock(store.clock.now() + 7200)
        return await Sweeper(store.catalogue, DiskBlobs(settings.data / "blobs"), clock).look()


def identity_of(papers: Papers, name: str) -> str:
    (row,) = papers.plant.rows("SELECT identity FROM documents WHERE name = ?", name)
    return str(row["identity"])

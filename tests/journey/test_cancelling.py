"""Cancel: a document ends within two seconds whatever is being done with it, by the product's own times.

The time runs from before the cancel is committed to the `finished_at` of the job's row.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import pytest

from penstock.model.jobs import JobId
from penstock.wiring.store import open_store
from tests.support.endpoint import FakeEndpoint, Reply, fake_endpoint, usual
from tests.support.files.pdf import shared_pages
from tests.support.papers import Desk, Papers
from tests.support.processes import Plant
from tests.support.stalls import Machine

pytestmark = [pytest.mark.xdist_group("cancelling"), pytest.mark.timeout(600)]
SECONDS = 2.0
WORDS = " ".join(f"word{n % 977} about cats and boxes number {n}." for n in range(120_000))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A worker whose model and web are a server of ours."""

    papers: Papers
    server: FakeEndpoint

    def hang(self, *parts: bytes) -> None:
        """Let the server fall silent after these bytes, whatever it is asked."""
        told = Reply(headers=(("content-type", "text/plain"),), parts=parts, hang=True)
        self.server.arrived.clear()
        self.server.usual = lambda request: told


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    plant = Plant(tmp_path_factory.mktemp("cancelling"))
    plant.make()
    with fake_endpoint() as server:
        plant.choose(
            embedder=server.url,
            embedding_model="fake",
            embedding_dimension="8",
            fetching_allowed="127.0.0.1/32",
            parser_pages="200000",
            worker_count="1",
        )
        try:
            papers = Papers(plant)
            papers.worker()
            yield Scene(papers=papers, server=server)
        finally:
            server.closing.set()
            left = plant.close()
    assert left == [], "processes were left over"


@pytest.fixture
def desk(scene: Scene, request: pytest.FixtureRequest) -> Iterator[Desk]:
    """A collection and a folder of the test's own; the server answers again afterwards."""
    yield scene.papers.desk(request.node.name)
    scene.server.usual = usual


def submitted(desk: Desk, *words: str) -> str:
    return desk.papers.run("ingest", "submit", "--rag", desk.collection, *words).strip()


def cancel(desk: Desk, job: str, machine: Machine) -> None:
    """Cancel it, and judge how soon it ended."""
    plant = desk.papers.plant

    async def work() -> float:
        async with open_store(plant.settings()) as store:
            began = time.time()
            assert await store.desk.cancel([JobId(job)]) == [True]
            return began

    since = time.monotonic()
    began = asyncio.run(work())
    plant.wait_until(lambda: desk.ended(job)[0] == "failed", "it has ended")
    assert desk.ended(job) == ("failed", "ERR_CANCELLED")
    took = datetime.fromisoformat(plant.job(job)["finished_at"]).timestamp() - began
    assert took < SECONDS + machine.lost(since)


def wait(desk: Desk, condition: Callable[[], object], what: str) -> None:
    desk.papers.plant.wait_until(lambda: bool(condition()), what, seconds=120)


def of_document(desk: Desk, query: str) -> Callable[[], object]:
    return lambda: desk.rows(query)


def test_while_it_waits(desk: Desk, machine: Machine) -> None:
    """A job nobody has begun ends with the cancel itself."""
    desk.papers.run("queue", "pause", "--collection", desk.collection)
    job = submitted(desk, "--path", str(desk.write("cats.md", "# Cats\n\nThey wait.\n")))

    cancel(desk, job, machine)

    assert desk.states() == {"cats.md": "error"}


def test_while_its_bytes_are_captured(scene: Scene, desk: Desk, machine: Machine) -> None:
    """An address that sends a little and then nothing."""
    scene.hang(b"Cats and ")
    job = submitted(desk, "--url", scene.server.url.replace("/v1", "/cats.txt"))
    wait(desk, scene.server.arrived.is_set, "the server was asked")

    cancel(desk, job, machine)


def test_while_a_child_reads_it(desk: Desk, machine: Machine) -> None:
    """A file whose reading takes a minute; its process is gone as well."""
    path = desk.write("endless.pdf", "")
    path.write_bytes(shared_pages(190_000))
    job = submitted(desk, "--path", str(path))
    wait(desk, lambda: [row for row in running(desk, job) if row["kind"] == "parse"], "it is parsed")

    cancel(desk, job, machine)

    assert desk.states() == {"endless.pdf": "error"}


def test_while_it_is_split(desk: Desk, machine: Machine) -> None:
    """A long text, at the moment it was parsed."""
    job = submitted(desk, "--path", str(desk.write("long.txt", WORDS)))
    wait(desk, of_document(desk, "SELECT 1 FROM documents d WHERE state = 'parsed'"), "it was parsed")

    cancel(desk, job, machine)

    assert desk.states() == {"long.txt": "error"}


def test_while_an_endpoint_does_not_answer(scene: Scene, desk: Desk, machine: Machine) -> None:
    """A model elsewhere that was asked and says nothing."""
    scene.hang()
    job = submitted(desk, "--path", str(desk.write("cats.md", "# Cats\n\nThey are embedded for ever.\n")))
    wait(desk, scene.server.arrived.is_set, "the endpoint was asked")

    cancel(desk, job, machine)

    assert desk.states() == {"cats.md": "error"}


def test_while_its_chunks_are_written(desk: Desk, machine: Machine) -> None:
    """A long text whose vectors cost nothing, in the middle of its index."""
    job = submitted(desk, "--path", str(desk.write("long.txt", WORDS.replace("cats", "dogs"))))
    query = (
        "SELECT 1 FROM documents d JOIN versions v ON v.document = d.number JOIN chunks USING (version_id)"
    )
    wait(desk, of_document(desk, query), "some are written")

    cancel(desk, job, machine)

    assert desk.states() == {"long.txt": "error"}
    assert desk.chunks() == {}


def running(desk: Desk, job: str) -> list[dict[str, object]]:
    found = desk.papers.plant.rows("SELECT kind FROM stages WHERE queue_id = ? AND finished_at IS NULL", job)
    return [dict(row) for row in found]


def test_while_the_bundled_model_embeds_it(tmp_path: Path, machine: Machine) -> None:
    """A long document in the middle of its vectors, with every processor at work on them."""
    plant = Plant(tmp_path)
    plant.make()
    try:
        papers = Papers(plant)
        worker = papers.worker()
        desk = papers.desk("large")
        job = submitted(desk, "--path", str(desk.write("large.txt", WORDS)))
        wait(desk, papers.embeddings, "some vectors are there")

        cancel(desk, job, machine)

        assert desk.states() == {"large.txt": "error"}
        assert worker.stop() == 0
    finally:
        left = plant.close()
    assert left == []

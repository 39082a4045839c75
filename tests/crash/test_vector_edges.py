"""kill -9 between chunks, points, flip and purge, with vectors on a Qdrant; after a restart all is well."""

import asyncio
import json
import signal
from pathlib import Path

import httpx
import pytest

from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.errors import Unavailable
from penstock.model.passages import Passage, Question, Scope
from penstock.wiring.store import open_store
from tests.support.doomed import Doom
from tests.support.papers import COLLECTION, NearPapers
from tests.support.processes import Plant, Started
from tests.support.servers.qdrant import Qdrant, a_qdrant, qdrant_url

__all__ = ["qdrant_url"]

KILLED = -signal.SIGKILL
FIRST = "# Cats\n\nCats sleep for sixteen hours a day.\n\n# Dogs\n\nDogs sleep for twelve.\n"
SECOND = FIRST.replace("twelve", "eleven")

campaign = pytest.mark.crash_full
both_sides = pytest.mark.parametrize("after", [False, True], ids=["before", "after"])


class VectorPapers(NearPapers):
    """Papers whose vectors lie on a Qdrant server."""

    def __init__(self, plant: Plant, url: str) -> None:
        plant.choose(vectors=url)
        super().__init__(plant)
        self.url = url

    def doomed_at(self, call: str, *, after: bool) -> Started:
        """A worker that will die at a call to Qdrant."""
        return self.plant.start("-m", "tests.support.doomed_vectors", call, "after" if after else "before")

    def found(self, words: str) -> str:
        """All passages a search by words finds, as text."""

        async def search() -> list[Passage]:
            async with open_store(self.plant.settings()) as store:
                shelf = await store.catalogue.collection(LOCAL_WORKSPACE, COLLECTION)
                assert shelf is not None
                scope = Scope(workspace=LOCAL_WORKSPACE, collections=(shelf.id,))
                (told,) = await store.index.candidates(scope, Question(text=words, vectors={}))
                return await store.index.passages(scope, [each.chunk for each in told.lexical])

        return "\n".join(passage.text for passage in asyncio.run(search()))

    def spaces(self) -> list[str]:
        """The collections this database has on the server."""
        (home,) = self.plant.rows("SELECT home_id FROM home")
        told = httpx.get(f"{self.url}/collections", trust_env=False).json()["result"]["collections"]
        return [each["name"] for each in told if home["home_id"] in each["name"]]

    def points(self) -> set[int]:
        """Every point this database has on the server."""
        with httpx.Client(base_url=self.url, trust_env=False) as server:
            pages = [
                server.post(f"/collections/{name}/points/scroll", json={"limit": 10_000}).json()
                for name in self.spaces()
            ]
        return {point["id"] for page in pages for point in page["result"]["points"]}

    def assert_in_step(self, documents: list[str]) -> None:
        """All is well, and the points are exactly the chunks; the program's own check says so too."""
        self.assert_all_is_well(documents)
        assert self.points() == {row["chunk_id"] for row in self.plant.rows("SELECT chunk_id FROM chunks")}


@pytest.fixture
def papers(plant: Plant, qdrant_url: str) -> VectorPapers:
    return VectorPapers(plant, qdrant_url)


def died(process: Started) -> bool:
    return process.wait(60) == KILLED


@both_sides
def test_a_first_ingest_killed_at_the_points(papers: VectorPapers, after: bool) -> None:
    """Points nobody sees are put again under the same numbers, and then seen."""
    papers.submit(papers.write("cats.md", FIRST))

    assert died(papers.doomed_at("put", after=after))
    assert papers.visible() == {}
    assert len(papers.points()) == (
        papers.plant.rows("SELECT count(*) n FROM chunks")[0]["n"] if after else 0
    )
    papers.settle()

    assert "sixteen" in papers.found("cats sleep")
    papers.assert_in_step(["cats.md"])


@both_sides
@pytest.mark.parametrize("edge", [pytest.param("add chunks", marks=campaign), "publish"])
def test_an_update_killed_around_the_flip(papers: VectorPapers, edge: str, after: bool) -> None:
    """Readers find the old version or the new one; in the end the new one alone, nothing of the old."""
    path = papers.write("cats.md", FIRST)
    papers.submit(path)
    papers.settle()
    path.write_text(SECOND, encoding="utf-8")
    papers.submit(path)

    assert died(papers.doomed(Doom(edge=edge, after=after)))
    flipped = edge == "publish" and after
    assert ("eleven" in papers.found("sleep")) is flipped
    assert ("twelve" in papers.found("sleep")) is not flipped
    papers.settle()

    assert "twelve" not in papers.found("sleep")
    papers.assert_in_step(["cats.md"])


@pytest.mark.parametrize(
    ("call", "after"),
    [
        pytest.param("page", False, marks=campaign),
        pytest.param("remove", False, marks=campaign),
        ("remove", True),
    ],
)
def test_a_purge_killed_at_the_points(papers: VectorPapers, call: str, after: bool) -> None:
    """A deleted document is found no more at the commit; what is left of its points is owed until it goes."""
    path = papers.write("cats.md", FIRST)
    papers.submit(path, papers.write("dogs.md", SECOND))
    papers.settle()
    papers.run("ingest", "delete", "--rag", COLLECTION, "--path", str(path))

    assert died(papers.doomed_at(call, after=after))
    assert "twelve" not in papers.found("sleep")
    papers.settle()

    papers.assert_in_step(["dogs.md"])


@campaign
@both_sides
def test_a_purge_killed_at_the_rows(papers: VectorPapers, after: bool) -> None:
    """What the rows leave outside was owed before they went."""
    path = papers.write("cats.md", FIRST)
    papers.submit(path)
    papers.settle()
    papers.run("ingest", "delete", "--rag", COLLECTION, "--path", str(path))

    assert died(papers.doomed(Doom(edge="purge", after=after)))
    papers.settle()

    papers.assert_in_step([])
    assert papers.spaces() == []


@campaign
def test_a_rebuild_leaves_the_new_points_alone(papers: VectorPapers) -> None:
    """The old generation's points go with it."""
    papers.submit(papers.write("cats.md", FIRST))
    papers.settle()
    before = papers.points()
    papers.run("ingest", "reindex", "--rag", COLLECTION)
    papers.settle()

    assert not before & papers.points()
    assert "sixteen" in papers.found("cats sleep")
    papers.assert_in_step(["cats.md"])


@campaign  # a parked job waits for half a minute
def test_a_server_that_is_killed_holds_documents_up_and_loses_none(plant: Plant, tmp_path: Path) -> None:
    """While it is down jobs wait without spending a retry, a delete is accepted and a search says so.

    When it is back everything is found, and nothing of what was deleted is left there.
    """
    with a_qdrant(tmp_path / "qdrant") as qdrant:
        papers = VectorPapers(plant, qdrant.url)
        cats = papers.write("cats.md", FIRST)
        papers.submit(cats)
        papers.settle()
        qdrant.kill()
        (job,) = papers.submit(papers.write("dogs.md", SECOND))
        worker = papers.worker()
        plant.wait_until(lambda: plant.job(job)["parked_since"] is not None, "the job is parked", worker)
        assert (plant.job(job)["error_code"], plant.job(job)["retry_count"]) == ("ERR_VECTORS_DOWN", 0)
        with pytest.raises(Unavailable, match="cannot be reached"):
            papers.found("sleep")
        papers.run("ingest", "delete", "--rag", COLLECTION, "--path", str(cats))

        qdrant.start()
        papers.rest(worker)
        assert worker.stop() == 0, worker.said()

        assert "eleven" in papers.found("sleep")
        assert "twelve" not in papers.found("sleep")
        papers.assert_in_step(["dogs.md"])


def test_a_server_that_lost_everything_is_filled_again(plant: Plant, tmp_path: Path) -> None:
    """fsck finds what is missing and puts it from the database; nothing is parsed or embedded for it."""
    with a_qdrant(tmp_path / "first") as qdrant:
        papers = VectorPapers(plant, qdrant.url)
        papers.submit(papers.write("cats.md", FIRST))
        papers.settle()
    with a_qdrant(tmp_path / "second") as empty:
        plant.choose(vectors=empty.url)
        papers.url = empty.url
        jobs = plant.rows("SELECT count(*) AS n FROM unified_queue")

        assert "holds 0 vectors where at least" in papers.run("doctor")
        told = json.loads(papers.run("fsck", "--json", code=2))
        assert [each["flaw"] for each in told["flaws"]] == ["vectors_missing"]
        papers.run("fsck", "--repair")

        assert "sixteen" in papers.found("cats sleep")
        assert plant.rows("SELECT count(*) AS n FROM unified_queue") == jobs
        papers.assert_in_step(["cats.md"])
        _points_of_nobody_are_found(papers, empty)


def _points_of_nobody_are_found(papers: VectorPapers, qdrant: Qdrant) -> None:
    (name,) = [
        each["name"] for each in httpx.get(f"{qdrant.url}/collections").json()["result"]["collections"]
    ]
    vector = {"dense": [1.0] * 384, "words": {"indices": [1], "values": [1.0]}}
    stray = {"id": 999_999, "vector": vector, "payload": {"version": 77, "generation": "1"}}
    httpx.put(f"{qdrant.url}/collections/{name}/points?wait=true", json={"points": [stray]})

    told = json.loads(papers.run("fsck", "--json", code=2))
    assert [each["flaw"] for each in told["flaws"]] == ["vectors_unused"]
    papers.run("fsck", "--repair")
    papers.assert_in_step(["cats.md"])

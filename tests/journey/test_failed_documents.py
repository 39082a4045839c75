"""Documents that fail for good in the middle of their way: what is left of them, and how they come back."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.endpoint import FakeEndpoint, Reply, Request, fake_endpoint, refusal, usual
from tests.support.papers import Papers
from tests.support.processes import Plant, Started

pytestmark = pytest.mark.timeout(300)
FORBIDDEN = "unspeakable"


class Censor:
    """A healthy endpoint that refuses one word while it is told to, with a count of what it answered."""

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self.strict = True
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        if self.strict and any(FORBIDDEN in text for text in request.texts):
            return refusal(400, "this word is not embedded here")
        with self._lock:
            self.answered.update(request.texts)
        return usual(request)


def a_book(parts: int) -> str:
    """More chunks than are written together, the last of which holds the word."""
    told = [f"## Part {n}\n\n" + f"Part {n} speaks of water. " * 8 for n in range(parts)]
    return "\n\n".join([*told, f"## The end\n\nSomething {FORBIDDEN}."])


def embedded_by(plant: Plant, endpoint: FakeEndpoint) -> Papers:
    plant.choose(embedder=endpoint.url, embedding_model="fake", embedding_batch="64")
    return Papers(plant)


def test_a_document_that_fails_in_mid_embedding_leaves_no_chunk(plant: Plant) -> None:
    """I2: no vector set for a failed version; its last good version stays; a retry embeds only the rest."""
    censor = Censor()
    with fake_endpoint() as endpoint:
        endpoint.usual = censor
        papers = embedded_by(plant, endpoint)
        worker = papers.worker()
        path = papers.write("book.md", "# First edition\n\nShort and good.\n")
        papers.submit(path)
        papers.rest(worker)
        path.write_text(a_book(300), encoding="utf-8")
        papers.submit(path)
        papers.rest(worker)

        left = papers.plant.rows("SELECT v.state, v.chunks, c.chunk_id FROM versions v"
                                 " LEFT JOIN chunks c USING (version_id)")  # fmt: skip
        assert papers.states() == {"book.md": "error"}
        assert [(row["state"], row["chunks"], row["chunk_id"] is None) for row in left] == [
            ("current", 1, False),
            ("building", 0, True),
        ]
        assert "Short and good" in papers.visible()["book.md"]
        papers.run("fsck", "--deep")

        censor.strict = False
        papers.run("ingest", "retry", "--failed")
        papers.rest(worker)
        assert worker.stop() == 0
    assert FORBIDDEN in papers.visible()["book.md"]
    assert set(censor.answered.values()) == {1}
    papers.assert_all_is_well(["book.md"])


def test_a_key_that_is_refused_is_not_the_documents_fault(plant: Plant) -> None:
    """It waits without spending a retry, the doctor says why, and it goes on when the key is taken."""
    plant.choose(worker_park_delay="1s", worker_park_max="1h")
    refuses = threading.Event()
    refuses.set()
    with fake_endpoint() as endpoint:
        endpoint.usual = lambda request: refusal(401) if refuses.is_set() else usual(request)
        papers = embedded_by(plant, endpoint)
        worker = papers.worker()
        (job,) = papers.submit(papers.write("a.md", "Some words."))
        plant.wait_until(lambda: plant.job(job)["error_code"] is not None, "it is parked", worker)
        assert worker.stop() == 0
        row = plant.job(job)
        found = json.loads(papers.run("doctor", "--json", code=2))["findings"]
        refuses.clear()
        papers.settle()
    assert (row["error_code"], row["retry_count"], row["finished_at"]) == ("ERR_EMBEDDER_KEY", 0, None)
    advice = {each["check"]: each["advice"] for each in found if each["verdict"] != "ok"}
    assert "embedding.api_key" in advice["parked"]
    papers.assert_all_is_well(["a.md"])


def rebuilt(papers: Papers, *, chunk_tokens: int, code: int = 0) -> tuple[str, int]:
    """Build the collection anew by another recipe, and wait; how it ended, and how much is in error."""
    declare(papers.plant, chunk_tokens)
    words = ("--rag", "notes", "--wait", "--timeout", "90s", "--json")
    told = json.loads(papers.run("ingest", "reindex", *words, code=code))["wait"]
    return told["end"], told["failed"]


def declare(plant: Plant, chunk_tokens: int) -> None:
    config = plant.folder / "penstock.yaml"
    config.write_text(f"collections: {{notes: {{recipe: {{chunk_tokens: {chunk_tokens}}}}}}}")
    plant.choose(config=str(config))


def hand_in(papers: Papers, *names: str) -> None:
    """Long texts, of which those that are named so hold the word."""
    for name in names:
        word = FORBIDDEN if name.startswith("bad") else "fine"
        path = papers.write(name, " ".join(f"{name} number {n} is {word}." for n in range(60)))
        papers.run("ingest", "submit", "--rag", "notes", "--path", str(path))


@contextmanager
def ingested(plant: Plant, *names: str) -> Iterator[tuple[Censor, Papers, Started]]:
    """Documents that an endpoint took while it was not strict, and a worker that has nothing to do."""
    censor = Censor()
    censor.strict = False
    with fake_endpoint() as endpoint:
        endpoint.usual = censor
        papers = embedded_by(plant, endpoint)
        declare(plant, 200)
        worker = papers.worker()
        hand_in(papers, *names)
        papers.rest(worker)
        yield censor, papers, worker


def chunks(papers: Papers) -> dict[str, int]:
    """How many chunks readers see of each document."""
    rows = papers.plant.rows("SELECT name, chunks FROM document_facts WHERE version_id IS NOT NULL")
    return {row["name"]: row["chunks"] for row in rows}


def test_a_document_that_fails_in_a_rebuild_holds_nobody_up(plant: Plant) -> None:
    """Its last good version goes over to the new index; a retry builds it by the new recipe."""
    with ingested(plant, "bad.md", "one.md", "two.md") as (censor, papers, worker):
        before = chunks(papers)
        censor.strict = True
        assert rebuilt(papers, chunk_tokens=64) == ("ended", 1)
        papers.rest(worker)
        between = chunks(papers)
        assert papers.states() == {"bad.md": "error", "one.md": "ingested", "two.md": "ingested"}
        assert between["bad.md"] == before["bad.md"]
        assert between["one.md"] > 2 * before["one.md"]
        assert FORBIDDEN in papers.run("search", "bad number 7", "--rag", "notes")
        papers.run("fsck", "--deep")

        censor.strict = False
        papers.run("ingest", "retry", "--failed")
        papers.rest(worker)
        assert worker.stop() == 0
    assert chunks(papers)["bad.md"] > 2 * before["bad.md"]
    papers.assert_all_is_well(["bad.md", "one.md", "two.md"])


def test_a_recipe_under_which_most_documents_fail_is_given_up(plant: Plant) -> None:
    """The old index goes on answering with all of them, and each says what went wrong."""
    with ingested(plant, "bad1.md", "bad2.md", "one.md") as (censor, papers, worker):
        before = chunks(papers)
        censor.strict = True
        assert rebuilt(papers, chunk_tokens=64, code=2) == ("given up", 2)
        papers.rest(worker)
        assert worker.stop() == 0
    assert chunks(papers) == before
    assert papers.states() == {"bad1.md": "error", "bad2.md": "error", "one.md": "ingested"}
    assert plant.rows("SELECT count(*) AS n FROM collections WHERE building IS NOT NULL") == [{"n": 0}]
    papers.run("fsck", "--deep")

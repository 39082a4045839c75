"""What people are told while documents wait, run, fail and are tried again, with the real program.

Documents are embedded by an endpoint on loopback that the test can hold up, so every moment can be looked at.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.model.payloads import Content
from tests.support.endpoint import Reply, Request, fake_endpoint, refusal, usual
from tests.support.jobs import a_job_about
from tests.support.papers import COLLECTION, Papers
from tests.support.processes import Plant

pytestmark = pytest.mark.timeout(400)
PATIENCE = 90.0
"""Seconds for what takes one or two on a machine that has time."""
CATS = "# Cats\n\nCats sleep for sixteen hours a day.\n"


class Embeddings:
    """An endpoint's answers: held up while the gate is shut, refused from a certain text on if asked so."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.answered: Counter[str] = Counter()
        self.texts_left: int | None = None
        """How many texts are answered before `instead` is."""
        self.instead = refusal(400)
        self.shut_after: int | None = None
        """How many texts are answered before the gate is shut."""
        self.held = threading.Event()
        """Set once somebody waits at the gate."""
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        if not self.gate.is_set():
            self.held.set()
            self.gate.wait(PATIENCE)
        with self._lock:
            if self.texts_left is not None:
                if self.texts_left < len(request.texts):
                    return self.instead
                self.texts_left -= len(request.texts)
            self.answered.update(request.texts)
            if self.shut_after is not None and len(self.answered) >= self.shut_after:
                self.shut_after = None
                self.gate.clear()
        return usual(request)


@pytest.fixture
def embeddings() -> Embeddings:
    return Embeddings()


@pytest.fixture
def papers(plant: Plant, embeddings: Embeddings) -> Iterator[Papers]:
    """A data folder whose documents the endpoint embeds, one worker slot, no worker yet."""
    with fake_endpoint() as endpoint:
        endpoint.usual = embeddings
        plant.choose(
            embedder=endpoint.url, embedding_model="fake", embedding_batch="16", embedding_calls="1",
            worker_concurrency="1",
        )  # fmt: skip
        try:
            yield Papers(plant)
        finally:
            embeddings.gate.set()


def a_text(sections: int, about: str = "water") -> str:
    """So many chunks at least."""
    return "\n\n".join(
        f"## Part {n}\n\n" + " ".join(f"Sentence {k} of part {n} speaks of {about}." for k in range(12))
        for n in range(sections)
    )


def status(papers: Papers, job: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(papers.run("ingest", "status", "--job", job, "--json"))
    return found


def test_every_waiting_document_says_why(papers: Papers, embeddings: Embeddings) -> None:
    """Stuck, silent: nobody works; a position; who runs it; parked on what and until when."""
    plant = papers.plant
    embeddings.gate.clear()
    (first,) = papers.submit(papers.write("first.md", CATS))
    alone = status(papers, first)
    worker = papers.worker()
    assert embeddings.held.wait(PATIENCE)
    (second,) = papers.submit(papers.write("second.md", CATS + "Second.\n"))
    (third,) = papers.submit(papers.write("third.md", CATS + "Third.\n"))
    running, behind = status(papers, first), status(papers, third)
    explained = papers.run("queue", "explain", third)

    embeddings.texts_left, embeddings.instead = 0, refusal(429, retry_after="3600")
    embeddings.gate.set()
    plant.wait_until(
        lambda: all(plant.job(job)["error_code"] for job in (first, second, third)), "all are parked", worker
    )
    parked = status(papers, third)

    assert (alone["status"], alone["document_state"]) == ("queued", "pending")
    assert "No worker is alive" in alone["why"]
    assert "is running it" in running["why"]
    assert "1 job stands before it" in behind["why"]
    assert "1 worker is alive" in behind["why"]
    assert behind["why"] in explained
    assert (parked["status"], parked["retry_count"]) == ("queued", 0)
    assert "parked since" in parked["why"]
    assert "ERR_EMBEDDER_LIMITED" in parked["why"]
    assert parked["next_run_at"] is not None
    assert [stage["error_code"] for stage in parked["stages"]][-1] == "ERR_EMBEDDER_LIMITED"
    assert worker.stop() == 0


def test_what_is_held_back_by_rule_says_so(papers: Papers, embeddings: Embeddings) -> None:
    """Stuck, silent: a tenant at its limit and a paused collection are named, not left to be guessed."""
    papers.plant.choose(worker_concurrency="4", worker_tenant_limit="1")
    embeddings.gate.clear()
    worker = papers.worker()
    papers.submit(papers.write("first.md", CATS))
    assert embeddings.held.wait(PATIENCE)
    (second,) = papers.submit(papers.write("second.md", CATS + "Second.\n"))
    limited = status(papers, second)
    papers.run("queue", "pause", "--collection", COLLECTION)
    paused = status(papers, second)
    papers.run("queue", "resume", "--collection", COLLECTION)
    embeddings.gate.set()
    papers.rest(worker, PATIENCE)

    assert "its limit is 1" in limited["why"]
    assert f"paused: collection {COLLECTION}" in paused["why"]
    papers.assert_all_is_well(["first.md", "second.md"])
    assert worker.stop() == 0


def test_all_that_failed_is_tried_again_and_only_the_rest_is_done(
    papers: Papers, embeddings: Embeddings
) -> None:
    """Retry starts over: after one command all are ingested; no page is parsed and no text embedded twice."""
    plant = papers.plant
    embeddings.texts_left = 32
    names = [f"{n}.md" for n in range(4)]
    jobs = papers.submit(
        *(papers.write(name, a_text(40, f"river {n}")) for n, name in enumerate(names)),
    )
    worker = papers.worker()
    papers.rest(worker, PATIENCE)
    failed = [plant.job(job) for job in jobs]
    kept, parsed = papers.embeddings(), parses(papers)
    papers.run("ingest", "delete", "--rag", COLLECTION, "--path", str(papers.folder / "3.md"))

    embeddings.texts_left = None
    told = json.loads(papers.run("ingest", "retry", "--failed", "--rag", COLLECTION, "--json"))
    papers.rest(worker, PATIENCE)

    assert {(row["status"], row["error_code"], row["retry_count"]) for row in failed} == {
        ("failed", "ERR_EMBEDDER_REFUSED", 0)
    }
    assert kept == 32
    assert {each["name"] for each in told["documents"]} <= set(names)
    papers.assert_all_is_well(names[:3])
    assert set(embeddings.answered.values()) == {1}
    assert parses(papers).items() <= parsed.items()
    assert worker.stop() == 0


def parses(papers: Papers) -> dict[str, int]:
    """When each parse was written; a file parsed again would be written again."""
    found = papers.plant.rows("SELECT result FROM parses")
    blobs = papers.plant.data / "blobs"
    return {
        row["result"]: (blobs / row["result"][:2] / row["result"][2:]).stat().st_mtime_ns for row in found
    }


def test_progress_is_n_of_m_and_searchable_means_found(papers: Papers, embeddings: Embeddings) -> None:
    """False progress: a row from the first moment, a known total, and ingested only when readers see it."""
    plant = papers.plant
    text, embeddings.shut_after = a_text(300), 256
    (job,) = papers.submit(papers.write("long.md", text))
    listed = json.loads(papers.run("ingest", "list", "--rag", COLLECTION, "--json"))["documents"]
    worker = papers.worker()
    assert embeddings.held.wait(PATIENCE), "nothing is asked after the first portion"
    plant.wait_until(lambda: status(papers, job)["progress"] is not None, "progress is told", worker)
    middle, seen = status(papers, job), papers.visible()
    embeddings.gate.set()
    papers.rest(worker, PATIENCE)
    end = status(papers, job)

    assert [(each["name"], each["state"]) for each in listed] == [("long.md", "pending")]
    assert 0 < middle["progress"]["done"] < middle["progress"]["total"] == len(text)
    assert (middle["status"], middle["document_state"], seen) == ("processing", "parsed", {})
    assert (end["status"], end["document_state"]) == ("done", "ingested")
    assert end["chunks_created"] >= 300
    assert "Sentence 11 of part 299" in papers.visible()["long.md"]
    assert worker.stop() == 0


def test_one_tenants_many_documents_do_not_hold_up_anothers(papers: Papers) -> None:
    """Starvation: five documents that came after eighty of another tenant are done among the first."""
    plant = papers.plant
    many = [a_document("acme", n) for n in range(80)]
    few = [a_document("globex", n) for n in range(5)]
    ids = [receipt.job_id for receipt in plant.submit([*many, *few])]
    worker = papers.worker()
    papers.rest(worker, PATIENCE)
    assert worker.stop() == 0

    done = [change.job for change in plant.changes() if change.new == "done"]
    assert sorted(done) == sorted(ids)
    last = max(done.index(job) for job in ids[80:])
    assert last < 20, "in turns, five of each tenant and the tenth claims come to about a dozen"
    papers.run("fsck")


def a_document(tenant: str, number: int) -> Any:
    content = Content(content=f"Note {number} of {tenant} speaks of rivers.", main_tag=f"{tenant}-{number}")
    return a_job_about(content, tenant=tenant, collection=COLLECTION)

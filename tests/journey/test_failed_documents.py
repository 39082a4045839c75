"""Documents that fail for good in the middle of their way: what is left of them, and how they come back."""

from __future__ import annotations

import threading
from collections import Counter

import pytest

from tests.support.endpoint import FakeEndpoint, Reply, Request, fake_endpoint, refusal, usual
from tests.support.papers import Papers
from tests.support.processes import Plant

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

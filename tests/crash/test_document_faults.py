"""What a document depends on fails in the middle of it: its endpoint, the disk, the worker itself."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from collections import Counter

import msgspec
import pytest

from tests.support.crowded import Crowd
from tests.support.doomed import Doom
from tests.support.endpoint import FakeEndpoint, Reply, Request, fake_endpoint, refusal, usual
from tests.support.papers import COLLECTION, NearPapers, Papers
from tests.support.processes import Plant, Row, Started
from tests.support.servers.launching import free_port

pytestmark = pytest.mark.timeout(900)
SEED = 20_261_116
PATIENCE = 120.0
"""Seconds for what takes a few on a machine that has time."""
CATS = "# Cats\n\nCats sleep for sixteen hours a day.\n"


@pytest.fixture
def papers(plant: Plant) -> Papers:
    return NearPapers(plant)


def a_long_text(sections: int) -> str:
    """So many chunks at least, each with words of its own."""
    return "\n\n".join(
        f"## Part {n}\n\n" + " ".join(f"Sentence {k} of part {n} speaks of water." for k in range(12))
        for n in range(sections)
    )


# The embedding endpoint --------------------------------------------------------------------------


class Embeddings:
    """What a healthy endpoint answers, with a count of every text that was answered; it can be dead."""

    def __init__(self, *, batches: int | None = None) -> None:
        self.answered: Counter[str] = Counter()
        self.dead = threading.Event()
        self._left = batches
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        with self._lock:
            if self._left == 0:
                self._left = None
                self.dead.set()
            if self.dead.is_set():
                return Reply(parts=(b"{",), cut=True)
            if self._left is not None:
                self._left -= 1
            self.answered.update(request.texts)
        return usual(request)


def embedded_by(plant: Plant, endpoint: FakeEndpoint, *, batch: int) -> Papers:
    """A plant whose documents are embedded by an endpoint."""
    plant.choose(
        embedder=endpoint.url, embedding_model="fake", embedding_batch=str(batch), embedding_calls="1"
    )
    return NearPapers(plant)


def parked(papers: Papers, job: str) -> Row:
    """The job's row, once it waits for something outside."""
    papers.plant.wait_until(
        lambda: (row := papers.plant.job(job))["status"] == "pending" and row["error_code"] is not None,
        "it is parked",
        seconds=PATIENCE,
    )
    return papers.plant.job(job)


def attempts(plant: Plant, job: str) -> int:
    """How often it was claimed; the counters of a job begin anew with each step of its document."""
    return sum((change.job, change.new) == (job, "in_progress") for change in plant.changes())


def assert_each_text_was_embedded_once(papers: Papers, embeddings: Embeddings) -> None:
    """What the endpoint answered is what is kept, and nothing was asked for again after an answer."""
    assert set(embeddings.answered.values()) == {1}
    assert len(embeddings.answered) == papers.embeddings()


def test_a_dead_endpoint_in_the_middle_of_a_document(plant: Plant) -> None:
    """Retry starts over: parked without a retry, others wait too; later only the rest is embedded."""
    plant.choose(
        circuit_breaker_min_samples="1",
        circuit_breaker_failure_threshold="0.1",
        circuit_breaker_cooldown_period="20s",
    )
    embeddings = Embeddings(batches=3)
    port = free_port()  # one that stays free while nobody listens there
    with fake_endpoint(port=port) as endpoint:
        endpoint.usual = embeddings
        papers = embedded_by(plant, endpoint, batch=4)
        worker = papers.worker()
        (long,) = papers.submit(papers.write("long.md", a_long_text(30)))
        assert embeddings.dead.wait(PATIENCE)
    row = parked(papers, long)
    kept = papers.embeddings()
    asked = len(endpoint.requests)
    (short,) = papers.submit(papers.write("short.md", CATS))
    held_back = parked(papers, short)

    assert (row["error_code"], row["retry_count"]) == ("ERR_EMBEDDER_DOWN", 0)
    assert "parked" in papers.run("queue", "explain", long)
    assert kept == 12 == sum(embeddings.answered.values())
    assert (held_back["error_code"], held_back["retry_count"]) == ("ERR_BREAKER_OPEN", 0)
    assert len(endpoint.requests) == asked

    embeddings.dead.clear()
    with fake_endpoint(port=port) as revived:
        revived.usual = embeddings
        papers.rest(worker, PATIENCE)
        papers.assert_all_is_well(["long.md", "short.md"])
        assert worker.stop() == 0

    assert_each_text_was_embedded_once(papers, embeddings)


def test_an_endpoint_that_asks_us_to_slow_down(plant: Plant) -> None:
    """Retry starts over: after a 429 its Retry-After is waited for, and nothing is embedded again."""
    embeddings, limited, times = Embeddings(), [1], list[float]()

    def limiting(request: Request) -> Reply:
        times.append(time.monotonic())
        if len(times) > 2 and limited:
            limited.clear()
            return refusal(429, retry_after="4")
        return embeddings(request)

    with fake_endpoint() as endpoint:
        endpoint.usual = limiting
        papers = embedded_by(plant, endpoint, batch=4)
        worker = papers.worker()
        (job,) = papers.submit(papers.write("long.md", a_long_text(20)))
        row = parked(papers, job)
        papers.rest(worker, PATIENCE)
        papers.assert_all_is_well(["long.md"])
        assert worker.stop() == 0

    assert (row["error_code"], row["retry_count"]) == ("ERR_EMBEDDER_LIMITED", 0)
    assert times[3] - times[2] >= 4.0
    assert attempts(plant, job) == 2
    assert_each_text_was_embedded_once(papers, embeddings)


def test_an_endpoint_that_takes_less_at_once(plant: Plant) -> None:
    """Retry starts over: a batch that is too large is halved, once, and the document needs no retry."""
    embeddings, sizes = Embeddings(), list[int]()

    def small(request: Request) -> Reply:
        sizes.append(len(request.texts))
        return refusal(413) if len(request.texts) > 4 else embeddings(request)

    with fake_endpoint() as endpoint:
        endpoint.usual = small
        papers = embedded_by(plant, endpoint, batch=16)
        (job,) = papers.submit(papers.write("long.md", a_long_text(40)))
        papers.settle(PATIENCE)
        papers.assert_all_is_well(["long.md"])

    assert max(sizes) == 16
    assert sum(size > 4 for size in sizes) <= 4, "later batches are kept smaller"
    assert attempts(plant, job) == 1
    assert_each_text_was_embedded_once(papers, embeddings)


# The disk ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edge", "after"),
    [("claim", True), ("begin", True), ("keep parse", False), ("keep vectors", False), ("publish", False)],
    ids=["capture", "parse result", "keep parse", "keep vectors", "publish"],
)
def test_a_full_disk_in_the_middle_of_a_document(papers: Papers, edge: str, after: bool) -> None:
    """Nothing is half-written and no retry is spent; the same worker goes on when there is room."""
    plant = papers.plant
    (job,) = papers.submit(papers.write("cats.md", CATS))
    crowd = Crowd(doom=Doom(edge=edge, after=after), folder=str(plant.folder))
    worker = plant.start("-m", "tests.support.crowded", msgspec.json.encode(crowd).decode())
    plant.wait_until((plant.folder / "noticed").exists, "it has noticed", worker, seconds=PATIENCE)
    seen = papers.visible()

    worker.signal(signal.SIGUSR1)

    row = parked(papers, job)
    papers.run("fsck")
    hasten(plant, job)
    papers.rest(worker, PATIENCE)
    assert seen == {}
    assert (row["error_code"], row["retry_count"]) == ("ERR_DISK_FULL", 0)
    assert attempts(plant, job) == 2
    papers.assert_all_is_well(["cats.md"])
    assert worker.stop() == 0, worker.said()


def test_what_does_not_fit_waits_and_what_fits_is_ingested(papers: Papers) -> None:
    """A document too large for what is left of the disk is parked, and its neighbours are searchable."""
    plant = papers.plant
    large = papers.write("large.html", f"<p>Cats sleep a lot.</p><!-- {'x' * (24 << 20)} -->")
    jobs = papers.submit(large, papers.write("cats.md", CATS))
    limited = (
        "import resource, runpy, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (16 << 20, 16 << 20));"
        " sys.argv = ['penstock', 'worker']; runpy.run_module('penstock', run_name='__main__')"
    )
    worker = plant.start("-c", limited)
    row = parked(papers, jobs[0])
    plant.wait_until(lambda: papers.states()["cats.md"] == "ingested", "its neighbour is", worker)
    said = papers.run("queue", "explain", jobs[0])

    assert worker.stop() == 0
    hasten(plant, jobs[0])
    papers.settle(PATIENCE)

    assert (row["error_code"], row["retry_count"]) == ("ERR_DISK_FULL", 0)
    assert "ERR_DISK_FULL" in said
    assert list((plant.data / "blobs" / "unfinished").iterdir()) == []
    papers.assert_all_is_well(["cats.md", "large.html"])


def hasten(plant: Plant, job: str) -> None:
    """As if the time it is parked for had passed."""
    plant.execute("UPDATE unified_queue SET next_run_at = NULL WHERE queue_id = ?", job)


# The worker --------------------------------------------------------------------------------------


def test_a_worker_that_slept_through_the_loss_of_its_document(plant: Plant) -> None:
    """Fencing: SIGSTOP past the lease, another finishes, SIGCONT: the first changes nothing."""
    plant.choose(worker_heartbeat_ttl="5s", worker_lease="3s")
    embeddings, arrived, go_on = Embeddings(), threading.Event(), threading.Event()

    def first_waits(request: Request) -> Reply:
        if not arrived.is_set():
            arrived.set()
            go_on.wait(PATIENCE)
        return embeddings(request)

    with fake_endpoint() as endpoint:
        endpoint.usual = first_waits
        papers = embedded_by(plant, endpoint, batch=64)
        first = papers.doomed(Doom())
        (job,) = papers.submit(papers.write("long.md", a_long_text(10)))
        assert arrived.wait(PATIENCE)
        plant.freeze(first.pid)
        second = papers.doomed(Doom())
        papers.rest(second, PATIENCE)
        row, seen = plant.job(job), papers.visible()
        versions = plant.rows("SELECT * FROM versions ORDER BY version_id")
        assert second.stop() == 0

        go_on.set()
        os.kill(first.pid, signal.SIGCONT)
        papers.submit(papers.write("cats.md", CATS))
        papers.rest(first, PATIENCE)

        assert plant.job(job) == row
        assert plant.rows("SELECT * FROM versions ORDER BY version_id")[:1] == versions
        assert papers.visible()["long.md"] == seen["long.md"]
        papers.assert_all_is_well(["long.md", "cats.md"])
        assert first.stop() == 0, first.said()

    done = [change for change in plant.changes() if change.job == job and change.new == "done"]
    assert len(done) == 1


@pytest.mark.parametrize(
    ("count", "kills"),
    [(20, 5), pytest.param(60, 20, marks=pytest.mark.crash_full)],
)
def test_workers_killed_at_random_among_documents(papers: Papers, count: int, kills: int) -> None:
    """Restart: every document is ingested in the end, whole and once, however often its workers died."""
    print(f"seed {SEED}")
    plant, chance = papers.plant, random.Random(SEED)
    plant.choose(worker_count="2", worker_concurrency="2")
    names = [f"{n:03}.md" for n in range(count)]
    for n, name in enumerate(names):
        papers.write(f"in/{name}", f"# Cat {n}\n\n{a_long_text(10 + n % 10).replace('water', f'cat {n}')}\n")
    papers.submit(papers.folder / "in")
    worker = papers.worker()

    for number in range(kills):
        wanted = int(count * 0.9 * (number + chance.random()) / kills)
        wait_until_ended(plant, worker, wanted)
        kill_one(plant, worker, chance)

    papers.rest(worker, 300.0)
    handed_back = [each for each in plant.changes() if (each.old, each.new) == ("in_progress", "pending")]
    assert len(handed_back) >= kills / 2, "too few kills hit a document"
    failed = plant.rows("SELECT error_code, crashes FROM unified_queue WHERE status = 'failed'")
    assert {row["error_code"] for row in failed} <= {"ERR_POISON", "ERR_WORKER_DIED"}, failed
    if failed:
        papers.run("ingest", "retry", "--failed", "--rag", COLLECTION)
        papers.rest(worker, 300.0)
    assert worker.stop() == 0, worker.said()
    papers.assert_all_is_well(names)


def wait_until_ended(plant: Plant, worker: Started, wanted: int) -> None:
    plant.wait_until(
        lambda: plant.count("item_type = 'file' AND status IN ('done', 'failed')") >= wanted,
        f"{wanted} have ended",
        worker,
        seconds=PATIENCE,
    )


def kill_one(plant: Plant, worker: Started, chance: random.Random) -> None:
    """SIGKILL for a worker process that has a document in hand, at any moment of what it does."""
    busy = (
        "SELECT DISTINCT w.pid FROM unified_queue q JOIN queue_workers w USING (worker_id)"
        " WHERE q.status = 'in_progress' AND q.item_type = 'file'"
    )
    victims: list[int] = []

    def one_is_busy() -> bool:
        victims[:] = sorted({int(row["pid"]) for row in plant.rows(busy)} & set(worker.children()))
        return bool(victims)

    time.sleep(chance.uniform(0.0, 0.2))  # any moment is as good as another
    plant.wait_until(one_is_busy, "one is busy", worker, seconds=PATIENCE)
    os.kill(chance.choice(victims), signal.SIGKILL)

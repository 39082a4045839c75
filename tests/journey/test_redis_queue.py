"""A queue on a real Redis as a program we did not write meets it: a bare client pushes, reads and counts."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.command_line import Program
from tests.support.servers.redis import Redis, a_redis
from tests.support.stalls import Machine
from tests.support.waiting import until

pytestmark = [pytest.mark.xdist_group("redis_queue"), pytest.mark.timeout(240)]
PATIENCE = 60.0
RAG = "policies_rag"
QUEUE = "rag:ingest:queue"
DEAD = "rag:ingest:queue:dead-letter"
FIELDS = {
    *("job_id", "rag_id", "filename", "status", "submitted_at", "started_at", "completed_at"),
    *("duration_seconds", "chunks_created", "embeddings_generated", "tokens_used", "error", "error_type"),
    "retry_count",
}
"""What the page says a job's hash holds."""


class Yard:
    """A program whose queue is a Redis, with one declared collection and a folder of its own."""

    def __init__(self, folder: Path, redis: Redis) -> None:
        self.redis = redis
        self.papers = folder / "papers"
        self.papers.mkdir()
        self.program = Program(folder)
        server = redis.server
        (folder / "penstock.yaml").write_text(
            json.dumps(
                {
                    "queue": f"redis://{server.host}:{server.port}/0",
                    "collections": {RAG: {"sources": [{"path": str(self.papers)}]}},
                    "worker": {"retry_delays": ["50ms"]},
                }
            )
        )
        self.worker: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """A worker, once it is alive."""
        self.worker = self.program.start("worker", "--config", "penstock.yaml")
        until("a worker beats", lambda: bool(self.ask("KEYS", "worker:hb:*")))

    def kill(self) -> None:
        """All of it, without a word."""
        if self.worker is not None:
            self.worker.send_signal(signal.SIGKILL)
            self.worker.communicate(timeout=PATIENCE)
            self.worker = None

    def stop(self) -> None:
        if self.worker is not None:
            self.worker.terminate()
            _, err = self.worker.communicate(timeout=PATIENCE)
            assert self.worker.returncode == 0, err
            assert '"level": "error"' not in err, err
            self.worker = None

    def ask(self, *words: str | int) -> object:
        with self.redis.bare() as bare:
            return bare.call(*words)

    def message(self, name: str, text: str | None, number: int) -> dict[str, object]:
        """The page's own example, about a file of ours."""
        path = self.papers / name
        if text is not None:
            path.write_text(text)
        return {
            "job_id": f"rag-{RAG}-1704882600-{number:08x}",
            "rag_id": RAG,
            "source_path": str(path),
            "source_type": "txt",
            "filename": name,
            "submitted_at": "2025-01-10T20:15:30.123456Z",
            "submitted_by": "cli",
            "options": {"reindex": False, "skip_validation": False, "preserve_metadata": True},
            "retry_count": 0,
            "max_retries": 3,
        }

    def push(self, message: object, to: str = QUEUE) -> str:
        self.ask("LPUSH", to, message if isinstance(message, str) else json.dumps(message))
        return str(message["job_id"]) if isinstance(message, dict) else ""

    def hash(self, job: str) -> dict[str, str]:
        found = self.ask("HGETALL", f"rag:ingest:job:{job}")
        assert isinstance(found, list)
        words = [word.decode() for word in found]
        return dict(zip(words[::2], words[1::2], strict=True))

    def ended(self, job: str) -> dict[str, str]:
        until(f"{job} ends", lambda: self.hash(job).get("status") in ("done", "failed"))
        return self.hash(job)

    def generation(self) -> tuple[int, int | None]:
        """The one that answers and the one being built, as plain sqlite3 sees them."""
        with closing(sqlite3.connect(self.program.data / "penstock.db")) as db:
            query = "SELECT generation, building FROM collections WHERE name = ?"
            answering, building = db.execute(query, (RAG,)).fetchone()
            return answering, building

    def found(self, words: str) -> set[str]:
        hits = self.program.json("search", words, "--config", "penstock.yaml")["hits"]
        return {hit["label"].partition(",")[0] for hit in hits}


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    folder = tmp_path_factory.mktemp("yard")
    with a_redis(folder / "redis") as redis:
        made = Yard(folder, redis)
        made.start()
        yield made
        made.kill()


def test_a_pushed_message_is_a_document_and_its_hash_tells_it(yard: Yard) -> None:
    """Every documented field is there, and the list is empty again."""
    job = yard.push(yard.message("handbook.txt", "The notice period is thirty days.", 1))

    told = yard.ended(job)

    assert told["status"] == "done"
    assert set(told) >= FIELDS
    assert (told["job_id"], told["rag_id"], told["filename"]) == (job, RAG, "handbook.txt")
    assert told["error"] == ""
    assert (told["chunks_created"], told["embeddings_generated"]) == ("1", "1")
    assert int(told["tokens_used"]) > 3
    assert yard.ask("LLEN", QUEUE) == 0
    assert "handbook.txt" in yard.found("notice period")


def test_a_moved_file_is_called_what_its_message_calls_it(yard: Yard) -> None:
    """`filename` is for file movements, whatever the path is called."""
    incoming = yard.program.data / "sources" / RAG / "incoming"
    incoming.mkdir(parents=True, exist_ok=True)
    (incoming / "upload-7.txt").write_text("Bicycles are kept in the cellar.")
    message = yard.message("bicycles.txt", None, 70)

    told = yard.ended(yard.push({**message, "source_path": str(incoming / "upload-7.txt")}))

    assert told["status"] == "done", told
    moved = incoming.parent / "processed" / "bicycles.txt"
    until("it is moved", moved.with_name("bicycles.txt.meta.json").exists)
    assert moved.read_text() == "Bicycles are kept in the cellar."
    assert list(incoming.iterdir()) == []


def test_a_missing_file_fails_without_a_retry(yard: Yard) -> None:
    """The reason stands in the hash, and the letter holds the message as it was sent."""
    message = yard.message("nothing.txt", None, 2)
    told = yard.ended(yard.push(message))

    assert told["status"] == "failed"
    assert told["retry_count"] == "0"
    assert "nothing.txt" in told["error"]


@pytest.mark.parametrize(
    "spoilt",
    ["{torn", '{"job_id": 7}', "[]", json.dumps({"job_id": "x", "rag_id": "nobody"})],
    ids=["no JSON", "no job", "no object", "no collection"],
)
def test_what_cannot_be_read_is_a_dead_letter_and_the_worker_goes_on(yard: Yard, spoilt: str) -> None:
    """The letter holds the exact bytes and a reason."""
    yard.ask("DEL", DEAD)
    yard.push(spoilt)
    until("there is a letter", lambda: yard.ask("LLEN", DEAD) == 1)

    data = yard.ask("LINDEX", DEAD, 0)
    assert isinstance(data, bytes)
    letter = json.loads(data)

    assert letter["message"] == spoilt
    assert letter["reason"]


def test_our_own_submit_is_seen_by_a_bare_client(yard: Yard) -> None:
    """`ingest submit` prints the id whose hash ends done."""
    path = yard.papers / "own.txt"
    path.write_text("Vacation is twenty-five days a year.")

    said = yard.program(
        "ingest", "submit", "--config", "penstock.yaml", "--rag", RAG, "--path", str(path), "--wait"
    )

    assert said.code == 0, said.err
    assert yard.hash(said.out.split()[0])["status"] == "done"
    assert "own.txt" in yard.found("vacation days")


def test_a_message_may_have_the_collection_built_anew(yard: Yard) -> None:
    """The old index answers until the new one is whole, everything is found in that, and once is enough."""
    yard.ended(yard.push(yard.message("older.txt", "The notice period is thirty days.", 10)))
    before = yard.generation()
    message = yard.message("anew.txt", "Bicycles are parked behind the house.", 9)

    told = yard.ended(yard.push({**message, "options": {"reindex": True}}))

    assert told["status"] == "done", told
    until("the new generation answers", lambda: yard.generation()[0] != before[0])
    assert yard.generation()[1] is None
    assert {"anew.txt", "older.txt"} <= yard.found("bicycles notice period")


def test_a_collection_made_meanwhile_has_its_list_watched(yard: Yard, machine: Machine) -> None:
    """Within a few seconds, without a new start, a push to its own list is a document of it."""
    made = yard.program("collection", "create", "late_rag", "--config", "penstock.yaml")
    assert made.code == 0, made.err
    message = {**yard.message("late.txt", "Umbrellas are lent at the door.", 8), "rag_id": "late_rag"}
    began = time.monotonic()

    told = yard.ended(yard.push(message, f"{QUEUE}:late_rag"))

    assert (told["status"], told["rag_id"]) == ("done", "late_rag")
    assert time.monotonic() - began < 20 + machine.lost(began)
    assert yard.ask("LLEN", f"{QUEUE}:late_rag") == 0


def test_killed_workers_and_an_emptied_redis_lose_nothing(yard: Yard) -> None:
    """Jobs booked while nobody works, then told to a Redis that forgot them, end once each."""
    yard.kill()
    for number in range(5):
        (yard.papers / f"late-{number}.txt").write_text(f"Late paper number {number} about zebras.")
    paths = [word for number in range(5) for word in ("--path", str(yard.papers / f"late-{number}.txt"))]
    said = yard.program("ingest", "submit", "--config", "penstock.yaml", "--rag", RAG, *paths)
    assert said.code == 0, said.err
    jobs = said.out.split()
    assert len(jobs) == 5
    yard.ask("FLUSHALL")

    yard.start()

    until("the book is done", lambda: {row[1] for row in yard.program.rows()} <= {"done", "failed"})
    ends = {row[0]: row[1] for row in yard.program.rows()}
    assert [ends[job] for job in jobs] == ["done"] * 5
    assert {f"late-{number}.txt" for number in range(5)} <= yard.found("zebras")
    assert yard.program("fsck", "--config", "penstock.yaml").code == 0


def test_at_the_end_the_worker_leaves_in_good_order(yard: Yard) -> None:
    """Nothing is left on its processing list, no heartbeat, and no error was logged."""
    yard.stop()

    assert yard.ask("KEYS", "worker:hb:*") == []
    assert yard.ask("KEYS", "jobqueue:worker:*:processing") == []

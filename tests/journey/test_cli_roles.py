"""`penstock run --role=…` on a real Redis: what each role does, and what it serves meanwhile."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.settings import RedisServer
from tests.support.command_line import PATIENCE
from tests.support.metrics import fetched, numbers_of
from tests.support.redis_program import QUEUE, RAG, RedisProgram
from tests.support.servers.launching import free_port
from tests.support.waiting import until

FILES = {
    "a.txt": "The notice period is thirty days.",
    "b.txt": "Bicycles stand behind the house.",
    "c.md": "# Tea",
}


def answers(port: int, path: str) -> tuple[int, str]:
    try:
        return fetched(port, path)
    except OSError:
        return 0, ""


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def yard(tmp_path: Path, redis: RedisServer, port: int) -> Iterator[RedisProgram]:
    """A program that produces from a folder with three files."""
    drop = tmp_path / "drop"
    drop.mkdir()
    for name, text in FILES.items():
        (drop / name).write_text(text)
        os.utime(drop / name, (1_700_000_000, 1_700_000_000))
    producer = {"scan_dir": str(drop), "collection": RAG, "high_priority_exts": [".md"]}
    watched = {"metrics_port": port, "queue_sample_interval": "50ms"}
    made = RedisProgram(tmp_path, redis, producer=producer, observability=watched)
    yield made
    made.bare.close()


def test_a_producer_fills_the_lists_and_serves_its_pages(yard: RedisProgram, port: int) -> None:
    """Each file once, by its priority, as a bare client sees it; metrics, health and readiness beside it."""
    producer = yard.start("run", "--role=producer", "--config", yard.file)
    try:
        until("files wait", lambda: yard.bare.call("LLEN", f"{QUEUE}:normal") == 2)
        until("it is ready", lambda: answers(port, "/readyz")[0] == 200)
        until(
            "lists are measured", lambda: 'queue_length{queue="normal"} 2.0' in answers(port, "/metrics")[1]
        )
        alive, ready = fetched(port, "/healthz"), fetched(port, "/readyz")
        numbers = numbers_of(fetched(port, "/metrics")[1])
    finally:
        producer.send_signal(signal.SIGTERM)
        _, err = producer.communicate(timeout=PATIENCE)

    message = json.loads(yard.bare.call("LINDEX", f"{QUEUE}:high", -1))
    assert producer.returncode == 0, err
    assert (alive[0], json.loads(ready[1])) == (200, {"ready": True, "store": "reachable"})
    assert numbers.by_queue("queue_length") == {"high": 1, "normal": 2}
    assert (message["rag_id"], message["filename"], message["priority"]) == (RAG, "c.md", 9)
    assert yard.shown(message["job_id"])["status"] == "queued"


def test_queues_are_counted_by_the_names_they_were_given(
    tmp_path: Path, redis: RedisServer, port: int
) -> None:
    """Metrics and logs say `urgent` and `calm`, and nothing of queues nobody configured."""
    (tmp_path / "drop").mkdir()
    named = {"priorities": ["urgent", "calm"], "queues": {"urgent": "jobs:urgent", "calm": "jobs:calm"}}
    yard = RedisProgram(
        tmp_path,
        redis,
        worker=named,
        producer={"scan_dir": str(tmp_path / "drop"), "collection": RAG},
        observability={"metrics_port": port, "queue_sample_interval": "50ms"},
    )
    (tmp_path / "drop" / "a.txt").write_text("The notice period is thirty days.")
    counters = ("jobs_produced_total", "jobs_completed_total", "jobs_dead_letter_total")

    def counted() -> list[dict[str, float]]:
        told = numbers_of(answers(port, "/metrics")[1])
        return [told.by_queue(name) for name in counters]

    worker = yard.start("run", "--role=worker", "--config", yard.file)
    try:
        until("it is ready", lambda: answers(port, "/readyz")[0] == 200)
        yard.push({"id": "one", "filepath": str(tmp_path / "drop" / "a.txt")}, "jobs:calm")
        yard.push({"id": "two", "filepath": str(tmp_path / "drop" / "b.txt")}, "jobs:urgent")
        until("both are counted", lambda: counted() == [{"urgent": 1, "calm": 1}, {"calm": 1}, {"urgent": 1}])
        numbers = numbers_of(fetched(port, "/metrics")[1])
    finally:
        worker.send_signal(signal.SIGTERM)
        _, err = worker.communicate(timeout=PATIENCE)
        yard.bare.close()

    assert worker.returncode == 0, err
    assert {dict(labels).get("queue") for _, labels in numbers.samples} == {"urgent", "calm", "other", None}
    (told,) = [json.loads(line) for line in err.splitlines() if '"two"' in line]
    assert told["queue"] == "urgent"


def test_the_role_all_produces_and_works(yard: RedisProgram, port: int) -> None:
    """What lies in the folder is found by search a moment later, and no list holds anything any more."""
    both = yard.start("run", "--role=all", "--config", yard.file)
    try:
        until(
            "three jobs are done",
            lambda: (
                numbers_of(answers(port, "/metrics")[1]).by_queue("jobs_completed_total")
                == {"high": 1, "normal": 2}
            ),
        )
        ready = json.loads(fetched(port, "/readyz")[1])
        hits = yard.json("search", "notice period", "--rag", RAG)["hits"]
    finally:
        both.send_signal(signal.SIGTERM)
        _, err = both.communicate(timeout=PATIENCE)

    assert both.returncode == 0, err
    assert (ready["ready"], ready["workers_alive"]) == (True, 1)
    assert hits[0]["label"].startswith("a.txt")
    assert {row[1] for row in yard.rows()} == {"done"}
    assert [yard.bare.call("LLEN", f"{QUEUE}:{name}") for name in ("high", "normal", "low")] == [0, 0, 0]

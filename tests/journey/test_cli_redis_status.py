"""`queue status` and `ingest status` on a real Redis, as both contracts show them."""

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE
from penstock.settings import RedisServer
from penstock.wiring.store import Store
from tests.support.command_line import PATIENCE
from tests.support.redis_program import QUEUE, RedisProgram


@pytest.fixture
def yard(tmp_path: Path, redis: RedisServer) -> Iterator[RedisProgram]:
    made = RedisProgram(tmp_path, redis)
    yield made
    made.bare.close()


async def beat(store: Store) -> None:
    await store.queue.beat(WorkerId("alive"), concurrency=1)


def test_the_health_check_says_what_the_page_lists(yard: RedisProgram) -> None:
    """Queue name, connection, length, processing, queued, and whether a worker beat within five seconds."""
    yard.push(yard.message(1))
    assert len(yard.worked()) == 1
    yard.push(yard.message(2))
    yard.push(yard.message(3), f"{QUEUE}:high")

    before = yard.json("queue", "status")
    yard.in_store(beat)
    after = yard.json("queue", "status")

    assert before["redis"] == {
        "queue_name": QUEUE,
        "connection": yard.url,
        "queue_length": 1,
        "processing": 1,
        "queued": 2,
        "worker_connected": False,
    }
    assert after["redis"]["worker_connected"]
    assert (before["counts"]["ready"], before["counts"]["running"]) == (2, 1)
    assert ["redis", "queue_length", "1"] in yard("queue", "status").cells


def test_a_job_is_followed_from_its_push_to_its_end(yard: RedisProgram) -> None:
    """Submitted, processing, done, in the documented words; a refused one is failed, with the reason."""
    job = str(yard.message(1)["job_id"])
    yard.push(yard.message(1))
    seen = [yard.json("ingest", "status", "--job", job)]
    assert yard.worked() == [job]
    seen.append(yard.json("ingest", "status", "--job", job))
    lost = yard.push(yard.message(2, rag_id="nobody"))
    yard.worked()
    refused = yard.json("ingest", "status", "--job", json.loads(lost)["job_id"])

    assert [each["status"] for each in seen] == ["submitted", "processing"]
    assert {each["filename"] for each in seen} == {"policy-1.txt"}
    assert (refused["status"], refused["retry_count"]) == ("failed", 0)
    assert "nobody" in refused["error"]
    assert yard("ingest", "status", "--job", "rag-nobody-1-0").code == 1


def test_watching_prints_a_line_when_something_changes(yard: RedisProgram) -> None:
    """A push by somebody else is seen, and so is its end; Ctrl-C ends it well."""
    watch = yard.start("queue", "status", "--watch", "--interval", "50ms", "--json", "--config", yard.file)
    assert watch.stdout is not None
    seen = [json.loads(watch.stdout.readline())["counts"]]
    yard.push(yard.message(1))
    seen.append(json.loads(watch.stdout.readline())["counts"])
    yard.worked(DONE)
    while not seen[-1]["done"]:
        seen.append(json.loads(watch.stdout.readline())["counts"])
    watch.send_signal(signal.SIGINT)
    _, err = watch.communicate(timeout=PATIENCE)

    assert [each["ready"] for each in seen[:2]] == [0, 1]
    assert (seen[-1]["ready"], seen[-1]["done"]) == (0, 1)
    assert watch.returncode == 0, err

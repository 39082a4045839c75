"""A Redis that is away: what is handed in is booked, what is asked is answered, workers end in good order."""

import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.model.jobs import JobId
from penstock.wiring.store import Store
from tests.support.redis_program import QUEUE, RAG, RedisProgram
from tests.support.servers.redis import Redis, a_redis

PATIENCE = 60.0
SHORT = {"read_timeout": "300ms", "write_timeout": "300ms"}


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    with a_redis(tmp_path / "redis") as redis:
        yield redis


@pytest.fixture
def program(tmp_path: Path, redis: Redis) -> Iterator[RedisProgram]:
    program = RedisProgram(tmp_path, redis.server, redis=SHORT)
    yield program
    program.bare.close()


def test_what_is_handed_in_meanwhile_is_told_later(program: RedisProgram, redis: Redis) -> None:
    """A submit prints its id and a search answers; only who asks for the queue itself is told of it."""
    program.push(program.message(1))
    assert program.json("queue", "status")["counts"]["ready"] == 1
    redis.kill()
    path = program.papers / "a.txt"
    path.write_text("Handed in while nobody listened.")

    submitted = program("ingest", "submit", "--rag", RAG, "--path", path)
    assert (submitted.code, "jobs are booked" in submitted.err) == (0, True)
    assert program("search", "listened").code == 0
    assert program("queue", "status").code == 4

    redis.start()
    job = submitted.out.split()[0]
    assert program.in_store(lambda store: _sent(store, JobId(job)))
    with redis.bare() as bare:
        assert bare.call("HGET", f"rag:ingest:job:{job}", "status") == b"queued"
        assert bare.call("LLEN", QUEUE) == 1


async def _sent(store: Store, job: JobId) -> bool:
    """Anybody's next write brings along what was booked before."""
    await store.write(lambda _: None)
    return await store.desk.find(job) is not None


def test_a_worker_told_to_stop_meanwhile_says_so_in_lines_of_log(program: RedisProgram, redis: Redis) -> None:
    """It ends well; nobody is shown a traceback."""
    worker = program.start("worker", *program.always())
    deadline = time.monotonic() + PATIENCE
    beats: set[bytes] = set()
    while len(beats) < 2:  # the reply to its first one may be lost with the server, and it had not begun then
        assert time.monotonic() < deadline
        beats |= {program.bare.call("GET", key) for key in program.bare.call("KEYS", "worker:hb:*")}
        time.sleep(0.02)
    redis.kill()
    worker.send_signal(signal.SIGTERM)
    _, err = worker.communicate(timeout=PATIENCE)

    assert worker.returncode == 0, err
    assert "Traceback" not in err
    lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    assert any(line["msg"].startswith("cannot leave") for line in lines)

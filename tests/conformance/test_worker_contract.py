"""The worker contract's configuration has the effect its page says, on a real Redis with raw eyes."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from penstock.engines.system.clock import SystemClock
from penstock.model.errors import ErrorReport, Unavailable
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE, Failed, Retry
from penstock.settings import RedisServer, describe, load
from penstock.wiring.producing import a_producer, rate_of
from penstock.wiring.redis import open_redis
from penstock.wiring.store import Store, rules_of
from penstock.wiring.vectors import breaker_rules_of
from penstock.wiring.workers import pace_of
from tests.support.jobs import a_job
from tests.support.near_program import NearProgram
from tests.support.redis_program import RAG, RedisProgram
from tests.support.stalls import Machine
from tests.unit.test_settings_contract import DOCUMENTED

NAMED = {
    "priorities": ["urgent", "calm"],
    "queues": {"urgent": "jobs:urgent", "calm": "jobs:calm"},
    "processing_list_pattern": "jobs:%s:held",
    "heartbeat_key_pattern": "jobs:hb:%s",
    "completed_list": "jobs:completed",
    "dead_letter_list": "jobs:dead",
    "heartbeat_ttl": "20s",
    "max_retries": 1,
    "backoff": {"base": "100s", "max": "150s"},
}
TROUBLE = ErrorReport(code="ERR_TIMEOUT", message="it took too long")


@pytest.fixture
def yard(tmp_path: Path, redis: RedisServer) -> Iterator[RedisProgram]:
    """Every name that may be chosen is."""
    made = RedisProgram(tmp_path, redis, worker=NAMED, producer={"rate_limit_key": "jobs:rate"})
    yield made
    made.bare.close()


# Every key by its environment variable -----------------------------------------------------------------


def flat(tree: dict[str, Any], under: str = "") -> dict[str, Any]:
    """A YAML document as keys and values; a mapping that is one value stays whole."""
    found: dict[str, Any] = {}
    for name, value in tree.items():
        key = f"{under}{name}"
        if isinstance(value, dict) and key != "worker.queues":
            found |= flat(value, f"{key}.")
        else:
            found[key] = value
    return found


def spelt(value: object) -> str:
    """As a shell would say it: lists by commas, mappings as JSON."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize("form", ["bare_environment", "environment"])
def test_every_documented_key_may_come_from_the_environment(tmp_path: Path, form: str) -> None:
    """In upper snake case, with our prefix or without, each says what the file would."""
    path = tmp_path / "documented.yaml"
    path.write_text(DOCUMENTED)
    told = flat(yaml.safe_load(DOCUMENTED))
    variables = {each.key: getattr(each, form) for each in describe()}

    environ = {variables[key]: spelt(value) for key, value in told.items()}

    assert len(environ) == len(told)
    assert load(None, environ, {}) == load(path, {}, {})


def test_the_environment_counts_more_than_the_file_and_a_flag_more_than_both(tmp_path: Path) -> None:
    """YAML < environment < flags."""
    path = tmp_path / "some.yaml"
    path.write_text("worker: {count: 2}")

    assert load(path, {"WORKER_COUNT": "3"}, {}).worker.count == 3
    assert load(path, {"WORKER_COUNT": "3"}, {"worker.count": 4}).worker.count == 4


# What the keys do --------------------------------------------------------------------------------------


def test_every_list_and_key_has_its_configured_name(yard: RedisProgram) -> None:
    """Queues, processing list, heartbeat with its ttl, completed list and dead letters."""
    yard.push(yard.message(1), "jobs:calm")
    yard.push(yard.message(2), "jobs:urgent")

    async def work(store: Store) -> list[str]:
        worker = WorkerId("w7")
        await store.queue.beat(worker, concurrency=1)
        first = await store.queue.claim(worker, 1)
        held = yard.bare.call("LLEN", "jobs:w7:held")
        second = await store.queue.claim(worker, 1)
        await store.queue.settle([(first[0], DONE), (second[0], Failed(TROUBLE))])
        return [first[0].job_id, second[0].job_id, str(held), str(first[0].priority)]

    told = yard.in_store(work)

    assert told == [yard.message(2)["job_id"], yard.message(1)["job_id"], "1", "9"]
    assert 0 < yard.bare.call("TTL", "jobs:hb:w7") <= 20
    assert json.loads(yard.bare.call("LINDEX", "jobs:completed", 0)) == yard.message(2)
    letter = json.loads(yard.bare.call("LINDEX", "jobs:dead", 0))
    assert json.loads(letter["message"]) == yard.message(1)
    assert letter["origin_queue"] == "jobs:calm"
    assert (
        yard.bare.call("EXISTS", "jobs:w7:held", "rag:ingest:queue:dead-letter", "rag:ingest:completed") == 0
    )


def test_our_own_jobs_wait_in_the_configured_lists(yard: RedisProgram) -> None:
    """By the priority's name; one that has none has a list of ours."""
    yard.submit(a_job(priority=9, tenant="local"), a_job(priority=1, tenant="local"))

    assert [yard.bare.call("LLEN", name) for name in ("jobs:urgent", "jobs:calm")] == [1, 1]


def test_a_failure_waits_as_the_backoff_says(yard: RedisProgram) -> None:
    """`min(base * 2^(n-1), max)` with jitter, stored as a due time."""
    (job,) = yard.submit(a_job(tenant="local", max_retries=yard.settings().worker.max_retries))
    assert yard.worked(Retry(TROUBLE)) == [job]
    due = float(yard.bare.call("ZSCORE", "rag:ingest:due", job)) - SystemClock().now()

    assert 70 < due < 130
    assert [rules_of(yard.settings()).backoff.seconds(retry) for retry in (1, 2, 9)] == [100, 150, 150]
    assert (yard.shown(job)["status"], yard.shown(job)["retry_count"]) == ("queued", "1")
    assert yard.rows("retry_count, max_retries") == [(1, 1)]


def test_times_and_limits_reach_those_who_keep_them() -> None:
    """The breaker's four settings, the beat, the wait on empty queues and the reaper's interval."""
    settings = load(
        None,
        {},
        {
            "circuit_breaker.failure_threshold": 0.25,
            "circuit_breaker.window": "2m",
            "circuit_breaker.cooldown_period": "10s",
            "circuit_breaker.min_samples": 5,
            "worker.heartbeat_ttl": "40s",
            "worker.brpoplpush_timeout": "20s",
            "reaper.interval": "250ms",
        },
    )

    breaker, pace = breaker_rules_of(settings), pace_of(settings)

    assert (breaker.failure_threshold, breaker.window) == (0.25, 120.0)
    assert (breaker.cooldown_period, breaker.min_samples) == (10.0, 5)
    assert (pace.dead_after, pace.idle, pace.rescue) == (40.0, 20.0, 0.25)
    assert pace.idle < pace.stuck_after < pace.dead_after


async def test_the_client_keeps_the_configured_times_and_numbers(redis: RedisServer) -> None:
    """One deadline for an operation, one for dialling, so many resends, so many connections."""
    flags = {
        "queue": f"redis://{redis.host}:{redis.port}/{redis.db or 0}",
        "redis.dial_timeout": "2s",
        "redis.read_timeout": "1500ms",
        "redis.write_timeout": "1s",
        "redis.max_retries": 5,
        "redis.pool_size_multiplier": 4,
        "redis.min_idle_conns": 1,
    }
    async with open_redis(load(None, {}, flags), SystemClock()) as client:
        limits = client.limits

    assert (limits.dial_seconds, limits.operation_seconds, limits.resends_max) == (2.0, 1.5, 5)
    assert limits.write_seconds == 1.0
    assert (limits.connections_max, limits.idle_min) == (4 * (os.cpu_count() or 1), 1)


async def test_a_shorter_wait_for_replies_is_kept_whatever_may_be_written(redis: RedisServer) -> None:
    """`read_timeout` alone is the deadline; the longer default for writes does not stretch it."""
    flags = {"queue": f"redis://{redis.host}:{redis.port}/0", "redis.read_timeout": "400ms"}
    async with open_redis(load(None, {}, flags), SystemClock()) as client:
        assert client.limits.operation_seconds == 0.4


def test_the_rate_of_producers_keeps_the_configured_deadline(
    tmp_path: Path, redis: RedisServer, machine: Machine
) -> None:
    """A server that is silent while places are asked for is told of when `read_timeout` is over."""
    asked = {"rate_limit_per_sec": 10}
    yard = RedisProgram(tmp_path, redis, producer=asked, redis={"read_timeout": "300ms"})

    async def work(store: Store) -> float:
        async with rate_of(yard.settings(), store) as rate:
            assert rate is not None
            yard.bare.call("CLIENT", "PAUSE", 2000, "ALL")
            began = time.monotonic()
            with pytest.raises(Unavailable):
                await rate.take(1)
            took = time.monotonic() - began - machine.lost(began)
            await asyncio.sleep(2.0)  # as long as the server was told to be silent
            return took

    assert yard.in_store(work) < 1.5
    yard.bare.close()


def test_the_producer_follows_every_one_of_its_keys(tmp_path: Path, redis: RedisServer) -> None:
    """Globs, default priority, urgent endings and the rate's key; a second look enqueues nothing."""
    drop = tmp_path / "drop"
    (drop / "drafts").mkdir(parents=True)
    for name in ("a.txt", "b.pdf", "c.log", "drafts/d.txt"):
        (drop / name).write_text("hello")
        os.utime(drop / name, (1_700_000_000, 1_700_000_000))
    asked = {
        "scan_dir": str(drop),
        "collection": RAG,
        "include_globs": ["**/*.txt", "**/*.pdf"],
        "exclude_globs": ["drafts/**"],
        "default_priority": "low",
        "high_priority_exts": [".PDF"],
        "rate_limit_per_sec": 1000,
        "rate_limit_key": "jobs:rate",
    }
    yard = RedisProgram(tmp_path, redis, producer=asked)

    async def twice(store: Store) -> list[int]:
        async with a_producer(yard.settings(), store) as producer:
            return [(await producer.scan()).enqueued for _ in range(2)]

    enqueued = yard.in_store(twice)

    assert enqueued == [2, 0]
    lists = [f"rag:ingest:queue:{name}" for name in ("high", "normal", "low")]
    waiting = [yard.bare.call("LRANGE", name, 0, -1) for name in lists]
    assert [[json.loads(each)["filename"] for each in some] for some in waiting] == [["b.pdf"], [], ["a.txt"]]
    assert yard.bare.call("PTTL", "jobs:rate") > 0
    yard.bare.close()


# How the process begins and ends -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "text", "code"),
    [
        (("config", "show"), None, 0),
        (("run", "--role=worker"), "worker: {count: 0}", 3),
        (("run", "--role=producer"), "worker: {heartbeat_ttl: 1s}", 3),
        (("run", "--role=all"), "nobody: {knows: this}", 3),
        (("run", "--role=producer"), "", 3),
        (("run", "--role=nobody"), "", 1),
        (("run", "--role=worker"), "{queue: 'redis://127.0.0.1:1', redis: {dial_timeout: 300ms}}", 4),
        (("run", "--role=worker"), "observability: {tracing: {enabled: true}}", 3),
    ],
    ids=["missing file", "value", "rule", "unknown key", "no folder", "role", "no server", "no endpoint"],
)
def test_a_missing_file_is_allowed_and_what_is_fatal_ends_with_its_code(
    tmp_path: Path, words: tuple[str, ...], text: str | None, code: int
) -> None:
    """Zero, or a number that says whether the request, the configuration or a server is at fault."""
    program = NearProgram(tmp_path)
    program.config = tmp_path / "penstock.yaml"
    if text is not None:
        program.config.write_text(text)

    ran = program(*words)

    assert ran.code == code, ran.err
    assert "Traceback" not in ran.err

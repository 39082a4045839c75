"""Rules between keys, and the defaults that follow other keys."""

from pathlib import Path

import pytest

from penstock.engines.redis import bounds
from penstock.settings import load, redis_rules
from tests.support.settings_files import Configuration


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    return Configuration(tmp_path)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("worker: {heartbeat_interval: 3001ms}", "worker.heartbeat_interval"),
        ("worker: {backoff: {base: 2s, max: 1s}}", "worker.backoff.max"),
        ("worker: {backoff: {base: 2s}}", "worker.backoff.max"),
        ("worker: {backoff: {max: 2s}}", "worker.backoff.base"),
        ("worker: {backoff: {base: 1s, max: 2s}, retry_delays: [1s]}", "worker.retry_delays"),
        ("worker: {priorities: [high, high]}", "worker.priorities"),
        ("worker: {queues: {high: a, normal: a, low: b}}", "worker.queues"),
        ("worker: {dead_letter_list: 'rag:ingest:queue:high'}", "worker.queues"),
        ("worker: {heartbeat_key_pattern: 'jobqueue:worker:%s:processing'}", "worker.queues"),
        ("worker: {completed_list: 'rag:ingest:done'}", "worker.queues"),
        ("worker: {completed_list: 'rag:ingest:queue'}", "worker.queues"),
        ("worker: {completed_list: 'rag:ingest:queue:dead-letter', dead_letter_list: d}", "worker.queues"),
        ("worker: {dead_letter_list: 'rag:ingest:failed'}", "worker.queues"),
        ("worker: {queues: {high: a, normal: b, low: 'rag:ingest:queue:priority-7'}}", "worker.queues"),
        ("worker: {heartbeat_key_pattern: 'rag:ingest:worker:%s'}", "worker.queues"),
        ("producer: {rate_limit_key: 'rag:ingest:counts'}", "worker.queues"),
        ("producer: {default_priority: urgent}", "producer.default_priority"),
        ("observability: {tracing: {enabled: true}}", "observability.tracing.endpoint"),
        ("live: {look_interval: 300ms, hinted_look_interval: 200ms}", "live.hinted_look_interval"),
        ("live: {connections_per_user: 5, connections_max: 4}", "live.connections_per_user"),
        ("redis: {url: 'redis://a', addr: 'b:6379'}", "redis.url"),
        ("redis: {url: 'redis://a:1', addr: 'a:2'}", "redis.url"),
        ("redis: {url: 'redis://ann@a', username: ben}", "redis.url"),
        ("redis: {url: 'redis://:one@a', password: two}", "redis.url"),
        ("redis: {url: 'redis://a/1', db: 2}", "redis.url"),
        ("{queue: 'redis://a', redis: {addr: 'b:6379'}}", "queue"),
        ("{queue: 'redis://a/1', redis: {db: 2}}", "queue"),
        ("{queue: 'redis://a/1', redis: {url: 'redis://a/2'}}", "queue"),
        ("{queue: 'redis://a/1', redis: {url: 'rediss://a/1'}}", "queue"),
        ("{queue: redis, limits: {payload_bytes: 16777217}}", "limits.payload_bytes"),
        ("{queue: 'redis://a', limits: {metadata_bytes: 4194305}}", "limits.metadata_bytes"),
    ],
)
def test_keys_that_clash_are_refused(configuration: Configuration, text: str, key: str) -> None:
    """Values that are fine alone and wrong together name the key to mend and where it was given."""
    (problem,) = configuration.refused(text)

    assert problem.key == key
    assert f"{configuration.path}, line 1" in problem.source


@pytest.mark.parametrize(
    "text",
    [
        "worker: {heartbeat_interval: 3s}",
        "worker: {backoff: {base: 2s, max: 2s}}",
        "worker: {queues: {high: a, normal: 'rag:ingest:queue', low: 'rag:ingest:queue:late'}}",
        "worker: {completed_list: 'rag:ingest:queue:over', dead_letter_list: 'rag:ingest:queue:dead'}",
        "redis: {url: 'redis://ann:one@a:6379/1', addr: 'A', username: ann, password: one, db: 1}",
        "{queue: 'redis://a', redis: {url: 'redis://a:6379', db: 3}}",
        "{queue: redis, redis: {addr: 'b:1'}}",
        "{queue: redis, limits: {payload_bytes: 16MiB, metadata_bytes: 4MiB}}",
        "limits: {payload_bytes: 1GiB, metadata_bytes: 1GiB}",
    ],
)
def test_keys_that_agree_are_accepted(configuration: Configuration, text: str) -> None:
    """Saying one thing twice, or filling what the other leaves open, is no contradiction."""
    assert configuration.load(text) != load(None, {}, {})


def test_a_limit_redis_cannot_keep_says_why(configuration: Configuration) -> None:
    """In words, with the number that was given and the largest there is; the engine has the same bounds."""
    (problem,) = configuration.refused("{queue: redis, limits: {payload_bytes: 17MiB}}")

    assert (problem.wrong, problem.right) == (
        "17,825,792 bytes, and the queue is on Redis",
        "it must be at most 16MiB when queue is Redis",
    )
    told = (redis_rules.PAYLOAD_BYTES_MAX, redis_rules.METADATA_BYTES_MAX)
    assert told == (bounds.PAYLOAD_BYTES_MAX, bounds.METADATA_BYTES_MAX)


def test_clash_across_sources_names_both(configuration: Configuration) -> None:
    """When file and environment clash, the problem tells which said what."""
    (problem,) = configuration.refused(
        "worker: {brpoplpush_timeout: 4s}", {"PENSTOCK_WORKER_HEARTBEAT_TTL": "6s"}
    )

    assert problem.source == (
        f"worker.brpoplpush_timeout from {configuration.path}, line 1; "
        "worker.heartbeat_ttl from environment variable PENSTOCK_WORKER_HEARTBEAT_TTL"
    )
    assert (problem.wrong, problem.right) == (
        "4s against 6s",
        "it must be at most half of worker.heartbeat_ttl",
    )


def test_rules_do_not_judge_what_is_already_refused(configuration: Configuration) -> None:
    """A value that could not be read raises no second alarm through a rule."""
    problems = configuration.refused("worker: {heartbeat_ttl: soon, brpoplpush_timeout: 8s}")

    assert [problem.key for problem in problems] == ["worker.heartbeat_ttl"]


def test_half_a_backoff_with_an_unfit_other_half_is_one_problem(configuration: Configuration) -> None:
    """A half that was given but could not be read is not also called missing."""
    problems = configuration.refused("worker: {backoff: {base: 1s, max: soon}}")

    assert [problem.key for problem in problems] == ["worker.backoff.max"]


def test_heartbeat_interval_follows_a_short_ttl() -> None:
    """The contract's shortest ttl works without naming an interval of ours."""
    assert load(None, {}, {"worker.heartbeat_ttl": "5s"}).worker.heartbeat_interval == 5 / 3


def test_default_priority_follows_the_priorities() -> None:
    """Without a "normal", files take the last priority there is."""
    assert load(None, {}, {"worker.priorities": "high,low"}).producer.default_priority == "low"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, ("localhost", 6379, False, None, None, 0)),
        ({"redis.addr": "a:1", "redis.username": "ann", "redis.password": "one", "redis.db": 2},
         ("a", 1, False, "ann", "one", 2)),
        ({"redis.url": "rediss://ann:o%2Fne@a/3", "queue": "redis"}, ("a", 6379, True, "ann", "o/ne", 3)),
        ({"queue": "redis://b:2", "redis.password": "one", "redis.db": 4}, ("b", 2, False, None, "one", 4)),
        ({"redis.addr": "[::1]:7"}, ("::1", 7, False, None, None, 0)),
    ],
)  # fmt: skip
def test_one_redis_server_is_in_force(flags: dict[str, object], expected: tuple[object, ...]) -> None:
    """The queue's URL wins over redis.url, that over redis.addr, and the section fills the gaps."""
    server = load(None, {}, flags).redis_server()

    password = server.password.reveal() if server.password else None
    assert (server.host, server.port, server.tls, server.username, password, server.db) == expected

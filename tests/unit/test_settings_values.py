"""Every kind of value: what it takes, what it refuses, and how it says so."""

from pathlib import Path

import pytest

from penstock.settings import load
from tests.support.settings_files import Configuration


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    return Configuration(tmp_path)


@pytest.mark.parametrize(
    ("key", "written"),
    [
        ("worker.count", '"2"'),
        ("worker.count", "2.0"),
        ("worker.count", "010"),
        ("worker.count", "0x10"),
        ("worker.count", "1_000"),
        ("worker.count", "true"),
        ("worker.count", "[1]"),
        ("worker.count", "{a: 1}"),
        ("worker.count", "1025"),
        ("worker.count", "9" * 5000),
        ("worker.max_retries", "-1"),
        ("worker.tenant_limit", "-1"),
        ("worker.longest_waiting_every", "-1"),
        ("worker.concurrency", "0"),
        ("redis.db", "-1"),
        ("redis.pool_size_multiplier", "0"),
        ("circuit_breaker.min_samples", "0"),
        ("reaper.scan_count", "0"),
        ("observability.metrics_port", "65536"),
        ("observability.metrics_port", "-1"),
        ("circuit_breaker.failure_threshold", "0"),
        ("circuit_breaker.failure_threshold", "1.01"),
        ("circuit_breaker.failure_threshold", ".nan"),
        ("circuit_breaker.failure_threshold", "half"),
        ("observability.tracing.enabled", "perhaps"),
        ("observability.tracing.enabled", '"true"'),
        ("observability.log_level", "loud"),
        ("profile", "staging"),
        ("sqlite.synchronous", "off"),
        ("worker.lease", "0"),
        ("worker.lease", "-5s"),
        ("worker.lease", "5 parsecs"),
        ("worker.lease", "100000d"),
        ("worker.lease", "1s"),
        ("worker.leases", "{file: 1900ms}"),
        ("worker.poll_interval", "0s"),
        ("retention.done", "0"),
        ("sqlite.busy_timeout", "[]"),
        ("limits.payload_bytes", "0"),
        ("limits.payload_bytes", "2GiB"),
        ("limits.payload_bytes", "1MB"),
        ("limits.bulk", "0"),
        ("worker.completed_list", '""'),
        ("worker.completed_list", '"two\\nlines"'),
        ("worker.completed_list", "[a]"),
        ("worker.processing_list_pattern", "worker:processing"),
        ("worker.processing_list_pattern", "worker:%s:%s"),
        ("worker.processing_list_pattern", "worker:%s:%d"),
        ("worker.heartbeat_key_pattern", "worker:%%s"),
        ("worker.heartbeat_key_pattern", "worker:100%%:%s"),
        ("worker.priorities", "high"),
        ("worker.priorities", "[high, {}]"),
        ("worker.priorities", "[high, null]"),
        ("worker.retry_delays", "[]"),
        ("worker.retry_delays", "[5s, soon]"),
        ("worker.queues", "[high]"),
        ("worker.queues", "{high: a, normal: [b], low: c}"),
        ("worker.leases", "{contents: 5m}"),
        ("worker.timeouts", "{file: 0s}"),
        ("worker.queues", "{" + ", ".join(f"p{each}: q{each}" for each in range(101)) + "}"),
        ("producer.include_globs", str(["*"] * 101)),
        ("producer.high_priority_exts", "['*.pdf']"),
        ("producer.scan_dir", "[a]"),
        ("redis.addr", "cache:99999"),
        ("redis.addr", "cache:x"),
        ("redis.addr", "redis://cache:6379"),
        ("redis.url", "http://cache:6379"),
        ("redis.url", "redis://cache:6379/jobs"),
        ("redis.url", "redis://"),
        ("database", "mysql://db/x"),
        ("database", "sqlite:///x"),
        ("queue", "kafka://broker:9092"),
        ("blobs", "disks"),
        ("blobs", "s3://"),
        ("vectors", "qdrant:6333"),
        ("events", "kafka://broker:0"),
        ("embedder", "ftp://models"),
        ("answerer", "https://a b"),
        ("observability.tracing.endpoint", "collector"),
    ],
)
def test_unfit_value_is_refused(configuration: Configuration, key: str, written: str) -> None:
    """A value of the wrong type or out of bounds names its key, its line and what would be right."""
    *sections, name = key.split(".")
    text = "".join(f"{'  ' * depth}{section}:\n" for depth, section in enumerate(sections))
    problems = configuration.refused(f"{text}{'  ' * len(sections)}{name}: {written}\n")

    assert [problem.key for problem in problems] == [key]
    assert problems[0].source == f"{configuration.path}, line {len(sections) + 1}"
    assert problems[0].wrong
    assert problems[0].right.startswith("give ")
    assert len(str(problems[0])) < 600


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True),
        ("yes", True),
        ("ON", True),
        ("1", True),
        ("false", False),
        ("no", False),
        ("off", False),
    ],
)
def test_switches_take_the_usual_words(configuration: Configuration, written: str, value: bool) -> None:
    """On and off in the words people use."""
    tracing = f"observability: {{tracing: {{enabled: {written}, endpoint: 'collector:4317'}}}}"

    assert configuration.load(tracing).observability.tracing.enabled is value


@pytest.mark.parametrize(
    ("written", "value"), [("4096", 4096), ("64KiB", 65536), ("1MiB", 1048576), ("1GiB", 1 << 30)]
)
def test_sizes_take_binary_units(configuration: Configuration, written: str, value: int) -> None:
    """Bytes bare or in KiB, MiB and GiB."""
    assert configuration.load(f"limits: {{payload_bytes: {written}}}").limits.payload_bytes == value


def test_text_stays_as_written(configuration: Configuration) -> None:
    """What looks like a number, a date or a switch is text where text belongs."""
    settings = configuration.load(
        "redis: {password: 0123}\n"
        "worker: {completed_list: 2024-01-01, priorities: [no], queues: {no: 1:30}}\n"
    )

    assert settings.redis.password is not None
    assert settings.redis.password.reveal() == "0123"
    assert settings.worker.completed_list == "2024-01-01"
    assert settings.worker.queues == {"no": "1:30"}


def test_every_bad_item_of_a_list_is_told(configuration: Configuration) -> None:
    """One look at the error is enough to mend the whole list."""
    (problem,) = configuration.refused("worker: {retry_delays: [5s, soon, 10s, later]}")

    assert "item 2: 'soon'" in problem.wrong
    assert "item 4: 'later'" in problem.wrong


def test_unknown_item_type_is_refused_with_a_suggestion(configuration: Configuration) -> None:
    """A lease for an item type that does not exist names the one that was meant."""
    (problem,) = configuration.refused("worker: {leases: {foldr: 5m}}")

    assert "did you mean folder?" in problem.wrong


@pytest.mark.parametrize(
    ("key", "written", "scheme"),
    [
        ("database", "postgresql://u:p@a:5432,b:5432/penstock", "postgresql"),
        ("database", "postgres://a/penstock", "postgresql"),
        ("database", "postgresql:///penstock?host=/run/postgresql", "postgresql"),
        ("queue", "redis", "redis"),
        ("queue", "rediss://cache/1", "rediss"),
        ("blobs", "s3://bucket/prefix", "s3"),
        ("vectors", "https://qdrant:6333", "https"),
        ("events", "kafka://a:9092,b:9092/penstock", "kafka"),
        ("vectors", "http://[::1]:8080/v1", "http"),
        ("answerer", "extractive", "extractive"),
    ],
)
def test_engines_are_chosen_by_address(key: str, written: str, scheme: str) -> None:
    """A word stands for what is built in, a URL's scheme for the engine behind it."""
    address = getattr(load(None, {}, {key: written}), key)

    assert address.scheme == scheme
    assert address.is_url is ("://" in written)


def test_collector_may_be_named_by_host_and_port() -> None:
    """A bare host:port is read as an http URL."""
    endpoint = load(
        None, {}, {"observability.tracing.endpoint": "collector:4317"}
    ).observability.tracing.endpoint

    assert endpoint is not None
    assert endpoint.reveal() == "http://collector:4317"


def test_empty_text_unsets_what_may_be_unset(configuration: Configuration) -> None:
    """Templates write empty quotes for "none"."""
    settings = configuration.load('redis: {username: "", password: ""}\nproducer: {scan_dir: ""}')

    assert settings == configuration.load()

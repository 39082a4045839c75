"""The worker contract's configuration: its keys, its rules, its bare variables."""

from pathlib import Path

import pytest

from penstock.settings import Backoff, describe, load
from tests.support.settings_files import Configuration

DOCUMENTED = """\
redis:
  addr: redis.internal:6380
  username: penstock
  password: hunter2
  db: 2
  pool_size_multiplier: 5
  min_idle_conns: 4
  dial_timeout: 2s
  read_timeout: 1500ms
  write_timeout: 1.5s
  max_retries: 5
worker:
  count: 8
  heartbeat_ttl: 30s
  max_retries: 4
  backoff: { base: 500ms, max: 1m }
  priorities: [high, low]
  queues: { high: "jobqueue:high", low: "jobqueue:low" }
  processing_list_pattern: jobqueue:worker:%s:active # printf format, %s workerID
  heartbeat_key_pattern: jobqueue:hb:%s              # printf format, %s workerID
  completed_list: jobqueue:completed
  dead_letter_list: jobqueue:dead
  brpoplpush_timeout: 2s
producer:
  scan_dir: ./inbox
  include_globs: ["**/*.pdf", "**/*.md"]
  exclude_globs: ["**/drafts/**"]
  default_priority: low
  high_priority_exts: [.pdf, DOCX]
  rate_limit_per_sec: 50
  rate_limit_key: jobqueue:rate
circuit_breaker:
  failure_threshold: 0.25
  window: 2m
  cooldown_period: 10s
  min_samples: 5
observability:
  metrics_port: 9090
  log_level: warn
  queue_sample_interval: 10s
  tracing: { enabled: true, endpoint: "http://collector:4318" }
"""

TEN = [f"p{number}" for number in range(10)]
"""One more priority than there are numbers between high and low: two of them would share a list."""


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    return Configuration(tmp_path)


def test_documented_tree_loads_whole(configuration: Configuration) -> None:
    """Every key of the contract's YAML is accepted and arrives under its own name."""
    settings = configuration.load(DOCUMENTED)

    redis, worker, producer = settings.redis, settings.worker, settings.producer
    assert (redis.addr, redis.username, redis.db) == ("redis.internal:6380", "penstock", 2)
    assert redis.password is not None
    assert redis.password.reveal() == "hunter2"
    assert (redis.pool_size_multiplier, redis.min_idle_conns, redis.max_retries) == (5, 4, 5)
    assert (redis.dial_timeout, redis.read_timeout, redis.write_timeout) == (2.0, 1.5, 1.5)
    assert (worker.count, worker.heartbeat_ttl, worker.max_retries) == (8, 30.0, 4)
    assert worker.backoff == Backoff(base=0.5, max=60.0)
    assert worker.priorities == ("high", "low")
    assert worker.queues == {"high": "jobqueue:high", "low": "jobqueue:low"}
    assert worker.processing_list_pattern == "jobqueue:worker:%s:active"
    assert worker.heartbeat_key_pattern == "jobqueue:hb:%s"
    assert (worker.completed_list, worker.dead_letter_list) == ("jobqueue:completed", "jobqueue:dead")
    assert worker.brpoplpush_timeout == 2.0
    assert producer.scan_dir == Path("inbox")
    assert producer.include_globs == ("**/*.pdf", "**/*.md")
    assert producer.exclude_globs == ("**/drafts/**",)
    assert producer.default_priority == "low"
    assert producer.high_priority_exts == (".pdf", ".docx")
    assert (producer.rate_limit_per_sec, producer.rate_limit_key) == (50, "jobqueue:rate")


def test_documented_breaker_and_observability_load(configuration: Configuration) -> None:
    """The contract's last two sections arrive under their own names."""
    settings = configuration.load(DOCUMENTED)

    breaker, seen = settings.circuit_breaker, settings.observability
    assert (breaker.failure_threshold, breaker.window) == (0.25, 120.0)
    assert (breaker.cooldown_period, breaker.min_samples) == (10.0, 5)
    assert (seen.metrics_port, seen.log_level, seen.queue_sample_interval) == (9090, "warning", 10.0)
    assert seen.tracing.enabled
    assert seen.tracing.endpoint is not None
    assert seen.tracing.endpoint.reveal() == "http://collector:4318"


def test_queue_contract_connection_loads(configuration: Configuration) -> None:
    """The queue contract's `redis: {url, password, db}` names one server."""
    settings = configuration.load('redis:\n  url: "redis://redis:6379/0"\n  password: null\n  db: 0\n')

    server = settings.redis_server()
    assert (server.host, server.port, server.db, server.password) == ("redis", 6379, 0, None)


def test_missing_file_means_defaults(tmp_path: Path) -> None:
    """A file that is not there is allowed and changes nothing."""
    assert load(tmp_path / "absent.yaml", {}, {}) == load(None, {}, {})


def test_defaults_are_the_promised_ones() -> None:
    """Without any source the documented defaults are in force."""
    settings = load(None, {}, {})

    worker = settings.worker
    assert (worker.count, worker.max_retries, worker.backoff) == (1, 3, None)
    assert worker.retry_delays == (5.0, 10.0, 30.0)
    assert (worker.heartbeat_ttl, worker.heartbeat_interval, worker.brpoplpush_timeout) == (9.0, 2.0, 1.0)
    assert worker.queues["normal"] == "rag:ingest:queue:normal"
    assert worker.dead_letter_list == "rag:ingest:queue:dead-letter"
    assert (worker.park_max, worker.lease, worker.timeout) == (86400.0, 300.0, 3600.0)
    assert (settings.circuit_breaker.failure_threshold, settings.circuit_breaker.window) == (0.5, 60.0)
    assert (settings.circuit_breaker.cooldown_period, settings.circuit_breaker.min_samples) == (30.0, 20)
    assert (settings.limits.payload_bytes, settings.limits.metadata_bytes) == (1048576, 65536)
    assert (settings.data, settings.database.scheme, settings.queue.scheme) == (
        Path("data"),
        "sqlite",
        "database",
    )


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("worker: {count: 0}", "worker.count"),
        ("worker: {priorities: []}", "worker.priorities"),
        ("worker: {priorities: [high, urgent]}", "worker.priorities"),
        (f"worker: {{priorities: {TEN}, queues: {dict(zip(TEN, TEN, strict=True))}}}", "worker.priorities"),
        ("worker: {heartbeat_ttl: 4999ms}", "worker.heartbeat_ttl"),
        ("worker: {brpoplpush_timeout: 4501ms}", "worker.brpoplpush_timeout"),
        ("producer: {rate_limit_per_sec: -1}", "producer.rate_limit_per_sec"),
    ],
)
def test_documented_rules_are_kept(configuration: Configuration, text: str, key: str) -> None:
    """Each validation rule of the contract refuses what it forbids, naming the key and the line."""
    problems = configuration.refused(text)

    assert [(problem.key, problem.source) for problem in problems] == [(key, f"{configuration.path}, line 1")]


@pytest.mark.parametrize(
    "text",
    [
        "worker: {count: 1}",
        "worker: {heartbeat_ttl: 5s, brpoplpush_timeout: 2500ms}",
        "worker: {priorities: [low]}",
        "worker: {priorities: [only], queues: {only: 'jobs'}}",
        "producer: {rate_limit_per_sec: 0}",
    ],
)
def test_documented_rules_allow_their_bounds(configuration: Configuration, text: str) -> None:
    """What the contract allows is allowed, defaults of ours notwithstanding."""
    settings = configuration.load(text)

    assert settings.producer.default_priority in settings.worker.priorities
    assert settings.worker.heartbeat_interval <= settings.worker.heartbeat_ttl / 3


def test_bare_variables_are_exactly_the_documented_keys(configuration: Configuration) -> None:
    """The bare form exists for each key of the contract's YAML and for no other."""
    documented = configuration.load(DOCUMENTED).as_shown()
    expected = set()
    for section in ("redis", "worker", "producer", "circuit_breaker", "observability"):
        expected |= {f"{section}.{name}" for name in documented[section] if f"  {name}: " in DOCUMENTED}
    expected -= {"worker.backoff", "observability.tracing"}
    expected |= {"worker.backoff.base", "worker.backoff.max"}
    expected |= {"observability.tracing.enabled", "observability.tracing.endpoint"}

    assert {each.key for each in describe() if each.bare_environment} == expected

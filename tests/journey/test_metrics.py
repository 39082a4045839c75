"""Metrics, health and spans of the real program, with workers that fail, die and are told to stop."""

import json
import time
from collections.abc import Callable

import pytest

from penstock.model.jobs import NewJob
from tests.support.collector import a_collector, attributes_of
from tests.support.handlers_for_tests import script
from tests.support.jobs import a_note
from tests.support.metrics import Numbers, fetched, numbers_of
from tests.support.processes import PATIENCE, Plant
from tests.support.servers.launching import free_port

TRACE_ID, SPAN_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
COUNTERS = ("_total", "_count", "_sum", "_bucket")


@pytest.fixture
def port(plant: Plant) -> int:
    """Where the plant's supervisor serves."""
    port = free_port()
    plant.choose(
        observability_metrics_port=str(port),
        observability_queue_sample_interval="50ms",
        worker_retry_delays="50ms",
    )
    return port


def scraped(port: int) -> Numbers:
    status, text = fetched(port, "/metrics")
    assert status == 200
    return numbers_of(text)


def settled(port: int, condition: Callable[[Numbers], bool]) -> Numbers:
    """The first scrape of which it is true: ends are looked up, and the store sampled, a moment later."""
    deadline = time.monotonic() + PATIENCE
    while not condition(numbers := scraped(port)):
        assert time.monotonic() < deadline, {key: value for key, value in numbers.samples.items() if value}
        time.sleep(0.02)
    return numbers


def notes(*steps: str, count: int = 1, priority: int = 5) -> list[NewJob]:
    return [a_note(script(*steps), priority=priority) for _ in range(count)]


def test_the_numbers_agree_with_the_store(plant: Plant, port: int) -> None:
    """I4: produced, done, failed and tried again are what the table says, over two worker processes."""
    worker = plant.worker(count=2)
    plant.submit(notes(count=20) + notes(priority=9, count=5) + notes("refuse", priority=1, count=3))
    plant.submit(notes("fail 2", count=2) + notes("fail 9", count=2))
    plant.drain()

    numbers = settled(
        port,
        lambda n: (
            n.by_queue("jobs_dead_letter_total") == {"normal": 2, "low": 3}
            and _balanced(n)
            and not n.by_queue("queue_length")
        ),
    )

    assert numbers.by_queue("jobs_produced_total") == {"high": 5, "normal": 24, "low": 3}
    assert numbers.by_queue("jobs_completed_total") == {"high": 5, "normal": 22}
    assert numbers.by_queue("jobs_retried_total") == {"normal": 2 * 2 + 2 * 3}
    assert numbers.by_reason() == {"permanent": 3, "transient": 2 * 2 + 2 * 4}
    assert plant.count("status = 'done'") == sum(numbers.by_queue("jobs_completed_total").values())
    assert plant.count("status = 'failed'") == sum(numbers.by_queue("jobs_dead_letter_total").values())
    assert worker.stop() == 0


def _balanced(numbers: Numbers) -> bool:
    """Every attempt that began has ended, one way or the other."""
    sums = {
        name: sum(numbers.by_queue(name).values())
        for name in ("jobs_consumed_total", "jobs_completed_total", "jobs_failed_total")
    }
    return sums["jobs_consumed_total"] == sums["jobs_completed_total"] + sums["jobs_failed_total"]


def test_a_killed_worker_takes_no_count_with_it(plant: Plant, port: int) -> None:
    """T4: what was counted before stays, counters only rise, and the rescue and the poison are told."""
    worker = plant.worker()
    plant.submit(notes(count=10))
    plant.drain()
    before = settled(port, lambda n: n.by_queue("jobs_completed_total") == {"normal": 10})

    (deadly,) = plant.submit(notes("die 9"))
    plant.drain()
    after = settled(port, lambda n: n.by_queue("jobs_dead_letter_total") == {"normal": 1})

    assert plant.job(deadly.job_id)["error_code"] == "ERR_POISON"
    for (name, labels), value in before.samples.items():
        if name.endswith(COUNTERS):
            assert after.samples[name, labels] >= value
    assert after.by_queue("jobs_completed_total") == {"normal": 10}
    assert after.by_reason() == {"crash": 3}
    assert after.value("reaper_jobs_moved_total") == 3
    assert after.by_queue("jobs_retried_total") == {"normal": 2}
    assert worker.stop() == 0


def test_what_waits_is_measured(plant: Plant, port: int) -> None:
    """Ready jobs are counted by queue while the worker is busy with others."""
    gate = plant.folder / "gate"
    worker = plant.worker(concurrency=1)
    plant.submit(notes(f"until {gate}", priority=9))
    plant.wait_until(lambda: plant.count("status = 'in_progress'") == 1, "one runs", worker)
    plant.submit(notes(count=3) + notes(priority=1, count=2))

    waiting = settled(port, lambda n: n.by_queue("queue_length") == {"normal": 3, "low": 2})
    gate.touch()
    plant.drain()
    settled(port, lambda n: n.by_queue("queue_length") == {})

    assert waiting.by_queue("jobs_produced_total") == {"high": 1, "normal": 3, "low": 2}
    assert worker.stop() == 0


def test_health_is_told(plant: Plant, port: int) -> None:
    """Alive and ready while it works; not ready once its only worker is frozen and no longer beats."""
    plant.choose(worker_heartbeat_ttl="5s", worker_heartbeat_interval="500ms")
    worker = plant.worker()
    working = fetched(port, "/readyz")
    missing = fetched(port, "/else")

    (child,) = worker.children()
    plant.freeze(child)
    deadline = time.monotonic() + PATIENCE
    while (frozen := fetched(port, "/readyz"))[0] == 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    alive = fetched(port, "/healthz")
    worker.kill_tree()

    assert working == (200, '{"ready": true, "store": "reachable", "workers_alive": 1}\n')
    assert frozen == (503, '{"ready": false, "store": "reachable", "workers_alive": 0}\n')
    assert alive == (200, '{"alive": true}\n')
    assert missing[0] == 404


def test_a_port_that_is_taken_ends_the_start(plant: Plant, port: int) -> None:
    """With the setting's name, and before any worker runs."""
    first = plant.worker()
    second = plant.program("worker")

    assert second.wait() == 3
    assert "observability.metrics_port" in second.said()
    assert first.stop() == 0


def test_every_job_is_a_span(plant: Plant) -> None:
    """A message's trace is continued, each attempt has its end, and logs name the same trace."""
    with a_collector() as collector:
        plant.choose(
            observability_tracing_enabled="true",
            observability_tracing_endpoint=collector.url,
            worker_retry_delays="50ms",
        )
        worker = plant.worker()
        traced = a_note(script("fail 1"), metadata={"trace_id": TRACE_ID, "span_id": SPAN_ID})
        plant.submit([traced, *notes(), *notes("refuse")])
        plant.drain()
        assert worker.stop() == 0

    outcomes = sorted(str(attributes_of(span)["outcome"]) for span in collector.spans)
    mine = [span for span in collector.spans if attributes_of(span)["job_id"] == traced.id]
    lines = [json.loads(line) for line in worker.said().splitlines() if line.startswith("{")]
    (failed,) = [line for line in lines if line["msg"].startswith("handler failed")]
    assert outcomes == ["done", "done", "failed", "retry"]
    assert {span.trace_id.hex() for span in mine} == {TRACE_ID}
    assert {span.parent_span_id.hex() for span in mine} == {SPAN_ID}
    assert sorted(str(attributes_of(span)["outcome"]) for span in mine) == ["done", "retry"]
    assert (failed["trace_id"], failed["job_id"]) == (TRACE_ID, traced.id)
    assert failed["span_id"] in {span.span_id.hex() for span in mine}


def test_a_dead_collector_costs_no_job(plant: Plant) -> None:
    """Everything is done, and the worker ends in time."""
    plant.choose(
        observability_tracing_enabled="true",
        observability_tracing_endpoint=f"127.0.0.1:{free_port()}",
    )
    worker = plant.worker()
    plant.submit(notes(count=50))
    plant.drain()

    assert plant.count("status = 'done'") == 50
    assert worker.stop(10.0) == 0

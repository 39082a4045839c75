"""The page of metrics: the contract's names and labels, and nothing else, summed over all processes."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics

from penstock.engines.sqlite import open_sqlite
from penstock.engines.telemetry.board import Board
from penstock.engines.telemetry.labels import Labels
from penstock.engines.telemetry.page import Page
from penstock.engines.telemetry.teller import Teller
from penstock.model.errors import Unavailable
from penstock.model.jobs import Job, JobId
from penstock.model.outcomes import DONE
from penstock.model.rules import Rules
from penstock.model.tallies import QUEUES_MAX, Reason
from penstock.work.breaker import BreakerRules, Breakers
from tests.contract.steps import claim_one, drain, submit
from tests.support.clock import FakeClock
from tests.support.jobs import a_delete, a_job
from tests.support.leases import a_lease
from tests.support.metrics import numbers_of

CONTRACT = {
    "jobs_produced_total": {"queue"},
    "jobs_consumed_total": {"queue"},
    "jobs_completed_total": {"queue"},
    "jobs_failed_total": {"queue", "reason"},
    "jobs_retried_total": {"queue"},
    "jobs_dead_letter_total": {"queue"},
    "job_processing_duration_seconds_bucket": {"queue", "le"},
    "job_processing_duration_seconds_count": {"queue"},
    "job_processing_duration_seconds_sum": {"queue"},
    "queue_length": {"queue"},
    "circuit_breaker_state": {"queue"},
    "reaper_jobs_moved_total": set(),
}
REFERENCE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"


@pytest.fixture
def page(clock: FakeClock) -> Iterator[Page]:
    made = Page(Labels(), clock)
    yield made
    made.close()


@pytest.fixture
def board(page: Page) -> Board:
    board, descriptor = page.open_board()
    os.close(descriptor)
    return board


async def nobody(_: JobId) -> Job | None:
    return None


def text(page: Page) -> str:
    return page.text()[0].decode()


def test_names_and_labels_are_those_of_the_contract(page: Page) -> None:
    """Every one is there from the first scrape on, with every queue, and none beside them."""
    found: dict[str, set[str]] = {}
    values: dict[str, set[str]] = {}
    for name, labels in numbers_of(text(page)).samples:
        found.setdefault(name, set()).update(dict(labels))
        for label, value in labels:
            values.setdefault(label, set()).add(value)

    assert found == CONTRACT
    assert values["queue"] == {"high", "normal", "low", "other"}
    assert values["reason"] == set(Reason)
    assert all(len(each) <= QUEUES_MAX for each in values.values())


def test_every_metric_is_on_the_reference_page() -> None:
    """Names and labels on the page are those of the code, no more and no fewer."""
    rows = re.findall(r"^\| `(\w+)` \| \w+ \|([^|]*)\|", REFERENCE.read_text(encoding="utf-8"), re.MULTILINE)
    told = {name: set(re.findall(r"`(\w+)`", labels)) for name, labels in rows}
    histogram = {"job_processing_duration_seconds": {"queue"}}

    assert told == histogram | {name: labels for name, labels in CONTRACT.items() if "_seconds" not in name}


def test_the_page_speaks_open_metrics_too(page: Page) -> None:
    """To a scraper that asks for it."""
    body, content_type = page.text("application/openmetrics-text; version=1.0.0")

    assert content_type.startswith("application/openmetrics-text")
    assert "jobs_produced" in {family.name for family in open_metrics(body.decode())}  # type: ignore[no-untyped-call]


def test_what_the_dead_counted_stays(page: Page, board: Board) -> None:
    """T4: a sum over living and dead processes never goes down."""
    other, descriptor = page.open_board()
    os.close(descriptor)
    for each in (board, other):
        Teller(nobody, FakeClock(), each).began(a_lease())
    before = numbers_of(text(page))
    page.retire(other)
    after = numbers_of(text(page))

    assert before.by_queue("jobs_consumed_total") == {"normal": 2}
    assert after.samples == before.samples


def test_a_killed_process_loses_nothing_it_counted(page: Page) -> None:
    """T4: it counts by descriptor, dies by SIGKILL, and its numbers are there."""
    board, descriptor = page.open_board()
    code = (
        "import os, signal, sys\n"
        "from penstock.engines.telemetry.board import Board, CONSUMED\n"
        "from penstock.engines.telemetry.labels import Labels\n"
        "board = Board(int(sys.argv[1]), Labels())\n"
        "for _ in range(1000): board.of_queue(0)[CONSUMED] += 1\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    died = subprocess.run(
        [sys.executable, "-c", code, str(descriptor)], pass_fds=[descriptor], timeout=30, check=False
    )
    os.close(descriptor)
    page.retire(board)

    assert died.returncode == -signal.SIGKILL
    assert numbers_of(text(page)).value("jobs_consumed_total", queue="high") == 1000


def test_every_duration_falls_into_its_bucket(page: Page, board: Board) -> None:
    """Bounds belong to the bucket below them; the longest have one of their own."""
    teller = Teller(nobody, FakeClock(), board)
    for seconds in (0.0005, 0.001, 0.3, 100_000.0):
        teller.ended(a_lease(), DONE, seconds)

    numbers = numbers_of(text(page))
    name = "job_processing_duration_seconds"

    assert numbers.value(f"{name}_bucket", queue="normal", le="0.001") == 2
    assert numbers.value(f"{name}_bucket", queue="normal", le="0.25") == 2
    assert numbers.value(f"{name}_bucket", queue="normal", le="0.5") == 3
    assert numbers.value(f"{name}_bucket", queue="normal", le="3600.0") == 3
    assert numbers.value(f"{name}_bucket", queue="normal", le="+Inf") == 4
    assert numbers.value(f"{name}_sum", queue="normal") == pytest.approx(100_000.3015)


def test_unknown_queues_are_other(page: Page) -> None:
    """Whatever a store calls its queues, the labels stay the same."""
    page.produced({"high": 2, "strange": 3, "stranger": 4})
    page.produced({"strange": 1})
    page.measured({"low": 5, "strange": 6})

    numbers = numbers_of(text(page))

    assert numbers.by_queue("jobs_produced_total") == {"high": 2, "other": 8}
    assert numbers.by_queue("queue_length") == {"low": 5, "other": 6}


def test_the_worst_breaker_is_shown(page: Page, board: Board, clock: FakeClock) -> None:
    """0 closed, 2 open, 1 once it may be probed, 0 again when the probe went well."""
    teller = Teller(nobody, clock, board)
    rules = BreakerRules(min_samples=1, cooldown_period=30.0)
    breakers = Breakers(clock, rules, teller)
    seen = []

    def look() -> None:
        found = {v for (name, _), v in numbers_of(text(page)).samples.items() if "breaker" in name}
        seen.append(found)

    breakers.of("calm")
    look()
    with pytest.raises(Unavailable), breakers.of("endpoint").call():
        raise Unavailable("down")
    look()
    clock.advance(31)
    look()
    with breakers.of("endpoint").call():
        pass
    look()

    assert seen == [{0.0}, {2.0}, {1.0}, {0.0}]


def test_a_dead_process_leaves_nothing_alone(page: Page, board: Board, clock: FakeClock) -> None:
    """Its breakers ended with it."""
    Teller(nobody, clock, board).left_alone(clock.steady() + 30)
    page.retire(board)

    assert numbers_of(text(page)).by_queue("circuit_breaker_state") == {}


async def test_the_store_tells_what_waits_and_what_is_new(tmp_path: Path, clock: FakeClock) -> None:
    """Whoever submitted: the first look starts from what is there, delayed and running jobs do not wait."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=clock, synchronous="normal")
    meter = store.meter
    try:
        await submit(store.queue, a_job())
        first = await meter.produced()
        await submit(
            store.queue, a_job(priority=9), a_job(), a_delete(priority=1), a_job(run_at=clock.now() + 60)
        )
        await claim_one(store.queue)

        assert first == {}
        assert await meter.lengths() == {"high": 1, "normal": 2}
        assert await meter.produced() == {"high": 2, "normal": 2}
        assert await meter.produced() == {}
        assert await meter.produced() == {}
    finally:
        await store.close()


async def test_an_emptied_table_is_counted_from_its_beginning(tmp_path: Path, clock: FakeClock) -> None:
    """Row numbers begin anew when every job was pruned."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=clock, synchronous="normal")
    meter = store.meter
    try:
        await submit(store.queue, *(a_job() for _ in range(3)))
        await meter.produced()
        await drain(store.queue)
        clock.advance(60)
        await store.queue.prune(done_before=clock.now(), failed_before=clock.now())
        await submit(store.queue, a_job())

        assert await meter.produced() == {"normal": 1}
    finally:
        await store.close()

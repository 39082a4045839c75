"""Spans of attempts, as a real collector receives them; one that is dead is nobody's trouble."""

import json
import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.engines.telemetry.current import current_facts
from penstock.engines.telemetry.teller import Teller
from penstock.engines.telemetry.tracing import (
    LAST_SECONDS,
    SEND_SECONDS,
    Collector,
    OtlpSpans,
    traces_url,
    word_of,
)
from penstock.model.errors import ErrorReport
from penstock.model.jobs import Job, JobId
from penstock.model.outcomes import DONE, RELEASE, Failed, Outcome, Park, Retry
from tests.support.clock import FakeClock
from tests.support.collector import Collector as Received
from tests.support.collector import a_collector, attributes_of
from tests.support.leases import a_lease
from tests.support.servers.launching import free_port
from tests.support.stalls import Machine

TRACE_ID, SPAN_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
ERROR = ErrorReport(code="ERR_PDF_INVALID", message="the patient's name")


@pytest.fixture
def received() -> Iterator[Received]:
    with a_collector() as collector:
        yield collector


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    """Leave the SDK's own logging as it was."""
    sdk = logging.getLogger("opentelemetry")
    level = sdk.level
    yield
    sdk.setLevel(level)


def spans_to(url: str) -> OtlpSpans:
    return OtlpSpans(Collector(url=url, shown="the collector", version="1.2.3", instance="w1"))


async def nobody(_: JobId) -> Job | None:
    return None


async def test_an_attempt_is_one_span_with_queue_job_and_outcome(received: Received) -> None:
    """Sent as OTLP over HTTP to the usual path, under our service's name."""
    spans, lease = spans_to(received.url), a_lease(priority=9)
    spans.begin(lease)
    spans.end(lease, DONE)
    await spans.close()

    (span,) = received.spans
    facts = attributes_of(span)
    resource = {
        each.key: each.value.string_value
        for each in received.requests[0].resource_spans[0].resource.attributes
    }
    assert received.paths == ["/v1/traces"]
    assert (facts["queue"], facts["job_id"], facts["outcome"]) == ("high", lease.job_id, "done")
    assert (facts["attempt"], facts["item_type"], facts["op"]) == (1, "content", "ingest")
    assert span.end_time_unix_nano >= span.start_time_unix_nano > 0
    assert (resource["service.name"], resource["service.instance.id"]) == ("penstock", "w1")
    assert len(span.trace_id) == 16
    assert span.parent_span_id == b""


@pytest.mark.parametrize("span_id", [SPAN_ID, None])
async def test_a_message_with_a_trace_is_continued(received: Received, span_id: str | None) -> None:
    """Under the span that sent it, or at the root of the trace it named."""
    metadata = {"trace_id": TRACE_ID} | ({} if span_id is None else {"span_id": span_id})
    spans, lease, other = spans_to(received.url), a_lease(metadata_json=json.dumps(metadata)), a_lease()
    for each in (lease, other):
        spans.begin(each)
        spans.end(each, DONE)
    await spans.close()

    first, second = received.spans
    assert first.trace_id.hex() == TRACE_ID
    assert first.parent_span_id.hex() == (span_id or "")
    assert second.trace_id.hex() != TRACE_ID


async def test_logs_of_an_attempt_carry_its_span(received: Received) -> None:
    """The ids in a line are those the collector knows."""
    spans, lease = spans_to(received.url), a_lease()
    teller = Teller(nobody, FakeClock(), spans=spans)
    teller.began(lease)
    facts = current_facts()
    teller.ended(lease, DONE, 0.1)
    await spans.close()

    (span,) = received.spans
    assert (facts["trace_id"], facts["span_id"]) == (span.trace_id.hex(), span.span_id.hex())
    assert current_facts() == {}


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (DONE, "done"),
        (Failed(ERROR), "failed"),
        (Retry(ERROR), "retry"),
        (Park(ERROR), "parked"),
        (RELEASE, "released"),
        (None, "lost"),
    ],
)
async def test_every_end_has_a_word_and_no_message(
    received: Received, outcome: Outcome | None, word: str
) -> None:
    """An error is told by its code: what it says may be a user's text."""
    spans, lease = spans_to(received.url), a_lease()
    spans.begin(lease)
    spans.end(lease, outcome)
    spans.end(lease, outcome)
    await spans.close()

    (span,) = received.spans
    assert attributes_of(span)["outcome"] == word == word_of(outcome)
    assert (span.status.code == 2) == (word in ("failed", "retry", "parked"))
    assert b"patient" not in span.SerializeToString()


async def test_a_dead_collector_slows_nobody_and_is_told_once(
    caplog: pytest.LogCaptureFixture, machine: Machine
) -> None:
    """T1: thousands of attempts go on at once, and the end of the process waits little."""
    spans = spans_to(f"http://127.0.0.1:{free_port()}")
    began = time.monotonic()
    for _ in range(2000):
        lease = a_lease()
        spans.begin(lease)
        spans.end(lease, DONE)
    worked = time.monotonic()
    await spans.close()
    closed = time.monotonic()

    assert worked - began < SEND_SECONDS + machine.lost(began, worked), "a batch is given up after three"
    assert closed - worked < LAST_SECONDS + SEND_SECONDS + machine.lost(worked, closed)
    assert [record.name for record in caplog.records if record.levelno >= logging.WARNING].count(
        "penstock.tracing"
    ) <= 2
    assert not any(record.name.startswith("opentelemetry") for record in caplog.records)


async def test_a_collector_that_never_answers_keeps_nobody_at_the_end(machine: Machine) -> None:
    """It takes the connection and says nothing."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        spans, lease = spans_to(f"http://127.0.0.1:{silent.getsockname()[1]}"), a_lease()
        spans.begin(lease)
        spans.end(lease, DONE)
        began = time.monotonic()
        await spans.close()

    assert time.monotonic() - began < 4.0 + machine.lost(began)


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://collector:4318", "http://collector:4318/v1/traces"),
        ("http://collector:4318/", "http://collector:4318/v1/traces"),
        ("https://collector/otlp/v1/traces", "https://collector/otlp/v1/traces"),
    ],
)
def test_a_bare_collector_has_its_usual_path(endpoint: str, url: str) -> None:
    """A path that was given stays."""
    assert traces_url(endpoint) == url


def test_what_is_switched_off_is_not_imported() -> None:
    """A worker without tracing and metrics carries neither library."""
    code = (
        "import sys, penstock.doors.child, penstock.wiring.pipeline\n"
        "print([name for name in ('opentelemetry', 'prometheus_client', 'requests') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert ran.stdout.strip() == "[]"


def test_tracing_without_its_packages_is_refused_at_the_start(tmp_path: Path) -> None:
    """With the words to type; no worker is started first."""
    code = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'opentelemetry': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from penstock.doors.cli import main\n"
        "sys.argv = ['penstock', 'worker']\n"
        "sys.exit(main())"
    )
    chosen = {
        "PENSTOCK_DATA": str(tmp_path / "data"),
        "PENSTOCK_OBSERVABILITY_TRACING_ENABLED": "true",
        "PENSTOCK_OBSERVABILITY_TRACING_ENDPOINT": "127.0.0.1:4318",
    }
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **chosen},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ran.returncode == 3
    assert "pip install 'penstock[tracing]'" in ran.stderr

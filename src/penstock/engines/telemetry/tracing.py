"""Spans: one for each attempt at a job, sent to a collector over OTLP/HTTP.

Sending happens on a thread of the SDK's, from a queue with a bound: a collector that is slow, dead or wrong
costs spans, never a job. This module is imported only when tracing is switched on.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never
from urllib.parse import urlsplit, urlunsplit

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import NonRecordingSpan, Span, SpanContext, SpanKind, StatusCode, TraceFlags

from penstock.model.jobs import JobId, Lease
from penstock.model.outcomes import Done, Failed, Outcome, Park, Release, Retry
from penstock.model.spans import Trace, trace_of
from penstock.model.tallies import QUEUE_OF_RANK, rank_of

log = logging.getLogger("penstock.tracing")
WAITING_MAX = 8192
"""Spans that wait to be sent; what comes on top is dropped."""
SEND_SECONDS = 5.0
LAST_SECONDS = 2.0
"""How long the end of the process waits for the last spans."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """Where spans go, and who sends them."""

    url: str
    shown: str
    """The same without its password, for logs."""
    version: str
    instance: str
    queues: tuple[str, ...] = QUEUE_OF_RANK
    """The queue of each priority."""


class OtlpSpans:
    """Implements `Spans` with the OpenTelemetry SDK."""

    def __init__(self, collector: Collector) -> None:
        # What the SDK has to say about a collector that is away, it says for every batch; we say it once.
        logging.getLogger("opentelemetry").setLevel(logging.CRITICAL + 1)
        resource = Resource.create(
            {
                "service.name": "penstock",
                "service.version": collector.version,
                "service.instance.id": collector.instance,
            }
        )
        self._queues = collector.queues
        self._ids = _GivenIds()
        self._provider = TracerProvider(resource=resource, id_generator=self._ids, shutdown_on_exit=False)
        sender = OTLPSpanExporter(endpoint=traces_url(collector.url), timeout=SEND_SECONDS)
        self._provider.add_span_processor(
            BatchSpanProcessor(_ToldOnce(sender, collector.shown), max_queue_size=WAITING_MAX)
        )
        self._tracer = self._provider.get_tracer("penstock", collector.version)
        self._open: dict[tuple[JobId, int], Span] = {}

    def begin(self, lease: Lease) -> Trace:
        """A span that continues the trace of the job's message, or begins one."""
        queue = self._queues[rank_of(lease)]
        span = self._started(
            trace_of(lease.metadata_json),
            {
                "queue": queue,
                "job_id": lease.job_id,
                "worker_id": lease.worker,
                "item_type": lease.item_type.value,
                "op": lease.op.value,
                "attempt": lease.attempt,
            },
        )
        self._open[lease.job_id, lease.token] = span
        context = span.get_span_context()
        return Trace(trace.format_trace_id(context.trace_id), trace.format_span_id(context.span_id))

    def end(self, lease: Lease, outcome: Outcome | None) -> None:
        """Close it with its outcome; an error is named by its code, for its message may be a user's text."""
        span = self._open.pop((lease.job_id, lease.token), None)
        if span is None:
            return
        span.set_attribute("outcome", word_of(outcome))
        if isinstance(outcome, Failed | Retry | Park):
            span.set_attribute("error.type", outcome.error.code)
            span.set_status(StatusCode.ERROR)
        span.end()

    async def close(self) -> None:
        """Send what is left, for a moment; a collector that does not answer keeps nobody here."""
        sent = asyncio.Event()
        loop = asyncio.get_running_loop()

        def last() -> None:
            self._provider.shutdown()
            try:
                loop.call_soon_threadsafe(sent.set)
            except RuntimeError:  # nobody waits any more
                log.debug("spans were sent after the end")

        threading.Thread(target=last, name="penstock-spans", daemon=True).start()
        try:
            async with asyncio.timeout(LAST_SECONDS):
                await sent.wait()
        except TimeoutError:
            log.warning("the last spans could not be sent in time")

    def _started(self, given: Trace | None, facts: dict[str, str | int]) -> Span:
        context = None
        if given is not None and given.span_id is not None:
            parent = SpanContext(
                int(given.trace_id, 16), int(given.span_id, 16), is_remote=True, trace_flags=_SAMPLED
            )
            context = trace.set_span_in_context(NonRecordingSpan(parent))
        elif given is not None:
            self._ids.given = int(given.trace_id, 16)
        try:
            return self._tracer.start_span("job", context=context, kind=SpanKind.CONSUMER, attributes=facts)
        finally:
            self._ids.given = None


_SAMPLED = TraceFlags(TraceFlags.SAMPLED)


def word_of(outcome: Outcome | None) -> str:
    """An attempt's end in one word."""
    match outcome:
        case None:
            return "lost"
        case Done():
            return "done"
        case Failed():
            return "failed"
        case Retry():
            return "retry"
        case Park():
            return "parked"
        case Release():
            return "released"
        case _:
            assert_never(outcome)


def traces_url(endpoint: str) -> str:
    """The address spans are posted to: a bare collector has its usual path."""
    parts = urlsplit(endpoint)
    return urlunsplit(parts._replace(path="/v1/traces")) if parts.path in ("", "/") else endpoint


class _GivenIds(RandomIdGenerator):
    """Random ids, unless a message named its trace without a span to hang ours under."""

    given: int | None = None

    def generate_trace_id(self) -> int:
        return super().generate_trace_id() if self.given is None else self.given


class _ToldOnce(SpanExporter):
    """Says when the collector went away and when it came back, not every time in between."""

    def __init__(self, sender: SpanExporter, shown: str) -> None:
        self._sender = sender
        self._shown = shown
        self._away = False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        try:
            result = self._sender.export(spans)
        except Exception:  # whatever is wrong with a collector is no trouble of the work
            result = SpanExportResult.FAILURE
        away = result is not SpanExportResult.SUCCESS
        if away and not self._away:
            log.warning("spans cannot be sent to %s; they are dropped until it answers", self._shown)
        elif self._away and not away:
            log.info("spans are sent to %s again", self._shown)
        self._away = away
        return result

    def shutdown(self) -> None:
        self._sender.shutdown()

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return self._sender.force_flush(timeout_millis)

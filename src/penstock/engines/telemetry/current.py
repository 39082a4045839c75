"""Which attempt a line of log belongs to: known to every task that an attempt starts."""

from __future__ import annotations

from contextvars import ContextVar

from penstock.model.jobs import Lease
from penstock.model.spans import Trace, trace_of
from penstock.model.tallies import QUEUE_OF_RANK, rank_of

ATTEMPT: ContextVar[Lease | None] = ContextVar("penstock_attempt", default=None)
QUEUE: ContextVar[str | None] = ContextVar("penstock_queue", default=None)
"""What the attempt's queue is called, where names were configured."""
SPAN: ContextVar[Trace | None] = ContextVar("penstock_span", default=None)
"""The span the attempt is told as, if it is."""


def current_facts() -> dict[str, object]:
    """What a log says of the attempt it was written in; nothing outside of one."""
    lease = ATTEMPT.get()
    if lease is None:
        return {}
    trace = SPAN.get() or trace_of(lease.metadata_json)
    facts: dict[str, object] = {
        "job_id": lease.job_id,
        "queue": QUEUE.get() or QUEUE_OF_RANK[rank_of(lease)],
        "worker_id": lease.worker,
    }
    if trace is not None:
        facts |= {"trace_id": trace.trace_id, "span_id": trace.span_id}
    return facts

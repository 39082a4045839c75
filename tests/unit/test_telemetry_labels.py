"""Labels are closed lists: queues by priority, reasons by class, traces by their ids."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engines.telemetry.labels import Labels
from penstock.model.codes import CODES
from penstock.model.errors import ErrorClass, ErrorReport
from penstock.model.jobs import Operation
from penstock.model.priorities import ranks_of
from penstock.model.spans import Trace, trace_of
from penstock.model.tallies import OTHER, QUEUE_OF_RANK, QUEUES_MAX, Reason, queues_of, rank_of, reason_of
from tests.support.leases import a_lease

TRACE_ID, SPAN_ID = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_a_queue_is_told_by_the_nearest_named_priority() -> None:
    """Of two equally near, the higher."""
    assert QUEUE_OF_RANK == ("low",) * 3 + ("normal",) * 4 + ("high",) * 4


def test_configured_priorities_are_queues_by_their_names() -> None:
    """The nearest to a job's priority, of two the higher, is the queue it counts for."""
    assert queues_of(ranks_of(["urgent", "calm"])) == ("calm",) * 5 + ("urgent",) * 6
    assert Labels(["urgent"], queues_of(ranks_of(["urgent", "calm"]))).of_rank == (1,) * 5 + (0,) * 6


def test_a_delete_belongs_to_the_highest_queue() -> None:
    """Its turn comes as if its priority were 10."""
    assert rank_of(a_lease(op=Operation.DELETE, priority=1)) == 10
    assert rank_of(a_lease(priority=1)) == 1


@given(st.lists(st.text(max_size=5), max_size=80), st.text(max_size=5))
def test_a_label_has_fifty_values_at_most(queues: list[str], queue: str) -> None:
    """Whatever is configured and whatever is asked for, it has a place, and unknown queues share one."""
    labels = Labels(queues)

    assert len(labels.names) == len(set(labels.names)) <= QUEUES_MAX
    assert labels.names[-1] == OTHER
    assert labels.names[labels.place(queue)] == (queue if queue in labels.names else OTHER)


def test_every_error_has_one_reason() -> None:
    """From the bounded list, whatever the code; each of the list has an error."""
    errors = [ErrorReport(code=code, message="told", kind=kind) for code in CODES for kind in ErrorClass]

    assert {reason_of(error) for error in errors} == set(Reason)


@pytest.mark.parametrize(
    ("metadata", "trace"),
    [
        ({}, None),
        ({"trace_id": TRACE_ID, "span_id": SPAN_ID}, Trace(TRACE_ID, SPAN_ID)),
        ({"trace_id": TRACE_ID.upper(), "span_id": SPAN_ID.upper()}, Trace(TRACE_ID, SPAN_ID)),
        ({"trace_id": "0af76519-16cd-43dd-8448-eb211c80319c"}, Trace(TRACE_ID, None)),
        ({"trace_id": TRACE_ID, "span_id": "no"}, Trace(TRACE_ID, None)),
        ({"trace_id": "0" * 32, "span_id": SPAN_ID}, None),
        ({"trace_id": "my trace", "span_id": SPAN_ID}, None),
        ({"trace_id": 7}, None),
        ({"options": {"trace_id": TRACE_ID}}, None),
    ],
)
def test_a_trace_is_taken_from_metadata(metadata: dict[str, object], trace: Trace | None) -> None:
    """Two hexadecimal ids, of which the second may be missing; anything else is no trace."""
    assert trace_of(json.dumps(metadata)) == trace


@given(st.text())
def test_any_metadata_is_a_trace_or_none(text: str) -> None:
    """Never an exception: it is read while a log is written."""
    assert trace_of(text) is None
    assert trace_of(f'"trace_id"{text}') is None

"""Does a job still agree with the legacy row it came from?"""

from dataclasses import replace

import pytest

from penstock.model.jobs import NewJob, Operation, TenantId
from penstock.model.legacy import LegacyJob, Standin, Taken, differences, moved_on, removed_in_time
from penstock.model.payloads import File
from penstock.model.states import State

THEN = 1_700_000_000.0
DAY = 86_400.0

WAITING = LegacyJob(
    row="1",
    job=NewJob(tenant=TenantId("acme"), collection="docs", payload=File(file_path="/a.txt")),
    was="pending",
    state=State.READY,
    key="file:docs:0",
    payload_json='{"file_path": "/a.txt"}',
    metadata_json="{}",
    retry_count=1,
    error_message="later",
    error_code=None,
    created_at=THEN,
    updated_at=THEN,
    started_at=None,
    finished_at=None,
    last_error_at=THEN,
)
FAILED = replace(WAITING, was="failed", state=State.FAILED, finished_at=THEN)

JOB = Standin(
    status="pending",
    op="ingest",
    tenant="acme",
    collection="docs",
    payload_json='{"file_path": "/a.txt", "size_bytes": 1}',
    retry_count=1,
    error_message="later",
    updated_at=THEN,
    attempts=0,
)


def taken(job: Standin, *, joined: bool = False) -> Taken:
    return Taken(named=WAITING.named, taken_at=THEN, joined=joined, job=job)


def found(row: LegacyJob, job: Standin, *, joined: bool = False) -> list[str]:
    return [each.split()[0] for each in differences(row, taken(job, joined=joined), job)]


def test_an_untouched_job_agrees() -> None:
    """Nothing differs, nothing has moved."""
    assert found(WAITING, JOB) == []
    assert not moved_on(WAITING, JOB)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"status": "done"}, "state"),
        ({"op": "delete"}, "op"),
        ({"retry_count": 0}, "retry_count"),
        ({"error_message": None}, "error_message"),
        ({"tenant": "globex"}, "tenant_id"),
        ({"collection": "notes"}, "collection"),
        ({"payload_json": '{"file_path": "/b.txt"}'}, "file_path"),
        ({"payload_json": "[]"}, "file_path"),
        ({"payload_json": "{"}, "payload_json"),
        ({"payload_json": "[" * 50_000}, "payload_json"),
    ],
)
def test_a_job_changed_behind_the_queues_back_is_found(change: dict[str, str], word: str) -> None:
    """Every compared field is named when it differs."""
    assert word in found(WAITING, replace(JOB, **change))  # type: ignore[arg-type]


@pytest.mark.parametrize("status", ["in_progress", "done", "failed", "pending"])
def test_a_waiting_row_may_have_run_since(status: str) -> None:
    """State, operation, retries and error are then the queue's own affair."""
    job = replace(
        JOB, status=status, op=Operation.DELETE, retry_count=3, error_message="new", updated_at=THEN + 5
    )

    assert found(WAITING, job) == []
    assert moved_on(WAITING, job)


def test_a_job_that_has_moved_on_is_still_about_the_same() -> None:
    """No life of a job changes whose it is and what it works on."""
    job = replace(JOB, status="done", attempts=1, payload_json='{"file_path": "/b.txt"}')

    assert found(WAITING, job) == ["file_path"]


def test_an_ended_row_never_moves_on() -> None:
    """An ended job stays as it is, whatever was tried with it."""
    job = replace(JOB, status="pending", attempts=2, updated_at=THEN + 5)

    assert found(FAILED, job) == ["state"]
    assert found(FAILED, replace(JOB, status="failed")) == []


def test_a_row_that_joined_another_job_asks_only_what_it_is_about() -> None:
    """The other job has a history of its own."""
    other = replace(JOB, status="done", op="update", retry_count=7, error_message=None)

    assert found(WAITING, other, joined=True) == []
    assert found(WAITING, replace(other, tenant="globex"), joined=True) == ["tenant_id"]


@pytest.mark.parametrize(
    ("row", "joined", "age_days", "in_time"),
    [
        (WAITING, False, 6, False),
        (WAITING, False, 8, True),
        (WAITING, True, 6, False),
        (FAILED, False, 8, False),
        (FAILED, False, 31, True),
        (replace(FAILED, state=State.DONE), False, 8, True),
    ],
)
def test_retention_explains_a_missing_job_only_once_its_time_is_over(
    row: LegacyJob, joined: bool, age_days: int, in_time: bool
) -> None:
    """A job that is gone too early was lost, or removed by hand."""
    now = THEN + age_days * DAY

    assert (
        removed_in_time(
            row, taken(JOB, joined=joined), done_before=now - 7 * DAY, failed_before=now - 30 * DAY
        )
        is in_time
    )

"""A job taken over from a queue that Penstock replaces, and whether it still agrees with its legacy row.

A legacy row keeps its state, retries, error and times, so it is more than a `NewJob`: some rows arrive ended.
Afterwards the job lives on by itself. A row that waited may have run, failed or been replaced by a later
request since; what must never change is whose it is and what it is about. An ended row changes nothing more.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID, uuid5

from penstock.model.fingerprints import hash16, identifier_of
from penstock.model.jobs import JobId, NewJob
from penstock.model.payloads import ItemType
from penstock.model.states import ENDED, SQL_STATUS, State

_NAMESPACE = UUID("7d0f6a8e-2b57-5c1e-9a55-4c1f0a3b9e21")
_IDENTIFIER = {ItemType.FILE: "file_path", ItemType.CONTENT: "content"}


def legacy_job_id(source: str, table: str, identity: tuple[object, ...]) -> JobId:
    """The id of the job a legacy row becomes: the same row gives the same id in every run.

    `source` is empty unless rows of several legacy databases meet in one queue.
    """
    return JobId(str(uuid5(_NAMESPACE, json.dumps([source, table, *identity]))))


class Adoption(StrEnum):
    """What became of a legacy row at the queue."""

    TAKEN = "taken"
    KNOWN = "known"
    """It was taken over before, whatever has become of it since."""
    WAITING = "already waiting"
    """A job with the same key waits; the row is content with that one."""
    CLASH = "id taken"
    """Another row with the same id was taken over before, and it names something else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyJob:
    """A legacy row as the job it becomes."""

    row: str
    """The row's own id, as people are shown it."""
    job: NewJob
    was: str
    """The row's status in the documented words, before a running one became pending."""
    state: State
    key: str
    payload_json: str
    metadata_json: str
    retry_count: int
    error_message: str | None
    error_code: str | None
    created_at: float
    updated_at: float
    started_at: float | None
    finished_at: float | None
    last_error_at: float | None

    @property
    def named(self) -> str:
        """What the row is about, in 16 digits: two rows with one id are told apart by it."""
        return hash16(f"{self.job.tenant}\n{self.key}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What the queue remembers of a legacy row, and the job that stands for it if it is still kept."""

    named: str
    taken_at: float
    joined: bool
    """The job was there already; the row did not become one of its own."""
    job: Standin | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Standin:
    """The documented columns of a job, as far as a legacy row can be compared with them."""

    status: str
    op: str
    tenant: str
    collection: str
    payload_json: str
    retry_count: int
    error_message: str | None
    updated_at: float
    attempts: int
    """How often it was claimed here."""


def differences(row: LegacyJob, taken: Taken, job: Standin) -> list[str]:
    """What of a row its job no longer says, and has no right to have changed; empty if they agree."""
    found = _about_something_else(row, job)
    if taken.joined or moved_on(row, job):
        return found
    expected = {
        "state": (SQL_STATUS[row.state], job.status),
        "op": (row.job.op.value, job.op),
        "retry_count": (row.retry_count, job.retry_count),
        "error_message": (row.error_message, job.error_message),
    }
    return found + [_differs(what, old, new) for what, (old, new) in expected.items() if old != new]


def moved_on(row: LegacyJob, job: Standin) -> bool:
    """Whether a row that waited has been claimed, ended or replaced by a later request since."""
    if row.state in ENDED:
        return False
    return job.attempts > 0 or abs(job.updated_at - row.updated_at) > 1e-3


def removed_in_time(row: LegacyJob, taken: Taken, *, done_before: float, failed_before: float) -> bool:
    """Whether retention explains that the job of a row is gone."""
    if taken.joined or row.state not in ENDED:
        return taken.taken_at < max(done_before, failed_before)
    return row.updated_at < (done_before if row.state is State.DONE else failed_before)


def _about_something_else(row: LegacyJob, job: Standin) -> list[str]:
    field = _IDENTIFIER[row.job.item_type]
    try:
        payload = json.loads(job.payload_json)
    except (ValueError, RecursionError):
        return ["payload_json is no longer JSON"]
    about = payload.get(field) if isinstance(payload, dict) else None
    expected = {
        field: (identifier_of(row.job.payload), about),
        "tenant_id": (row.job.tenant, job.tenant),
        "collection": (row.job.collection, job.collection),
    }
    return [_differs(what, old, new) for what, (old, new) in expected.items() if old != new]


def _differs(what: str, old: object, new: object) -> str:
    return f"{what} is {_short(new)}, the legacy row says {_short(old)}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

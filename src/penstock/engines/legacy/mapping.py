"""From a legacy row to the job it becomes: pure, so that a check months later comes to the same answer.

What a job cannot be without (path or text, a known operation and status) is taken as it is or the row is
skipped with the reason. What only colours it (priority, times, labels) is put right and noted.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from penstock.engines.legacy.roles import Role
from penstock.engines.legacy.values import (
    CANCELLED_WORDS,
    OPERATION_WORDS,
    PRIORITY_WORDS,
    STATUS_WORDS,
    number_of,
    text_of,
    time_of,
    whole_between,
    word_of,
)
from penstock.model.errors import Refused
from penstock.model.fingerprints import idempotency_key
from penstock.model.jobs import PRIORITY_MAX, PRIORITY_NAMES, NewJob, Operation, TenantId, operation_of
from penstock.model.legacy import LegacyJob, legacy_job_id
from penstock.model.payloads import Content, File, ItemType, Payload
from penstock.model.rules import Rules
from penstock.model.states import SQL_STATUS, State
from penstock.ports.codec import encode_metadata, encode_payload

TENANT_UNTOLD = TenantId("local")
COLLECTION_UNTOLD = "default"
"""What a job submitted without a word about it is given too."""
RETRIES_MAX_UNTOLD = 3
COUNT_MAX = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class LegacyRow:
    """A row by the roles of its columns."""

    table: str
    item_type: ItemType
    identity: tuple[object, ...]
    values: Mapping[Role, object]

    @property
    def shown(self) -> str:
        """Its id, as people are shown it."""
        text = ", ".join(str(part) for part in self.identity)
        return text if len(text) <= 120 else f"{text[:117]}..."


@dataclass(frozen=True, slots=True, kw_only=True)
class Skip:
    """A row no job can be made of."""

    row: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """A row's job, and what had to be put right."""

    job: LegacyJob
    notes: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class _Reading:
    """The values of one row while it is read, and the notes made on the way."""

    row: LegacyRow
    notes: list[tuple[str, str]] = field(default_factory=list)

    def raw(self, role: Role) -> object:
        return self.row.values.get(role)

    def text(self, role: Role) -> str | None:
        return text_of(self.raw(role))

    def time(self, role: Role) -> float | None:
        if self.raw(role) is None:
            return None
        found = time_of(self.raw(role))
        absent = self.text(role) is None or number_of(self.raw(role)) == 0
        # Old releases kept a path where later ones keep the time of the next try.
        if found is None and not absent and role is not Role.DUE:
            self.note("unreadable time", f"{role} {_cut(self.text(role))}")
        return found

    def count(self, role: Role, default: int, most: int) -> int:
        found, changed = whole_between(self.raw(role), 0, most)
        if changed:
            self.note("count put right", f"{role} {_cut(self.text(role))} is not 0 to {most:,}")
        return default if found is None else found

    def note(self, reason: str, detail: str) -> None:
        self.notes.append((reason, detail))


def job_of(row: LegacyRow, *, source: str, now: float, rules: Rules) -> Mapped | Skip:
    """The job a row becomes; `now` stands in for a time the row does not tell."""
    reading = _Reading(row)
    try:
        word = word_of(reading.raw(Role.STATUS)) or "pending"
        if word not in STATUS_WORDS:
            return Skip(row=row.shown, reason="unknown status", detail=f"status {_cut(word)}")
        job = _new_job(reading, source, now)
        made = _with_history(reading, job, word, now, rules)
        return Mapped(job=made, notes=tuple(reading.notes))
    except Refused as refused:
        return Skip(row=row.shown, reason=refused.code, detail=refused.message)
    except UnicodeEncodeError:
        return Skip(row=row.shown, reason="ERR_PAYLOAD_INVALID", detail="a tag is not valid text")


def _new_job(reading: _Reading, source: str, now: float) -> NewJob:
    due = reading.time(Role.DUE)
    return NewJob(
        id=legacy_job_id(source, reading.row.table, reading.row.identity),
        tenant=TenantId(reading.text(Role.TENANT) or TENANT_UNTOLD),
        collection=reading.text(Role.COLLECTION) or COLLECTION_UNTOLD,
        payload=_payload(reading),
        op=_operation(reading),
        priority=_priority(reading),
        run_at=due if due is not None and due > now else None,
        max_retries=reading.count(Role.RETRIES_MAX, RETRIES_MAX_UNTOLD, 100),
        branch=reading.text(Role.BRANCH) or "main",
        metadata=_metadata(reading),
    )


def _with_history(reading: _Reading, job: NewJob, word: str, now: float, rules: Rules) -> LegacyJob:
    said = STATUS_WORDS[word]
    if said is State.LEASED:
        reading.note("was running, waits again", f"status {word!r}: its worker is gone")
    state = State.READY if said is State.LEASED else said
    ended = state is not State.READY
    error = reading.text(Role.ERROR) or reading.text(Role.ERROR_REFERENCE)
    finished = reading.time(Role.FINISHED)
    created = reading.time(Role.CREATED) or finished or now
    updated = reading.time(Role.UPDATED) or finished or created
    return LegacyJob(
        row=reading.row.shown,
        job=job,
        was=SQL_STATUS[said],
        state=state,
        key=idempotency_key(job.collection, job.payload),
        payload_json=encode_payload(job.payload, bytes_max=rules.payload_bytes_max),
        metadata_json=encode_metadata(job.metadata, bytes_max=rules.metadata_bytes_max),
        retry_count=reading.count(Role.RETRIES, 0, COUNT_MAX),
        error_message=None if error is None else error.encode("utf-8", "replace").decode(),
        error_code="ERR_CANCELLED" if word in CANCELLED_WORDS else None,
        created_at=created,
        updated_at=updated,
        started_at=reading.time(Role.STARTED) if ended else None,
        finished_at=(finished or updated) if ended else None,
        last_error_at=(reading.time(Role.ERROR_AT) or updated) if error is not None else None,
    )


def _payload(reading: _Reading) -> Payload:
    if reading.row.item_type is ItemType.FILE:
        return _file(reading)
    return Content(
        content=reading.text(Role.TEXT) or "",
        source_type=_label(reading, Role.SOURCE_TYPE) or "scratchbook",
        main_tag=reading.text(Role.MAIN_TAG),
        full_tag=reading.text(Role.FULL_TAG),
    )


def _file(reading: _Reading) -> File:
    path = reading.text(Role.PATH) or ""
    # Without `..` the plain form names the same file whatever links there are.
    if path.startswith("/") and ".." not in path.split("/") and posixpath.normpath(path) != path:
        reading.note("path put in its plain form", f"{_cut(path)}")
        path = posixpath.normpath(path)
    size, _ = whole_between(reading.raw(Role.SIZE), 0, 1 << 62)
    digest = reading.text(Role.FILE_HASH)
    if digest is not None and _refused(file_path="/", file_hash=digest):
        reading.note("label left out", f"file_hash {_cut(digest)}")
        digest = None
    return File(file_path=path, file_type=_label(reading, Role.FILE_TYPE), file_hash=digest, size_bytes=size)


def _label(reading: _Reading, role: Role) -> str | None:
    label = reading.text(role)
    if label is not None and _refused(file_path="/", file_type=label):
        reading.note("label left out", f"{role} {_cut(label)}")
        return None
    return label


def _refused(*, file_path: str, file_type: str | None = None, file_hash: str | None = None) -> bool:
    try:
        File(file_path=file_path, file_type=file_type, file_hash=file_hash)
    except Refused:
        return True
    return False


def _operation(reading: _Reading) -> Operation:
    word = word_of(reading.raw(Role.OPERATION)) or Operation.INGEST.value
    return operation_of(reading.row.item_type, OPERATION_WORDS.get(word, word))


def _priority(reading: _Reading) -> int:
    raw = reading.raw(Role.PRIORITY)
    word = word_of(raw)
    if word is not None and word in PRIORITY_WORDS:
        return PRIORITY_WORDS[word]
    found, changed = whole_between(raw, 0, PRIORITY_MAX)
    value = PRIORITY_NAMES["normal"] if found is None else found
    if changed:
        reading.note("priority put right", f"priority {_cut(text_of(raw))} became {value}")
    return value


def _metadata(reading: _Reading) -> Mapping[str, object]:
    text = reading.text(Role.METADATA)
    if text is None:
        return {}
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        found = text.encode("utf-8", "replace").decode()
    if isinstance(found, dict):
        return found
    if found is None:
        return {}
    reading.note("metadata wrapped", "it was not a JSON object and is kept as one named legacy")
    return {"legacy": found}


def _cut(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."

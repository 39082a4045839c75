"""Jobs made ready for the submit script, before anything is sent."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import floor
from typing import Any, NamedTuple

import msgspec

from penstock.engines.redis.access import Access, Lane
from penstock.engines.redis.names import SEPARATOR, packed
from penstock.engines.redis.protocol import Word
from penstock.engines.redis.scripts import SCRIPTS
from penstock.engines.redis.tails import tail_of
from penstock.model.errors import Refused
from penstock.model.fingerprints import idempotency_key, subject_of
from penstock.model.ids import AGAIN
from penstock.model.jobs import Accepted, JobId, NewJob, Operation, Receipt
from penstock.model.rules import Rules
from penstock.model.statuses import stamped, stamped_micros
from penstock.ports.codec import encode_metadata, encode_payload

_ENCODER = msgspec.json.Encoder()


class Body(msgspec.Struct, frozen=True, omit_defaults=True):
    """What no script needs to know of a job."""

    branch: str = "main"
    metadata: str = "{}"
    document_id: str | None = None
    replay_of: str | None = None


_PLAIN = Body()
_BODY = msgspec.json.Decoder(Body)
_HOW = {how.value.encode(): how for how in Accepted}

Entry = tuple[str, ...]
"""A job as the scripts unpack it, in the order of entry_of in `parts/accepting.lua`."""


def untouched(entry: Entry, created_us: str, waits_in: str) -> bytes:
    """An entry of the quick ways, packed: it says what else its row would, as `parts/ground.lua` reads it."""
    return packed((*entry, "", "", created_us, waits_in))


class Ready(NamedTuple):
    """A job made ready: its entry, and its message from behind what only the script knows."""

    entry: Entry
    tail: str


def entries_of(jobs: Sequence[NewJob], rules: Rules, now: float) -> list[Ready]:
    """Encode and check all of them; nothing is sent if one is refused."""
    if len(jobs) > rules.bulk_max:
        raise Refused(
            f"{len(jobs):,} jobs in one submit, the limit is {rules.bulk_max:,}", code="ERR_BULK_TOO_LARGE"
        )
    stamp = stamped(now)
    return [_ready(job, rules, now, stamp) for job in jobs]


def entry_of(job: NewJob, rules: Rules, now: float) -> Entry:
    """One of them as it is kept."""
    return _ready(job, rules, now, stamped(now)).entry


def _ready(job: NewJob, rules: Rules, now: float, stamp: str) -> Ready:
    """Its message lacks what only the script knows: its number and its time."""
    tail = tail_of(job, now=now, stamp=stamp)
    entry = (
        job.id,
        job.item_type.value,
        job.op.value,
        job.tenant,
        job.collection,
        str(job.priority),
        idempotency_key(job.collection, job.payload),
        subject_of(job.collection, job.payload, job.document_id),
        encode_payload(job.payload, bytes_max=rules.payload_bytes_max),
        body_of(job, encode_metadata(job.metadata, bytes_max=rules.metadata_bytes_max)),
        "" if job.run_at is None else repr(job.run_at),
        str(job.max_retries),
        "1" if job.delete_first else "0",
        tail.filename,
        "" if tail.submitted_at == stamp else tail.submitted_at,
        tail.kept,
    )
    return Ready(entry, tail.whole)


def body_of(job: NewJob, metadata: str) -> str:
    """What scripts only keep and hand back; nothing at all for most jobs."""
    body = Body(branch=job.branch, metadata=metadata, document_id=job.document_id, replay_of=job.replay_of)
    return "" if body == _PLAIN else _ENCODER.encode(body).decode()


def read_body(data: bytes | str) -> Body:
    """The same as it was kept."""
    return _BODY.decode(data) if data else _PLAIN


async def submit_one(access: Access, job: NewJob, *, now: float) -> bool:
    """Submit a job that meets nothing, the quickest way; False if it may, and nothing has changed then."""
    if not _is_usual(job):
        return False
    micros = floor(now * 1_000_000 + 0.5)
    stamp, created_us = stamped_micros(micros), str(micros)
    entry, tail = _ready(job, access.rules, now, stamp)
    tenant, submitted_at = job.tenant, entry[14]
    door = access.door_of(job.priority, tenant, job.collection)
    told: tuple[Word, ...] = (
        *(created_us, job.id, f"{tenant}{SEPARATOR}{entry[6]}", entry[7], entry[13]),
        *(submitted_at or stamp, tail, untouched(entry, created_us, door.waits_in)),
    )
    return bool(await access.client.run_quick(door.submit_one, told))


async def submit_new(access: Access, jobs: Sequence[NewJob], ready: Sequence[Ready], *, now: float) -> bool:
    """Submit jobs that meet nothing, the quick way; False if one may, and nothing has changed then."""
    columns = columns_of(access, jobs, ready)
    if columns is None:
        return False
    names = access.names
    keys = [
        *access.keys_of_new,
        names.blank,
        names.form,
        *chain.from_iterable(lane.keys for lane in columns.lanes),
    ]
    created_us = str(floor(now * 1_000_000 + 0.5))
    lists = columns.lists
    texts = [
        untouched(entry, created_us, waits_in) for (entry, _), waits_in in zip(ready, lists, strict=True)
    ]
    told: tuple[Word, ...] = (names.root, repr(now), stamped(now), names.wake, packed(columns.told), *texts)
    return bool(await access.client.run(SCRIPTS["submit_new"], keys=keys, args=told, again=True))


def _is_usual(job: NewJob) -> bool:
    return job.op is not Operation.DELETE and job.run_at is None and AGAIN not in job.id


class Columns(NamedTuple):
    """Many jobs, a column a fact, and the lanes they wait in."""

    lanes: Sequence[Lane]
    lists: Sequence[str]
    """The list each of them waits in."""
    told: tuple[object, ...]


def columns_of(access: Access, jobs: Sequence[NewJob], ready: Sequence[Ready]) -> Columns | None:
    """What the script needs of each, a column a fact; None if two of them meet, or one is not as usual.

    A column whose facts are all alike is that fact alone.
    """
    places: dict[tuple[int, str], int] = {}
    which, names = [], []
    for job, (entry, _) in zip(jobs, ready, strict=True):
        if not _is_usual(job):
            return None
        tenant, key = entry[3], entry[6]
        which.append(places.setdefault((job.priority, tenant), len(places) + 1))
        names.append(f"{tenant}{SEPARATOR}{key}")
    entries, tails = zip(*ready, strict=True)
    ids, _, _, tenants, collections, _, _, subjects, _, _, _, _, _, files, submitted, _ = zip(
        *entries, strict=True
    )
    if not len(ids) == len(set(ids)) == len(set(names)) == len(set(zip(tenants, subjects, strict=True))):
        return None
    lanes = [access.lane_of(rank, tenant) for rank, tenant in places]
    told = (ids, names, subjects, _alone(collections), files, _alone(submitted), tails)
    lists = [lanes[place - 1].keys[0] for place in which]
    return Columns(lanes, lists, ([lane.name for lane in lanes], which if len(lanes) > 1 else 1, *told))


def _alone(facts: Sequence[str]) -> Sequence[str] | str:
    return facts[0] if len(set(facts)) == 1 else facts


def receipts_of(reply: list[Any]) -> list[Receipt]:
    """What became of a list; Refused if nothing did."""
    word, *rest = reply
    if word == b"taken":
        raise Refused(f"job id {rest[0].decode()} belongs to another job", code="ERR_JOB_ID_TAKEN")
    if word == b"batch":
        raise Refused(f"batch {rest[0].decode()} is unknown or sealed", code="ERR_BATCH_UNKNOWN")
    pairs = zip(rest[::2], rest[1::2], strict=True)
    return [Receipt(JobId(job_id.decode()), _HOW[how]) for job_id, how in pairs]

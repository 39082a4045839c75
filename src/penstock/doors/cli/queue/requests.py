"""Jobs as people and pipes ask for them: a payload and the options around it, or a line that says all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

import click
import msgspec

from penstock.doors.cli.values import moment
from penstock.model.errors import Refused
from penstock.model.ids import new_job_id
from penstock.model.jobs import MATRIX, JobId, NewJob, Operation, TenantId, operation_of, priority_of
from penstock.model.payloads import ItemType, item_type_named
from penstock.ports.codec import payload_from

LINE_BYTES_MAX = 16 << 20
PORTION_BYTES_MAX = 64 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """Everything of a job but its payload."""

    item_type: str | None = None
    op: str | None = None
    collection: str = "default"
    tenant: str = "local"
    priority: int | str = "normal"
    id: str | None = None
    at: float | None = None
    metadata: dict[str, object] | None = None
    max_retries: int = 3


class _Line(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A line that is a whole job; what it leaves out, the options say."""

    payload: dict[str, object]
    type: str | None = None
    op: str | None = None
    collection: str | None = None
    tenant: str | None = None
    priority: int | str | None = None
    id: str | None = None
    at: str | None = None
    metadata: dict[str, object] | None = None


def job_of(around: Around, payload: dict[str, object]) -> NewJob:
    """The job, or Refused."""
    if around.item_type is None:
        raise Refused("the item type is missing: say --type", code="ERR_ITEM_TYPE_UNKNOWN")
    item_type = item_type_named(around.item_type)
    return NewJob(
        tenant=TenantId(around.tenant),
        collection=around.collection,
        payload=payload_from(item_type, payload),
        op=_operation(item_type, around.op),
        priority=priority_of(around.priority),
        id=JobId(new_job_id() if around.id is None else around.id),
        run_at=around.at,
        max_retries=around.max_retries,
        metadata=around.metadata or {},
    )


def _operation(item_type: ItemType, op: str | None) -> Operation:
    """The operation as named; unnamed it is ingest, or the only one the item type offers."""
    offered = MATRIX[item_type]
    if op is None and Operation.INGEST not in offered and len(offered) == 1:
        return next(iter(offered))
    return operation_of(item_type, op or Operation.INGEST)


def object_of(text: str | bytes, what: str, code: str) -> dict[str, object]:
    """A JSON object, or Refused with what was expected."""
    try:
        return msgspec.json.decode(text, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Refused(f"{what} is not a JSON object: {error}", code=code) from error


def portions(stream: BinaryIO, around: Around, jobs_max: int) -> Iterator[list[NewJob]]:
    """The jobs of a stream of JSON lines, in portions that fit into one submit and into memory."""
    portion: list[NewJob] = []
    size = 0
    for number, line in _lines(stream):
        try:
            portion.append(_job_of_line(line, around))
        except Refused as fault:
            raise Refused(f"line {number}: {fault.message}", code=fault.code) from fault
        except click.BadParameter as error:
            raise Refused(f"line {number}: {error.message}", code="ERR_PAYLOAD_INVALID") from error
        size += len(line)
        if len(portion) >= jobs_max or size >= PORTION_BYTES_MAX:
            yield portion
            portion, size = [], 0
    if portion:
        yield portion


def _lines(stream: BinaryIO) -> Iterable[tuple[int, bytes]]:
    number = 0
    while line := stream.readline(LINE_BYTES_MAX + 1):
        number += 1
        if len(line) > LINE_BYTES_MAX:
            raise Refused(
                f"line {number} is longer than {LINE_BYTES_MAX:,} bytes", code="ERR_PAYLOAD_TOO_LARGE"
            )
        if line.strip():
            yield number, line


def _job_of_line(text: bytes, around: Around) -> NewJob:
    found = object_of(text, "it", "ERR_PAYLOAD_INVALID")
    if "payload" not in found:
        return job_of(around, found)
    try:
        line = msgspec.convert(found, type=_Line)
    except msgspec.ValidationError as error:
        raise Refused(str(error), code="ERR_PAYLOAD_INVALID") from error
    said: dict[str, Any] = {
        "item_type": line.type,
        "op": line.op,
        "collection": line.collection,
        "tenant": line.tenant,
        "priority": line.priority,
        "id": line.id,
        "at": None if line.at is None else moment(line.at),
        "metadata": line.metadata,
    }
    chosen = replace(around, **{name: value for name, value in said.items() if value is not None})
    return job_of(chosen, line.payload)

"""What a message said beyond its job, kept in the job's metadata under `message`; its trace stands beside it.

The job hash shows it, spans continue its trace, and what we do not understand is kept for whoever does.
Reading is lenient, as with options: a row written by hand may say nothing of it, or something else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from penstock.model.jobs import TIME_MAX

RETRIES_MAX = 100
"""Of the retries a message may say were spent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where a job came from, in its submitter's own words."""

    filename: str | None = None
    submitted_at: float | None = None
    """When the submitter says it was submitted, in seconds since the epoch."""
    submitted_by: str | None = None
    retry_count: int = 0
    """Retries that were spent before the message came to us."""
    max_retries: int | None = None
    """Retries the message allows, where it says so."""
    reindex: bool = False
    """The collection is to be built anew beside the one that answers."""
    trace_id: str | None = None
    span_id: str | None = None
    extra: Mapping[str, object] = field(default_factory=dict)
    """Fields nobody documented, as they came."""

    def as_metadata(self) -> dict[str, object]:
        """As part of a job's metadata; what is at its default is left out."""
        told: dict[str, object] = {
            name: value
            for name in (
                "filename",
                "submitted_at",
                "submitted_by",
                "retry_count",
                "reindex",
            )
            if (value := getattr(self, name))
        }
        if self.max_retries is not None:
            told["max_retries"] = self.max_retries
        if self.extra:
            told["extra"] = dict(self.extra)
        trace = {name: value for name in ("trace_id", "span_id") if (value := getattr(self, name))}
        return {"message": told, **trace} if told else dict(trace)


NOTHING_TOLD = Provenance()
"""Of a job no message stands behind, which most are."""


def provenance_of(metadata: Mapping[str, object] | str) -> Provenance:
    """What a job's metadata says of its message; what is not there, or of another kind, is left open."""
    if not metadata or metadata == "{}":
        return NOTHING_TOLD
    whole = _read(metadata)
    told = _object(whole.get("message"))
    if not told and "trace_id" not in whole:
        return NOTHING_TOLD
    at, retries, most = told.get("submitted_at"), told.get("retry_count"), told.get("max_retries")
    return Provenance(
        filename=_text(told.get("filename")),
        submitted_at=float(at) if _is_within(at, TIME_MAX) else None,
        submitted_by=_text(told.get("submitted_by")),
        retry_count=int(retries) if isinstance(retries, int) and _is_within(retries, RETRIES_MAX) else 0,
        max_retries=int(most) if isinstance(most, int) and _is_within(most, RETRIES_MAX) else None,
        reindex=told.get("reindex") is True,
        trace_id=_text(whole.get("trace_id")),
        span_id=_text(whole.get("span_id")),
        extra=_object(told.get("extra")),
    )


def _is_within(value: object, most: float) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most


def _read(metadata: Mapping[str, object] | str) -> Mapping[str, object]:
    if not isinstance(metadata, str):
        return metadata
    try:
        return _object(json.loads(metadata))
    except (ValueError, RecursionError):
        return {}


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None

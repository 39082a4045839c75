"""The trace a job belongs to: two ids its submitter may have put beside it."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

_HEX = re.compile(r"[0-9a-f]+")


class Trace(NamedTuple):
    """Ids in hexadecimal, as W3C Trace Context writes them; a trace may come without a span."""

    trace_id: str
    span_id: str | None = None


def trace_of(metadata_json: str) -> Trace | None:
    """The trace in a job's metadata; None if there is none, or its id could not be one."""
    if "trace_id" not in metadata_json:
        return None
    try:
        told = json.loads(metadata_json)
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    trace_id = _identifier(told.get("trace_id"), 32)
    return None if trace_id is None else Trace(trace_id, _identifier(told.get("span_id"), 16))


def _identifier(told: object, length: int) -> str | None:
    """So many hexadecimal digits that are not all zero; the dashes of a UUID are left out."""
    text = told.replace("-", "").lower() if isinstance(told, str) else ""
    return text if len(text) == length and _HEX.fullmatch(text) and text.strip("0") else None

"""Attempts as they were handed out, so that their usual end is told in few words.

Most attempts end as done with nothing beside them. Who claimed one knows the row the server keeps of it; told
that row and the one that shall take its place, the script compares and writes, and need not take either
apart. Where somebody changed the row since, it says so, and the attempt ends by its token.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from penstock.engines.redis.names import DOCUMENTED_EXPIRY_SECONDS, Names, packed, raw
from penstock.engines.redis.rows import Facts
from penstock.model.jobs import Lease
from penstock.model.outcomes import Done, Outcome

ROWS_MAX = 10_000
"""More are forgotten together: their jobs were lost, and no end will be told of them."""
ENDS_MAX = 1_000
"""So many a call; the rest ends by its token."""
_LEASED = b"\x9f\xa6leased"
_DONE = b"\x9f\xa4done"

Attempt = tuple[str, int]


class Row(NamedTuple):
    """One attempt's row, and what its end needs of it."""

    text: bytes
    subject: str
    tenant: str
    generation: str
    started_at: str


@dataclass(slots=True)
class UsualEnds:
    """Ends of one worker's jobs of one tenant, as `parts/usual.lua` unpacks them."""

    attempts: dict[Attempt, None] = field(default_factory=dict)
    told: bytes = b""


class Handed:
    """The rows of one process's attempts."""

    def __init__(self) -> None:
        self._rows: dict[Attempt, Row] = {}

    def keep(self, handed: Iterable[tuple[Lease, bytes, Facts]]) -> None:
        """Remember what a claim was answered with."""
        if len(self._rows) > ROWS_MAX:
            self._rows.clear()
        for lease, text, facts in handed:
            self._rows[lease.job_id, lease.token] = Row(
                text, facts.subject, facts.tenant, facts.generation, facts.started_at
            )

    def ends_of(self, words: Mapping[Attempt, tuple[Lease, Outcome]], names: Names, now: float) -> UsualEnds:
        """The usual ones among these ends, of the first one's worker and tenant; each is named once."""
        usual = UsualEnds()
        whose: tuple[str, str, str] | None = None
        columns: tuple[list[str], list[msgspec.Raw], list[msgspec.Raw], list[str], list[str]] = (
            [],
            [],
            [],
            [],
            [],
        )
        ids, before, after, subjects, durations = columns
        lasted: dict[str, str] = {}
        ended = packed(repr(now))
        for attempt, (lease, outcome) in words.items():
            row = self._rows.pop(attempt, None)
            if row is None or not isinstance(outcome, Done) or len(ids) >= ENDS_MAX:
                continue
            of = (lease.worker, row.tenant, row.generation)
            whose = whose or of
            if of != whose:
                continue
            if row.started_at not in lasted:
                lasted[row.started_at] = _lasted(now - float(row.started_at))
            usual.attempts[attempt] = None
            ids.append(lease.job_id)
            before.append(raw(row.text))
            after.append(raw(b"".join((_DONE, row.text[len(_LEASED) : -1], ended))))
            subjects.append(row.subject)
            durations.append(lasted[row.started_at])
        if whose is not None:
            kept = (names.processing_of(whose[0]), DOCUMENTED_EXPIRY_SECONDS, names.completed_max)
            usual.told = packed((*whose[1:], *kept, *columns))
        return usual


def _lasted(seconds: float) -> str:
    """To the millisecond, as `parts/status.lua` writes it."""
    return f"{math.floor(max(0.0, seconds) * 1000 + 0.5) / 1000:.14g}"

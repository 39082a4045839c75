"""Attempts as they were handed out, so that their usual end is told in few words.

Most attempts end as done with nothing beside them. Who claimed them knows how the rows end that the claim
left, which is alike for all of them: told that, the script sees whether a row is still as it was, and need
not take it apart. Where somebody changed it since, it says so, and the attempt ends by its token.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.engines.redis.names import DOCUMENTED_EXPIRY_SECONDS, Names, packed, raw
from penstock.model.jobs import Lease
from penstock.model.outcomes import Done, Outcome
from penstock.model.payloads import ItemType

ROWS_MAX = 10_000
"""More are forgotten together: their jobs were lost, and no end will be told of them."""
ENDS_MAX = 1_000
"""So many a call; the rest ends by its token."""
_NOT_YET = b"\xa0"
"""In a row, what stands where the time of its end will."""

Attempt = tuple[str, int]


class Claim(NamedTuple):
    """What the rows of one claim, of one item type, have in common."""

    tail: bytes
    """How they end."""
    started_at: float


@dataclass(slots=True)
class UsualEnds:
    """Ends of one worker's jobs of one tenant, as `settle_usual` unpacks them."""

    attempts: dict[Attempt, None] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    """Of their worker and their tenant."""
    told: bytes = b""


class Handed:
    """The rows of one process's attempts."""

    def __init__(self) -> None:
        self._rows: dict[Attempt, tuple[str, Claim]] = {}
        """The subject of each, and its claim."""

    def keep(self, handed: Iterable[tuple[Lease, str]], *, ends: Mapping[str, str], now: float) -> None:
        """Remember what a claim at that time was answered with."""
        if len(self._rows) > ROWS_MAX:
            self._rows.clear()
        claims: dict[ItemType, Claim] = {}
        for lease, subject in handed:
            claim = claims.get(lease.item_type)
            if claim is None:
                facts = (str(lease.token), lease.worker, ends[lease.item_type.value], repr(now))
                tail = b"".join([*map(packed, facts), _NOT_YET])
                claim = claims[lease.item_type] = Claim(tail, now)
            self._rows[lease.job_id, lease.token] = (subject, claim)

    def ends_of(
        self,
        words: Mapping[Attempt, tuple[Lease, Outcome]],
        names: Names,
        now: float,
        *,
        together: bool = True,
    ) -> UsualEnds:
        """The usual ones among these ends, of the first one's worker and tenant; each is named once.

        `together`: the server may know one command for all their end times.
        """
        usual = UsualEnds()
        whose: tuple[str, str] | None = None
        ids: list[str] = []
        subjects: list[str] = []
        which: list[int] = []
        claims: dict[Claim, int] = {}
        for attempt, (lease, outcome) in words.items():
            row = self._rows.pop(attempt, None)
            if row is None or not isinstance(outcome, Done) or len(ids) >= ENDS_MAX:
                continue
            whose = whose or (lease.worker, lease.tenant)
            if (lease.worker, lease.tenant) != whose:
                continue
            usual.attempts[attempt] = None
            ids.append(lease.job_id)
            subjects.append(row[0])
            which.append(claims.setdefault(row[1], len(claims) + 1))
        if whose is not None:
            worker, tenant = whose
            usual.keys = (names.processing_of(worker), names.subjects_of(tenant))
            kept = (DOCUMENTED_EXPIRY_SECONDS, names.completed_max)
            tails = [raw(claim.tail) for claim in claims]
            lasted = [_lasted(now - claim.started_at) for claim in claims]
            told = (ids, subjects, which, tails, lasted, int(together))
            usual.told = packed((tenant, *kept, *told))
        return usual


def _lasted(seconds: float) -> str:
    """To the millisecond, as `parts/status.lua` writes it."""
    return f"{math.floor(max(0.0, seconds) * 1000 + 0.5) / 1000:.14g}"

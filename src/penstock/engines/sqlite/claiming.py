"""Claiming: what a worker is handed next, and how it is leased to it.

What runs next is `picking`'s whole rule. Most queues are one lane, though: one tenant's jobs at one rank,
with nothing held back and no limit. There the next job in turn is also the longest-waiting one, so the first
rows of the lane are what the rule would choose, and they are read at one go. The two ends of the index of
claimable rows tell whether there is only one lane. A property test holds the short way against the long one.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.engines.sqlite.picking import PARKED_MAX, Picker, Row, closed_now, find_suspect, read_lane
from penstock.engines.sqlite.respelling import read_leniently, respell, unreadable
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.errors import ErrorReport
from penstock.model.jobs import JobId, Lease
from penstock.model.payloads import ItemType
from penstock.model.rules import Rules


class _State(NamedTuple):
    """What a claim knows before it chooses, in the order of the statement's columns."""

    claims: int
    held_back: int
    """Something is paused, or a tenant is under deletion."""
    suspects: int
    rank: int | None
    tenant: str | None
    one_lane: int | None


@dataclass(slots=True)
class Leased:
    """Leases on claimed rows, and the rows nobody can read, with the token of their attempt."""

    leases: list[Lease] = field(default_factory=list)
    unfit: list[tuple[JobId, int, ErrorReport]] = field(default_factory=list)


@dataclass(slots=True)
class Taken:
    """What a claim leased, and until when each lease lasts."""

    rows: list[Row]
    until: dict[str, float]
    alone: bool = False
    more: bool = False
    """It stopped early to keep the write lock short; ask again at once."""
    leased: Leased | None = None
    """The rows as values, once somebody has read them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Who asks for how much."""

    worker: str
    limit: int
    idle: bool
    now: float
    rules: Rules
    chosen: Callable[[Taken], None] = lambda taken: None
    """Told what is about to be leased, so that it can be read meanwhile; it counts only once all is done."""


def claim(db: sqlite3.Connection, asked: Claim) -> Taken:
    """Lease up to `limit` jobs to a worker."""
    if asked.limit < 1:
        return Taken([], {})
    state = _State._make(db.execute(sql("claim_state")).fetchone())
    if not state.held_back and not asked.rules.tenant_limit and not (asked.idle and state.suspects):
        if state.rank is None:
            return Taken([], {})
        if state.one_lane:
            return take(db, _first_of_lane(db, state, asked), asked)
    return claim_by_rule(db, asked, claims=state.claims)


def claim_by_rule(db: sqlite3.Connection, asked: Claim, *, claims: int) -> Taken:
    """The long way, right for every queue; `claims` were made before."""
    closed = closed_now(db, asked.rules)
    if closed.everything:
        return Taken([], {})
    if asked.idle and (suspect := find_suspect(db, closed)) is not None:
        return take(db, [suspect], asked, alone=True)
    picker = Picker(db, closed, asked.limit, claims=claims, every=asked.rules.longest_waiting_every)
    rows = list(picker.pick(asked.limit))
    picker.remember()
    taken = take(db, rows, asked)
    taken.more = picker.parked >= PARKED_MAX
    return taken


def claim_any(db: sqlite3.Connection, asked: Claim) -> Taken:
    """The same where a row holds bytes that are no text: it is read all the same, to be refused."""
    try:
        return claim(db, asked)
    except (sqlite3.OperationalError, TypeError, UnicodeEncodeError) as error:
        if isinstance(error, sqlite3.OperationalError) and not unreadable(error):
            raise
    try:
        return read_leniently(db, lambda db: claim(db, asked), "surrogateescape")
    except (TypeError, UnicodeEncodeError):  # what a further statement names, or what is put in order
        respell(db)
        return read_leniently(db, lambda db: claim(db, asked), "surrogateescape")


def any_suspect(db: sqlite3.Connection, rules: Rules) -> bool:
    """Does a job wait for a worker of its own, and may it run?"""
    closed = closed_now(db, rules)
    return not closed.everything and find_suspect(db, closed) is not None


def _first_of_lane(db: sqlite3.Connection, state: _State, asked: Claim) -> list[Row]:
    where = {"rank": state.rank, "tenant": state.tenant, "created": "", "row": -1, "limit": asked.limit}
    rows = read_lane(db, where)
    every = asked.rules.longest_waiting_every
    # Two claims in a row are not both for the longest-waiting job, unless all are.
    if not every or any((state.claims + number) % every for number in (1, 2)[: len(rows)]):
        db.execute(sql("claim_turned"), (state.rank, state.tenant))
    return rows


def take(db: sqlite3.Connection, rows: list[Row], asked: Claim, *, alone: bool = False) -> Taken:
    """Lease rows that were chosen."""
    if not rows:
        return Taken([], {})
    rules, now = asked.rules, asked.now
    until = {kind: now + rules.lease_for(ItemType(kind)) for kind in {row.item_type for row in rows}}
    taken = Taken(rows, until, alone)
    asked.chosen(taken)
    for kind, at in until.items():
        chosen = json.dumps([row.rowid for row in rows if row.item_type == kind])
        where = {"until": iso(at), "worker": asked.worker, "now": iso(now), "rows": chosen}
        db.execute(sql("claim_take"), where)
    db.execute(sql("claim_counted"), (len(rows),))
    return taken

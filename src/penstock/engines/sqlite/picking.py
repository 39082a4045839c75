"""Choosing rows one after the other, by the whole rule.

Highest rank first; within it tenants in turn; within a tenant first in, first out; every nth claim takes the
longest-waiting job instead. A claim for many is the same as many claims for one: rows are read ahead in small
portions, chosen one by one, and leased together afterwards.

The cost must not depend on how much waits: every read is a seek in an index of claimable rows. Tenants that
may not run now (paused, at their limit, being deleted) are stepped over by one seek each; rows of a paused
collection or type are met once, set aside, and not met again until resumed.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from penstock.engines.sqlite.statements import sql
from penstock.model.jobs import PRIORITY_MAX, JobId, TenantId
from penstock.model.rules import SUSPECT_AFTER, Rules

PARKED_MAX = 5_000
"""Rows one claim sets aside at most before it answers with what it has."""
PORTION_MIN = 64
"""Rows read at once where the first portion of a lane was not enough."""


class Row(NamedTuple):
    """A claimable row, in the order of the claim statements' columns."""

    rowid: int
    queue_id: JobId
    token: int
    item_type: str
    op: str
    tenant_id: TenantId
    collection: str
    priority: int
    payload_json: str
    retry_count: int
    crashes: int
    branch: str | None
    metadata: str | None
    document_id: str | None
    delete_first: int
    created_at: str
    rank: int


_ROWS = msgspec.json.Decoder(list[Row])


def read_lane(db: sqlite3.Connection, where: Mapping[str, object]) -> list[Row]:
    """The next rows of a lane.

    They come as one text, because the driver lets go of the interpreter at every row, and beside a busy event
    loop each time it waits to have it back. What a text cannot carry (bytes in a row written by hand) comes
    row by row.
    """
    try:
        return _ROWS.decode(db.execute(sql("claim_lane_packed"), where).fetchone()[0])
    except (sqlite3.OperationalError, msgspec.DecodeError, UnicodeEncodeError):
        return list(map(_row, db.execute(sql("claim_lane"), where)))


def _row(columns: Iterable[Any]) -> Row:
    return Row._make(map(_plain, columns))


def _plain(value: Any) -> Any:
    """Bytes as text that is refused where it matters."""
    return value.decode(errors="surrogateescape") if isinstance(value, bytes) else value


@dataclass(slots=True)
class Closed:
    """Who may not run now."""

    everything: bool = False
    tenants: set[str] = field(default_factory=set)
    collections: set[str] = field(default_factory=set)
    types: set[str] = field(default_factory=set)
    room: dict[str, int] = field(default_factory=dict)
    """How many more jobs a tenant may run, where there is a limit."""
    limit: int = 0
    barriers: dict[str, Row] = field(default_factory=dict)
    """Tenant deletions whose way is clear: the only job of their tenant that may run."""
    suspended: set[str] = field(default_factory=set)
    """Tenants paused or at their limit, not merely under deletion."""

    def holds(self, row: Row) -> bool:
        return row.collection in self.collections or row.item_type in self.types

    def admit(self, tenant: str) -> bool:
        return not self.limit or self.room.get(tenant, self.limit) > 0

    def spend(self, tenant: str) -> None:
        if self.limit:
            self.room[tenant] = self.room.get(tenant, self.limit) - 1


def closed_now(db: sqlite3.Connection, rules: Rules) -> Closed:
    closed = Closed(limit=rules.tenant_limit)
    for scope, name, _, _ in db.execute(sql("pause_list")):
        match scope:
            case "all":
                closed.everything = True
            case "tenant":
                closed.tenants.add(name)
            case "collection":
                closed.collections.add(name)
            case _:
                closed.types.add(name)
    if rules.tenant_limit:
        for tenant, running in db.execute(sql("claim_running")):
            closed.room[tenant] = rules.tenant_limit - running
            if running >= rules.tenant_limit:
                closed.tenants.add(tenant)
    closed.suspended = set(closed.tenants)
    deleted = {tenant for (tenant,) in db.execute(sql("claim_closed"))}
    if deleted:
        rows = map(_row, db.execute(sql("claim_barriers")))
        closed.barriers = {
            row.tenant_id: row
            for row in rows
            if row.tenant_id not in closed.suspended and not closed.holds(row)
        }
        closed.tenants |= deleted
    return closed


def find_suspect(db: sqlite3.Connection, closed: Closed) -> Row | None:
    for row in map(_row, db.execute(sql("claim_suspect"))):
        barrier = closed.barriers.get(row.tenant_id)
        is_open = row.tenant_id not in closed.tenants or (barrier is not None and barrier.rowid == row.rowid)
        if is_open and not closed.holds(row):
            return row
    return None


class Picker:
    """Chooses rows one after the other; the table is changed only afterwards."""

    def __init__(
        self, db: sqlite3.Connection, closed: Closed, limit: int, *, claims: int, every: int
    ) -> None:
        """`claims` were made before; every `every`th one takes the longest-waiting job."""
        self._db = db
        self._closed = closed
        self._claims = claims
        self._barriers = {t: row for t, row in closed.barriers.items() if row.crashes < SUSPECT_AFTER}
        self._limit = limit
        self._every = every
        self._taken: set[int] = set()
        self._rank = PRIORITY_MAX + 1
        self._ring: deque[str] = deque()
        """Tenants whose turn comes in this round."""
        self._served: deque[str] = deque()
        """Those that had theirs; the next round."""
        self._is_cut = False
        """The ring is as long as a claim needs at most, so further tenants may come behind it."""
        self._lanes: dict[str, _Lane] = {}
        self._oldest: _Oldest | None = None
        self._turns: dict[int, str] = {}
        self._spent: set[str] = set()
        """Tenants with nothing more at this rank."""
        self.parked = 0

    def pick(self, limit: int) -> Iterator[Row]:
        """The rows of `limit` claims, in order."""
        number = self._claims
        while len(self._taken) < limit and self.parked < PARKED_MAX:
            number += 1
            longest = bool(self._every) and number % self._every == 0
            row = self._longest_waiting() if longest else self._in_turn()
            if row is None:
                return
            self._taken.add(row.rowid)
            self._closed.spend(row.tenant_id)
            if not longest:
                self._turns[row.rank] = row.tenant_id
            yield row

    def remember(self) -> None:
        """Keep whose turn it was."""
        self._db.executemany(sql("claim_turned"), list(self._turns.items()))

    def _in_turn(self) -> Row | None:
        while True:
            while self._ring:
                tenant = self._ring.popleft()
                row = self._next_of(tenant)
                if row is not None:
                    self._served.append(tenant)
                    return row
                self._spent.add(tenant)
            if not self._more_tenants() and not self._next_round() and not self._next_rank():
                return None

    def _next_of(self, tenant: str) -> Row | None:
        if not self._closed.admit(tenant):
            return None
        return next(self._lanes[tenant], None)

    def _next_round(self) -> bool:
        self._ring, self._served = self._served, self._ring
        return bool(self._ring)

    def _next_rank(self) -> bool:
        found = self._db.execute(sql("claim_rank"), (self._rank,)).fetchone()
        rank = found[0] if found else None
        if self._barriers and self._rank > PRIORITY_MAX:
            rank = PRIORITY_MAX
        if rank is None:
            return False
        self._rank = rank
        self._spent = set()
        self._is_cut = True
        self._lanes = {}
        self._more_tenants()
        return True

    def _more_tenants(self) -> bool:
        """Tenants of this rank behind a ring that was cut, in which somebody's rows all stepped aside."""
        if not self._is_cut:
            return False
        self._ring = deque(self._tenants(self._rank))
        share = -(-self._limit // max(1, len(self._ring)))
        if self._every:
            share += -(-self._limit // self._every)  # so many may be gone as the longest-waiting ones
        self._lanes |= {tenant: self._lane(self._rank, tenant, share) for tenant in self._ring}
        return bool(self._ring)

    def _tenants(self, rank: int) -> list[str]:
        """Open tenants with work at this rank, beginning after the one served last."""
        last = self._db.execute(sql("claim_turn"), (rank,)).fetchone()
        after = last[0] if last else ""
        asked = self._spent.union(self._served)
        limit = self._limit + len(self._closed.tenants) + len(asked)
        ring = [
            t for (t,) in self._db.execute(sql("claim_ring"), {"rank": rank, "after": after, "limit": limit})
        ]
        if after and len(ring) < limit:
            front = self._db.execute(sql("claim_ring"), {"rank": rank, "after": "", "limit": limit})
            ring += [tenant for (tenant,) in front if tenant <= after]
        self._is_cut = len(ring) >= limit
        if rank == PRIORITY_MAX and self._barriers:
            ring = sorted({*ring, *self._barriers}, key=lambda t: (t <= after, t))
        return [tenant for tenant in ring if tenant not in asked and self._may_run(tenant, rank)]

    def _may_run(self, tenant: str, rank: int) -> bool:
        deletion = rank == PRIORITY_MAX and tenant in self._barriers
        return deletion or tenant not in self._closed.tenants

    def _lane(self, rank: int, tenant: str, portion: int) -> _Lane:
        if tenant in self._closed.tenants:
            return _Lane(self, self._db, {}, 0, [self._barriers[tenant]])
        return _Lane(self, self._db, {"rank": rank, "tenant": tenant}, portion)

    def _longest_waiting(self) -> Row | None:
        if not self._closed.tenants and not self._closed.limit:
            self._oldest = self._oldest or _Oldest(self, self._db)
            return next(self._oldest, None)
        heads = [head for head in self._heads() if head is not None]
        return min(heads, key=lambda row: (row.created_at, row.rowid), default=None)

    def _heads(self) -> Iterator[Row | None]:
        """The first row of every open lane; the long way, taken only while some tenants are closed."""
        for rank, tenant in self._db.execute(sql("claim_heads")).fetchall():
            if tenant not in self._closed.tenants and self._closed.admit(tenant):
                yield next(_Lane(self, self._db, {"rank": rank, "tenant": tenant}, 1), None)
        for row in self._barriers.values():
            yield row if row.rowid not in self._taken else None

    def chosen(self, rowid: int) -> bool:
        """Is it one of those already picked?"""
        return rowid in self._taken

    def usable(self, row: Row) -> bool:
        """False for a row already chosen, and for one that is paused, which steps aside."""
        if row.rowid in self._taken:
            return False
        if self._closed.holds(row):
            self._db.execute(sql("claim_park"), (row.rowid,))
            self.parked += 1
            return False
        return True


class _Lane:
    """A tenant's rows at a rank in order, read in portions."""

    def __init__(
        self,
        picker: Picker,
        db: sqlite3.Connection,
        where: dict[str, object],
        portion: int,
        ahead: list[Row] | None = None,
    ) -> None:
        self._picker = picker
        self._db = db
        self._where = where
        self._portion = portion
        self._ahead: deque[Row] = deque(ahead or ())
        self._after: tuple[str, int] = ("", -1)

    def __iter__(self) -> _Lane:
        return self

    def __next__(self) -> Row:
        while self._picker.parked < PARKED_MAX:
            if not self._ahead and not self._read():
                break
            row = self._ahead.popleft()
            if self._picker.usable(row):
                return row
        raise StopIteration

    def _read(self) -> bool:
        if not self._portion:
            return False
        created, rowid = self._after
        where = {**self._where, "created": created, "row": rowid, "limit": self._portion}
        self._ahead.extend(read_lane(self._db, where))
        if self._ahead:
            self._after = (self._ahead[-1].created_at, self._ahead[-1].rowid)
        self._portion = max(self._portion, PORTION_MIN) if len(self._ahead) == self._portion else 0
        return bool(self._ahead)


class _Oldest:
    """Rows by age whatever their rank and tenant; of most only the place in the index is read."""

    def __init__(self, picker: Picker, db: sqlite3.Connection) -> None:
        self._picker = picker
        self._db = db
        self._ahead: deque[tuple[str, int]] = deque()
        self._after: tuple[str, int] = ("", -1)

    def __iter__(self) -> _Oldest:
        return self

    def __next__(self) -> Row:
        while self._picker.parked < PARKED_MAX:
            if not self._ahead:
                self._ahead.extend(self._db.execute(sql("claim_oldest"), (*self._after, PORTION_MIN)))
                if not self._ahead:
                    break
            self._after = self._ahead.popleft()
            if self._picker.chosen(self._after[1]):
                continue
            row = _row(self._db.execute(sql("claim_row"), (self._after[1],)).fetchone())
            if self._picker.usable(row):
                return row
        raise StopIteration

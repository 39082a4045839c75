"""Tickets: taken from the table by one statement, so that of two processes one finds nothing."""

from __future__ import annotations

import re
import secrets
import sqlite3
from hashlib import sha256
from typing import Any

from penstock.engines.sqlite.access import Access
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso, iso_or_none, seconds, seconds_or_none
from penstock.model.errors import Refused
from penstock.model.principals import Principal, Proof, invalid_ticket

TICKET_SECONDS = 30.0
TICKETS_MAX = 64
"""Of one user at once; more than anybody has windows open."""
PORTION = 1000
PREFIX = "pst_"
"""By it a ticket is known where it must not be written, such as a log."""
_TICKET = re.compile(PREFIX + "[A-Za-z0-9_-]{43}")


class SqliteTickets:
    """Implements `Tickets` for every process on this database."""

    def __init__(self, store: Access, *, ticket_seconds: float = TICKET_SECONDS) -> None:
        self._store, self._seconds = store, ticket_seconds

    async def issue(self, principal: Principal) -> str:
        """A new ticket for him; what is over is removed on the way."""
        now = self._store.clock.now()
        if principal.is_over(now):
            raise Refused("the token has expired", code="ERR_TOKEN_EXPIRED")
        ticket = PREFIX + secrets.token_urlsafe(32)
        ends = now + self._seconds
        row = {
            "hash": _hash(ticket),
            "user": principal.user,
            "role": principal.role,
            "expires": iso(ends if principal.expires_at is None else min(ends, principal.expires_at)),
            "proof_expires": iso_or_none(principal.expires_at),
        }

        def work(db: sqlite3.Connection) -> None:
            db.execute(sql("ticket_prune"), {"now": iso(now), "limit": PORTION})
            db.execute(sql("ticket_issue"), row)
            db.execute(sql("ticket_crowd"), {"user": principal.user, "most": TICKETS_MAX})

        # One that a power cut takes away is asked for again; one that was used must stay used.
        await self._store.change(work, durable=False)
        return ticket

    async def redeem(self, ticket: str) -> Principal:
        """Who it was issued for, once."""
        if _TICKET.fullmatch(ticket) is None:
            raise invalid_ticket()
        where = {"hash": _hash(ticket)}
        rows: list[Any] = await self._store.change(
            lambda db: db.execute(sql("ticket_redeem"), where).fetchall()
        )
        for user, role, expires, proof_expires in rows:
            if self._store.clock.now() < seconds(expires):
                ends = seconds_or_none(proof_expires)
                return Principal(user=user, role=role, expires_at=ends, proof=Proof.TICKET)
        raise invalid_ticket()


def _hash(ticket: str) -> str:
    # A plain hash will do: a ticket is 256 bits of chance, which nobody tries out.
    return sha256(ticket.encode()).hexdigest()

"""Tickets: taken from the table by one statement, so that of two processes one finds nothing."""

from __future__ import annotations

import secrets
import sqlite3
from hashlib import sha256
from typing import Any

from penstock.engines.sqlite.access import Access
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso, iso_or_none, seconds, seconds_or_none
from penstock.model.errors import Refused
from penstock.model.principals import TICKET, Principal, Proof, invalid_ticket

TICKET_SECONDS = 30.0
TICKETS_MAX = 64
"""Of one user and kind at once; more than anybody has windows open."""
PORTION = 1000
PASS_SECONDS = 24 * 3600.0
PREFIX = "pst_"


class SqliteTickets:
    """Implements `Tickets` for every process on this database."""

    def __init__(self, store: Access, *, ticket_seconds: float = TICKET_SECONDS) -> None:
        self._store, self._seconds = store, ticket_seconds

    async def issue(self, principal: Principal) -> str:
        """A new ticket for him; what is over is removed on the way."""
        return await self._issue(principal, "ticket", self._seconds)

    async def issue_pass(self, principal: Principal) -> str:
        """A pass, which is shown as often as its stream comes again."""
        return await self._issue(principal, "pass", PASS_SECONDS)

    async def redeem(self, ticket: str) -> Principal:
        """Who it was issued for, once."""
        where = {"hash": _hash(_spelt(ticket))}
        rows = await self._store.change(lambda db: db.execute(sql("ticket_redeem"), where).fetchall())
        return self._principal(rows, Proof.TICKET)

    async def read_pass(self, shown: str) -> Principal:
        """Who it was issued for, as long as his token is good."""
        where = {"hash": _hash(_spelt(shown))}
        rows = await self._store.look(lambda db: db.execute(sql("pass_find"), where).fetchall())
        return self._principal(rows, Proof.PASS)

    async def _issue(self, principal: Principal, kind: str, lasts: float) -> str:
        now = self._store.clock.now()
        if principal.is_over(now):
            raise Refused("the token has expired", code="ERR_TOKEN_EXPIRED")
        ticket = PREFIX + secrets.token_urlsafe(32)
        ends = now + lasts
        row = {
            "hash": _hash(ticket),
            "kind": kind,
            "user": principal.user,
            "role": principal.role,
            "issued": iso(now),
            "expires": iso(ends if principal.expires_at is None else min(ends, principal.expires_at)),
            "proof_expires": iso_or_none(principal.expires_at),
        }

        def work(db: sqlite3.Connection) -> None:
            db.execute(sql("ticket_prune"), {"now": iso(now), "limit": PORTION})
            db.execute(sql("ticket_issue"), row)
            db.execute(sql("ticket_crowd"), {"user": principal.user, "kind": kind, "most": TICKETS_MAX})

        # One that a power cut takes away is asked for again; one that was used must stay used.
        await self._store.change(work, durable=False)
        return ticket

    def _principal(self, rows: list[Any], proof: Proof) -> Principal:
        for user, role, expires, proof_expires in rows:
            if self._store.clock.now() < seconds(expires):
                ends = seconds_or_none(proof_expires)
                return Principal(user=user, role=role, expires_at=ends, proof=proof)
        raise invalid_ticket()


def _spelt(shown: str) -> str:
    if TICKET.fullmatch(shown) is None:
        raise invalid_ticket()
    return shown


def _hash(ticket: str) -> str:
    # A plain hash will do: a ticket is 256 bits of chance, which nobody tries out.
    return sha256(ticket.encode()).hexdigest()

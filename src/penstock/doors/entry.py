"""Who comes in: the one place where a request, by whatever door, becomes somebody.

Where the visit comes from is judged first. Then, in local mode, it is the person at this machine; elsewhere a
token or a ticket says who it is, and nothing else in the request does.
"""

from __future__ import annotations

import logging
from collections import OrderedDict

from penstock.model.errors import Refused
from penstock.model.principals import Principal, missing_token
from penstock.model.visits import Threshold, Visit, check_visit, local_principal
from penstock.ports.database import Database
from penstock.ports.tokens import Tickets, Tokens

log = logging.getLogger("penstock.entry")
KNOWN_MAX = 10_000
"""Users remembered as known; others are looked up again."""


class Entry:
    """Lets people in, and knows those it has let in."""

    def __init__(
        self, database: Database, tokens: Tokens | None, tickets: Tickets, threshold: Threshold
    ) -> None:
        """Without `tokens` everybody is the local user."""
        self._database = database
        self._tokens = tokens
        self._tickets = tickets
        self._threshold = threshold
        self._known: OrderedDict[str, None] = OrderedDict()
        self.port = 0
        """The port that is listened on, known once it is."""

    def check(self, visit: Visit) -> None:
        """Refuse a visit nobody may make, whoever it is."""
        if self._tokens is None:
            local_principal(visit, self.port)
        else:
            check_visit(visit, self._threshold)

    async def admit(
        self, visit: Visit, *, token: str | None = None, ticket: str | None = None, held: str | None = None
    ) -> Principal:
        """Who it is; Refused where nobody is shown. What is `held` is the pass of an earlier stream."""
        self.check(visit)
        principal = await self._principal(visit, token, ticket, held)
        await self._know(principal.user)
        return principal

    async def issue(self, principal: Principal) -> str:
        """A ticket for somebody who is in."""
        return await self._tickets.issue(principal)

    async def issue_pass(self, principal: Principal) -> str:
        """A pass for somebody whose ticket is used."""
        return await self._tickets.issue_pass(principal)

    async def _principal(
        self, visit: Visit, token: str | None, ticket: str | None, held: str | None
    ) -> Principal:
        if self._tokens is None:
            return local_principal(visit, self.port)
        if held is not None and token is None:
            try:
                return await self._tickets.read_pass(held)
            except Refused:
                if ticket is None:
                    raise
        if ticket is not None:
            return await self._tickets.redeem(ticket)
        if token is None:
            raise missing_token()
        try:
            return await self._tokens.read(token)
        except Refused as refused:
            log.debug("a token was refused: %s", "; ".join(getattr(refused, "__notes__", ())))
            raise

    async def _know(self, user: str) -> None:
        if user in self._known:
            self._known.move_to_end(user)
            return
        await self._database.write(lambda tx: tx.accounts.sign_in(user))
        self._known[user] = None
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)


def bearer_of(header: str | None) -> str | None:
    """The token of an Authorization header; None where it holds none."""
    scheme, _, token = (header or "").strip().partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None

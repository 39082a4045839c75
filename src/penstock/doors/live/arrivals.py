"""Who comes in by the live door: what a connection says of itself, and where it wants to go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from starlette.requests import HTTPConnection

from penstock.doors.entry import bearer_of
from penstock.doors.live.listener import Bookmark
from penstock.model.errors import Refused
from penstock.model.principals import TICKET, Principal
from penstock.model.visits import Visit

SEQ_MAX = 1 << 62
AT_LENGTH_MAX = 40
PASS_MARK = ";"  # noqa: S105  # no password
"""Between a bookmark and the pass of its stream."""


class Doorkeeper(Protocol):
    """Says who may come in."""

    def check(self, visit: Visit) -> None:
        """Refuse a visit nobody may make."""
        ...

    async def admit(
        self, visit: Visit, *, token: str | None = None, ticket: str | None = None, held: str | None = None
    ) -> Principal:
        """Who it is; Refused where nobody is shown."""
        ...

    async def issue_pass(self, principal: Principal) -> str:
        """What somebody who came by a ticket comes again with."""
        ...


class Counting:
    """A doorkeeper who counts how often each user comes, as requests are counted."""

    def __init__(self, doorkeeper: Doorkeeper, spend: Callable[[str], None]) -> None:
        """`spend` raises Exhausted where somebody comes too often."""
        self._doorkeeper = doorkeeper
        self._spend = spend

    def check(self, visit: Visit) -> None:
        """Refuse a visit nobody may make."""
        self._doorkeeper.check(visit)

    async def admit(
        self, visit: Visit, *, token: str | None = None, ticket: str | None = None, held: str | None = None
    ) -> Principal:
        """Who it is, if he has not come too often."""
        principal = await self._doorkeeper.admit(visit, token=token, ticket=ticket, held=held)
        self._spend(principal.user)
        return principal

    async def issue_pass(self, principal: Principal) -> str:
        """What somebody who came by a ticket comes again with."""
        return await self._doorkeeper.issue_pass(principal)

    async def renew(self, visit: Visit, token: str) -> Principal:
        """Who it is that is in already; that counts nothing, for he would lose a good connection by it."""
        return await self._doorkeeper.admit(visit, token=token)


def token_of(connection: HTTPConnection) -> str | None:
    """The token in the header, else the one in the address."""
    headers = connection.headers.getlist("authorization")
    token = bearer_of(headers[0]) if len(headers) == 1 else None
    return token or only(connection, "token")


def bookmark_of(connection: HTTPConnection) -> Bookmark | None:
    """The last event the other end has; None where it does not say. A pass behind it is passed over."""
    header = connection.headers.get("last-event-id")
    given = [header] if header else connection.query_params.getlist("since")
    text = given[0] if given else ""
    if not text and len(given) < 2:
        return None
    text, _, held = text.partition(PASS_MARK)
    number, _, at = text.partition("@")
    is_number = number.isascii() and number.isdigit() and len(number) < 20 and int(number) <= SEQ_MAX
    is_held = not held or TICKET.fullmatch(held) is not None
    if len(given) > 1 or not is_number or not is_held or len(at) > AT_LENGTH_MAX:
        raise Refused("since is the number of an event, or that and its time", code="ERR_SINCE_INVALID")
    return Bookmark(int(number), at or None)


def pass_of(connection: HTTPConnection) -> str | None:
    """The pass behind the last event a stream told; an address is no place for one, so none is read there."""
    headers = connection.headers.getlist("last-event-id")
    return headers[0].partition(PASS_MARK)[2] or None if len(headers) == 1 else None


def only(connection: HTTPConnection, name: str) -> str | None:
    """A word of the address, where it is given once."""
    given = connection.query_params.getlist(name)
    return given[0] or None if len(given) == 1 else None

"""Requests that may be sent again: under a key, the same request gets the answer it got before.

A request that was answered finds the world changed by itself: its document is deleted, its quota full. So a
route looks for the earlier answer before it judges anything, and again in the transaction that does the work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Header, Request
from pydantic import BaseModel
from starlette.responses import Response

from penstock.doors.http.house import Asker, House, In
from penstock.model.errors import Refused
from penstock.model.requests import Answered, request_key
from penstock.ports.database import Transaction

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="The same request under the same key is answered as before, and nothing is done twice.",
    ),
]
Work = Callable[[Transaction], BaseModel | Answered]
"""What is done in one transaction, and what is said of it, with a status of its own where it has one."""


class Repeat:
    """The key of one request, if it has one."""

    def __init__(self, house: House, user: str, key: str | None) -> None:
        self._house = house
        self._user = user
        self._key = None if key is None else request_key(key)

    async def is_known(self) -> bool:
        """Whether something was answered under the key, be it this request or another."""
        user, key = self._user, self._key
        return key is not None and await self._house.store.write(lambda tx: tx.requests.knows(user, key))

    async def earlier(
        self, fingerprint: str, otherwise: Callable[[Transaction], None] = lambda _: None
    ) -> Response | None:
        """The answer this request got before, if it did; `otherwise` is done with it."""
        user, key = self._user, self._key
        if key is None:
            return None

        def look(tx: Transaction) -> Answered | None:
            found = tx.requests.earlier(user, key, fingerprint)
            if found is not None:
                otherwise(tx)
            return found

        told = await self._house.store.write(look)
        return None if told is None else _response(told)

    async def answered(
        self,
        fingerprint: str,
        status: int,
        work: Work,
        otherwise: Callable[[Transaction], None] = lambda _: None,
    ) -> Response:
        """Do the work in one transaction with its answer; `otherwise`, where that is there already."""
        return _response(await self.once(fingerprint, status, work, otherwise))

    async def once(
        self,
        fingerprint: str,
        status: int,
        work: Work,
        otherwise: Callable[[Transaction], None] = lambda _: None,
    ) -> Answered:
        """The same, as it is kept."""
        user, key = self._user, self._key

        def do(tx: Transaction) -> Answered:
            if key is None:
                return _answered(status, work(tx))
            earlier = tx.requests.earlier(user, key, fingerprint)
            if earlier is not None:
                otherwise(tx)
                return earlier
            answered = _answered(status, work(tx))
            tx.requests.keep(user, key, fingerprint, answered)
            return answered

        return await self._house.store.write(do)


def _answered(status: int, said: BaseModel | Answered) -> Answered:
    if isinstance(said, Answered):
        return said
    return Answered(status=status, body=said.model_dump_json().encode())


def _response(told: Answered) -> Response:
    return Response(told.body, told.status, media_type="application/json")


def check_one_key(request: Request) -> None:
    """Refused where a request comes under several keys: nobody could say which one it is known by."""
    if len(request.headers.getlist("idempotency-key")) > 1:
        raise Refused("a request has one idempotency key", code="ERR_IDEMPOTENCY_KEY_INVALID")


def repeat(request: Request, house: In, asker: Asker, key: Key = None) -> Repeat:
    """What makes a request repeatable."""
    check_one_key(request)
    return Repeat(house, asker.user, key)


Repeatable = Annotated[Repeat, Depends(repeat)]

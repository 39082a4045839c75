"""Requests that may be sent again: under a key, the same request gets the answer it got before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends, Header
from pydantic import BaseModel
from starlette.responses import Response

from penstock.doors.http.house import Asker, House, In
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


class Repeat:
    """The key of one request, if it has one."""

    def __init__(self, house: House, user: str, key: str | None) -> None:
        self._house = house
        self._user = user
        self._key = None if key is None else request_key(key)

    async def answered(
        self,
        fingerprint: str,
        status: int,
        work: Callable[[Transaction], BaseModel],
        otherwise: Callable[[Transaction], None] = lambda _: None,
    ) -> Response:
        """Do the work in one transaction with its answer; `otherwise`, where that is there already."""
        user, key = self._user, self._key

        def once(tx: Transaction) -> Answered:
            if key is None:
                return Answered(status=status, body=work(tx).model_dump_json().encode())
            earlier = tx.requests.earlier(user, key, fingerprint)
            if earlier is not None:
                otherwise(tx)
                return earlier
            answered = Answered(status=status, body=work(tx).model_dump_json().encode())
            tx.requests.keep(user, key, fingerprint, answered)
            return answered

        told = await self._house.store.write(once)
        return Response(told.body, told.status, media_type="application/json")


def repeat(house: In, asker: Asker, key: Key = None) -> Repeat:
    """What makes a request repeatable."""
    return Repeat(house, asker.user, key)


Repeatable = Annotated[Repeat, Depends(repeat)]

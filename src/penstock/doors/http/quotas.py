"""How much one workspace may hold, where a limit is set.

What it holds is counted in the transaction that takes something in, after it was taken in: of requests at the
same moment, in whichever processes, those that still fit are accepted and the others leave nothing behind.
Before a body is read there is a look too, so that a full workspace refuses at once. While it is read, its
bytes lie on the disk already: so they are counted as they come, with those of all other bodies on their way.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

from penstock.doors.http.house import House
from penstock.model.accounts import Workspace
from penstock.model.catalogue import Holding
from penstock.model.errors import Exhausted
from penstock.ports.database import Transaction
from penstock.settings import Http

AGAIN_SECONDS = 60.0
"""When to come again: somebody may have deleted something by then."""
UNASKED_BYTES = 1 << 20
"""So much of a file may come before it is asked again whether there is room."""


async def check_room(house: House, here: Workspace) -> None:
    """Exhausted where not even one document more fits."""
    if _is_limited(house.settings.http):
        held = await house.store.catalogue.holding(here.id)
        _check(house.settings.http, Holding(documents=held.documents + 1, size=held.size + 1))


async def within_room(
    house: House, here: Workspace, pieces: AsyncIterator[bytes], *, is_known: bool
) -> AsyncIterator[bytes]:
    """The pieces of a file as long as there is room for them; Exhausted where there is none.

    What was answered before may be what fills the room: it is counted with what else is on its way alone.
    """
    most, left = house.settings.http.quota_bytes, 0
    async for piece in pieces:
        if most is not None and len(piece) > left:
            held = 0 if is_known else (await house.store.catalogue.holding(here.id)).size
            held += await house.counting.arriving(here.id)
            _check(house.settings.http, Holding(documents=0, size=held + len(piece)))
            left = min(most - held, UNASKED_BYTES)
        left -= len(piece)
        yield piece


def check_held(tx: Transaction, http: Http, here: Workspace) -> None:
    """Exhausted where the workspace holds too much by now: what this transaction did is undone."""
    if _is_limited(http):
        _check(http, tx.shelves.holding(here.id))


def check_collections(tx: Transaction, http: Http, here: Workspace) -> None:
    """Exhausted where the workspace has too many collections by now: each is tables of its own."""
    _check_count("collections", http.quota_collections, lambda most: tx.shelves.count(here.id, most=most))


def check_conversations(tx: Transaction, http: Http, here: Workspace) -> None:
    """Exhausted where the workspace has too many conversations by now."""
    _check_count(
        "conversations", http.quota_conversations, lambda most: tx.conversations.count(here.id, most=most)
    )


def _check_count(what: str, most: int | None, count: Callable[[int], int]) -> None:
    if most and count(most + 1) > most:
        raise Exhausted(
            f"the workspace may have {most:,} {what}, and has them already",
            code=f"ERR_QUOTA_{what.upper()}",
            retry_after=AGAIN_SECONDS,
        )


def _is_limited(http: Http) -> bool:
    return http.quota_documents is not None or http.quota_bytes is not None


def _check(http: Http, held: Holding) -> None:
    if http.quota_documents is not None and held.documents > http.quota_documents:
        raise Exhausted(
            f"the workspace may hold {http.quota_documents:,} documents and would hold {held.documents:,}",
            code="ERR_QUOTA_DOCUMENTS",
            retry_after=AGAIN_SECONDS,
        )
    if http.quota_bytes is not None and held.size > http.quota_bytes:
        raise Exhausted(
            f"the workspace may hold {http.quota_bytes:,} bytes and would hold {held.size:,}",
            code="ERR_QUOTA_BYTES",
            retry_after=AGAIN_SECONDS,
        )

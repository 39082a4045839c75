"""How much one workspace may hold, where a limit is set.

What it holds is counted in the transaction that takes something in, after it was taken in: of requests at the
same moment, in whichever processes, those that still fit are accepted and the others leave nothing behind.
Before a body is read there is a look too, so that a full workspace refuses at once.
"""

from __future__ import annotations

from penstock.doors.http.house import House
from penstock.model.accounts import Workspace
from penstock.model.catalogue import Holding
from penstock.model.errors import Exhausted
from penstock.ports.database import Transaction
from penstock.settings import Http

AGAIN_SECONDS = 60.0
"""When to come again: somebody may have deleted something by then."""


async def check_room(house: House, here: Workspace) -> None:
    """Exhausted where not even one document more fits."""
    if _is_limited(house.settings.http):
        held = await house.store.catalogue.holding(here.id)
        _check(house.settings.http, Holding(documents=held.documents + 1, size=held.size + 1))


def check_held(tx: Transaction, http: Http, here: Workspace) -> None:
    """Exhausted where the workspace holds too much by now: what this transaction did is undone."""
    if _is_limited(http):
        _check(http, tx.shelves.holding(here.id))


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

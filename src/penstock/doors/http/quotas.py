"""How much one workspace may hold, where a limit is set.

What it holds is counted when something is put in. Requests at the same moment may each find room: a quota is
then passed by what they bring, and the next one is refused.
"""

from __future__ import annotations

from penstock.doors.http.house import House
from penstock.model.accounts import Workspace
from penstock.model.catalogue import DocumentState
from penstock.model.errors import Exhausted

AGAIN_SECONDS = 60.0
"""When to come again: somebody may have deleted something by then."""


async def check_room(house: House, here: Workspace, *, documents: int = 1, size: int = 0) -> None:
    """Exhausted where so much more does not fit."""
    most, most_bytes = house.settings.http.quota_documents, house.settings.http.quota_bytes
    if not most and not most_bytes:
        return
    held = held_bytes = 0
    for collection in await house.store.catalogue.collections(here.id):
        counts = await house.store.catalogue.counts(collection.id)
        held += sum(counts.get(state, 0) for state in DocumentState)
        held_bytes += counts.get("bytes", 0)
    if most and held + documents > most:
        raise Exhausted(
            f"the workspace holds {held:,} documents of {most:,}",
            code="ERR_QUOTA_DOCUMENTS",
            retry_after=AGAIN_SECONDS,
        )
    if most_bytes and held_bytes + size > most_bytes:
        raise Exhausted(
            f"the workspace holds {held_bytes:,} bytes of {most_bytes:,}",
            code="ERR_QUOTA_BYTES",
            retry_after=AGAIN_SECONDS,
        )

"""Looking up what a job names, with the refusal a person should read."""

from __future__ import annotations

from penstock.model.catalogue import Collection
from penstock.model.errors import Refused
from penstock.model.jobs import TenantId
from penstock.ports.database import Transaction


def collection_of(tx: Transaction, tenant: TenantId, name: str) -> Collection:
    """The tenant's collection of this name; Refused if there is none."""
    found = tx.shelves.find(tx.shelves.workspace_of(tenant), name)
    if found is None:
        raise Refused(f"there is no collection {name!r}", code="ERR_COLLECTION_UNKNOWN")
    return found

"""What a collection may be called: its name is also a Redis key's part and a folder's name."""

from __future__ import annotations

import re

from penstock.model.errors import Refused

COLLECTION_NAME = re.compile(r"[a-zA-Z0-9_]{1,100}")
RESERVED = frozenset({"high", "normal", "low"})
"""Names of the documented priority queues, beside which a collection's own queue stands."""


def name_fault(name: str) -> str | None:
    """What is wrong with a collection's name, in words; None if nothing is."""
    if name in RESERVED:
        return "it is the name of a priority"
    if not COLLECTION_NAME.fullmatch(name):
        return "a collection's name is made of letters, digits and _, 100 at most"
    return None


def check_collection_name(name: str) -> None:
    """Refuse a name no collection may have."""
    if wrong := name_fault(name):
        raise Refused(f"no collection may be called {name[:40]!r}: {wrong}", code="ERR_COLLECTION_INVALID")

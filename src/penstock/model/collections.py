"""What a collection may be called, and what it may take less of than others.

Its name is also a Redis key's part and a folder's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from penstock.model.errors import Refused

COLLECTION_NAME = re.compile(r"[a-zA-Z0-9_]{1,100}")
RESERVED = frozenset({"high", "normal", "low"})
"""Names of the documented priority queues, beside which a collection's own queue stands."""


class RecreationPolicy(StrEnum):
    """What a reindex makes of the documents that are there."""

    RECREATE = "recreate"
    """All are built anew, beside the index that answers."""
    SKIP = "skip"
    """They stay; only a collection without any is built anew."""
    APPEND = "append"
    """They stay; what is new or changed is taken in."""

    def rebuilds(self, seen: int) -> bool:
        """Whether a collection of which readers see so many documents is built anew when that is asked for.

        Documents that wait or failed do not count: the very one that comes with the wish is among them.
        """
        match self:
            case RecreationPolicy.RECREATE:
                return True
            case RecreationPolicy.SKIP:
                return seen == 0
            case RecreationPolicy.APPEND:
                return False


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionLimits:
    """What a collection takes less of than the program as a whole."""

    file_bytes: int | None = None
    pages: int | None = None

    def bytes_within(self, most: int) -> int:
        """The largest file it takes, where the program takes `most`."""
        return most if self.file_bytes is None else min(self.file_bytes, most)

    def check_pages(self, pages: int) -> None:
        """Refuse a document with more pages than it takes."""
        if self.pages is not None and pages > self.pages:
            raise Refused(
                f"The file has {pages:,} pages; the collection takes {self.pages:,}.", code="ERR_PARSE_PAGES"
            )


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

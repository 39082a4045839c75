"""Documents as people look through them: page by page, in an order of their choice.

A page ends in a place: what the last document was sorted by, and its id. The next page is what comes behind
that place, so pages stay cheap however many came before, and a document deleted meanwhile shifts nothing. One
that is changed while somebody pages by the time of change may be met twice.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from penstock.model.catalogue import CollectionId, Document, DocumentId, DocumentState
from penstock.model.chunks import Chunk
from penstock.model.errors import Refused

PAGE_MAX = 500
"""Documents or chunks one page gives at most."""
COUNT_MAX = 10_000
"""How far documents are counted."""
PLACE_CHARACTERS_MAX = 2_000
SIZE_MAX = (1 << 62) - 1
"""No document is larger."""
NAME_PART_CHARACTERS_MAX = 200


class Sorting(StrEnum):
    """What documents are sorted by; those that are alike in it, by id."""

    CREATED = "created"
    UPDATED = "updated"
    NAME = "name"
    """Large and small letters of the Latin alphabet are alike."""
    SIZE = "size"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a page ended."""

    value: str | int
    document: DocumentId

    def as_text(self, sorting: Sorting) -> str:
        """For those who ask for the next page of this order; it means nothing to them."""
        told = json.dumps([sorting.value, self.value, self.document], separators=(",", ":"))
        return base64.urlsafe_b64encode(told.encode()).decode().rstrip("=")


def place_of(text: str, sorting: Sorting) -> Place:
    """A place that was told before; Refused if it is none, or one of another order."""
    match _told(text) if len(text) <= PLACE_CHARACTERS_MAX else None:
        case [order, str() as value, str() as document] if order == sorting is not Sorting.SIZE:
            return Place(value=value, document=DocumentId(document))
        case [order, int() as value, str() as document] if order == sorting is Sorting.SIZE and (
            0 <= value <= SIZE_MAX
        ):
            return Place(value=value, document=DocumentId(document))
        case _:
            raise Refused("this is no place a page of this order ended in", code="ERR_PLACE_INVALID")


def _told(text: str) -> object:
    try:
        told = json.loads(base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
        json.dumps(told, ensure_ascii=False).encode()  # half a letter is no text
    except (binascii.Error, ValueError, RecursionError):
        return None
    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """Which documents a page shows, and in what order; None means any."""

    collection: CollectionId | None = None
    state: DocumentState | None = None
    name_part: str | None = None
    """Stands somewhere in the name; large and small letters of the Latin alphabet are alike."""
    metadata: Mapping[str, object] = field(default_factory=dict)
    """Only documents whose metadata holds all of these, as with a search."""
    sorting: Sorting = Sorting.CREATED
    descending: bool = True
    after: Place | None = None
    limit: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some documents, and where the next page begins if there is one."""

    documents: tuple[Document, ...] = ()
    ended: Place | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """How many there are: exactly, or at least so many."""

    count: int
    more: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownChunk:
    """A chunk with its text."""

    chunk: Chunk
    text: str

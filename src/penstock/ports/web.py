"""The web: documents by URL, without letting a URL lead into the house."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from penstock.model.files import Blob


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A document from the web, its bytes kept."""

    blob: Blob
    name: str
    """A plain file name, made of what the server or the address says."""


class Fetcher(Protocol):
    """Fetches documents."""

    async def fetch(self, url: str, *, limit: int) -> Fetched:
        """The document at the URL, kept as a blob, within limits of size and time.

        `limit` is the bytes this caller takes; a smaller limit of the fetcher's own still holds.
        """
        ...

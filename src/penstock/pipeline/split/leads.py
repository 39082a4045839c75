"""What is embedded for a chunk: the titles above it, each on a line, then its text.

A passage deep in a manual rarely repeats what the manual is about; its titles say it. Titles are added as far
as the model's length allows, the nearest first, and never push out a word of the chunk itself.
"""

from __future__ import annotations

from array import array

from penstock.model.chunks import Piece
from penstock.ports.embedder import Tokenizer


class Leads:
    """Makes pieces; remembers the titles of the last chunk, which are usually those of the next."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._titles: tuple[str, ...] = ()
        self._ids: list[array[int]] = []

    def piece(self, titles: tuple[str, ...], text: str, ids: array[int]) -> Piece:
        """The text to embed and its token ids."""
        if titles != self._titles:
            self._titles = titles
            self._ids = [array("I", self._tokenizer.tokens(title).ids) for title in titles]
        room = self._tokenizer.tokens_max - len(ids)
        lead: list[str] = []
        lead_ids = array("I")
        for title, title_ids in zip(reversed(titles), reversed(self._ids), strict=True):
            if len(lead_ids) + len(title_ids) > room:
                break
            lead.insert(0, title)
            lead_ids = title_ids + lead_ids
        return Piece(text="\n".join([*lead, text]), token_ids=lead_ids + ids)

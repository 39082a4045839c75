"""Any text to a vector: what is too long for the model is read as far as the model goes."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.model.chunks import Piece, Vector
from penstock.ports.embedder import Embedder, Tokenizer, embedded


class Reader:
    """An embedder with the tokenizer that counts as it does."""

    def __init__(self, embedder: Embedder, tokenizer: Tokenizer) -> None:
        self._embedder = embedder
        self._tokenizer = tokenizer

    @property
    def model(self) -> str:
        """The embedder's model."""
        return self._embedder.model

    async def read(self, texts: Sequence[str]) -> list[Vector]:
        """One vector a text, of its beginning where it is too long."""
        return await embedded(self._embedder, [self._piece(text) for text in texts])

    def takes(self, text: str) -> bool:
        """Whether the model reads the text to its end."""
        return len(self._tokenizer.tokens(text).ids) <= self._tokenizer.tokens_max

    def _piece(self, text: str) -> Piece:
        tokens, most = self._tokenizer.tokens(text), self._tokenizer.tokens_max
        if len(tokens.ids) <= most:
            return Piece(text=text, token_ids=tuple(tokens.ids))
        return Piece(text=text[: tokens.ends[most - 1]], token_ids=tuple(tokens.ids[:most]))

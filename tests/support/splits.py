"""What every split must be, checked from outside."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.model.chunks import Chunk, Piece
from penstock.model.parsed import Parsed
from penstock.model.recipes import Recipe
from penstock.ports.embedder import Tokenizer


def check(parsed: Parsed, found: Sequence[tuple[Chunk, Piece]], recipe: Recipe, tokenizer: Tokenizer) -> None:
    """Spans exact and trimmed, limits kept, ids those of the text alone, nothing but white space left out."""
    text, covered = parsed.text, 0
    for place, (chunk, piece) in enumerate(found):
        own = text[chunk.start : chunk.end]
        alone = list(tokenizer.tokens(own).ids)
        assert chunk.ordinal == place
        assert own
        assert own == own.strip()
        assert chunk.tokens == len(alone) <= recipe.chunk_tokens
        assert piece.text.endswith(own)
        assert list(piece.token_ids) == list(tokenizer.tokens(piece.text).ids)
        assert len(piece.token_ids) <= tokenizer.tokens_max
        assert text[covered : chunk.start].strip() == ""
        assert chunk.end > covered
        covered = chunk.end
    assert text[covered:].strip() == ""

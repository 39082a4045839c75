"""The model's own way to cut text into tokens: lower case, no accents, parts of words from one vocabulary.

Special tokens are not looked for in the text: a document that contains `[SEP]` is read as the letters it is.
The vocabulary is that of the uncased BERT models (Apache License 2.0), one token a line, by line number.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING

from penstock.model.errors import Broken
from penstock.ports.embedder import Tokens

if TYPE_CHECKING:
    from tokenizers import Tokenizer as Engine

SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
TOKENS_MAX = 254
"""The model was trained on 256 tokens, two of which mark start and end."""
UNKNOWN = "[UNK]"
WORD_CHARACTERS_MAX = 100
"""A longer word is one unknown token to the model."""
STRIP_CHARACTERS = 8192
"""Short strips stay in the processor's cache: a long text in one piece takes half as long again."""
STRIPS_AT_ONCE = 16


class BundledTokenizer:
    """Counts as the bundled model counts; safe to use from several threads."""

    def __init__(self, *, tokens_max: int = TOKENS_MAX) -> None:
        """`tokens_max` is another model's, where this one only counts for it."""
        self.tokens_max = tokens_max
        self._engine: Engine | None = None
        self._loading = threading.Lock()

    def tokens(self, text: str) -> Tokens:
        """All tokens of a text; other threads run on meanwhile."""
        engine = self._loaded()
        ids: list[int] = []
        starts: list[int] = []
        ends: list[int] = []
        words: list[int] = []
        word = 0
        for base, strips in _handfuls(text):
            for strip, found in zip(
                strips, engine.encode_batch(strips, add_special_tokens=False), strict=True
            ):
                ids += found.ids
                starts += [base + start for start, _ in found.offsets]
                ends += [base + end for _, end in found.offsets]
                words += [word + (number or 0) for number in found.word_ids]
                word = words[-1] + 1 if words else 0
                base += len(strip)
        return Tokens(ids=ids, starts=starts, ends=ends, words=words)

    def _loaded(self) -> Engine:
        with self._loading:
            if self._engine is None:
                self._engine = _engine()
            return self._engine


def _handfuls(text: str) -> Iterator[tuple[int, list[str]]]:
    """A few strips at a time with the offset of the first; a strip ends at white space, not in a word."""
    start, strips, base = 0, list[str](), 0
    while start < len(text):
        end = _strip_end(text, start)
        strips.append(text[start:end])
        start = end
        if len(strips) == STRIPS_AT_ONCE or start >= len(text):
            yield base, strips
            strips, base = [], start


def _strip_end(text: str, start: int) -> int:
    end = start + STRIP_CHARACTERS
    if end >= len(text):
        return len(text)
    before = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    if before > start:
        return before
    after = [found for mark in " \n" if (found := text.find(mark, end)) >= 0]
    return min(after, default=len(text))


def _engine() -> Engine:
    # Read by the library at its first batch: its own threads would not be counted among ours.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import BertPreTokenizer

    words = WordPiece(vocabulary(), unk_token=UNKNOWN, max_input_chars_per_word=WORD_CHARACTERS_MAX)
    engine = Tokenizer(words)
    engine.normalizer = BertNormalizer()
    engine.pre_tokenizer = BertPreTokenizer()
    return engine


def vocabulary() -> dict[str, int]:
    """Every token with its number; Broken if the file is not the one expected."""
    try:
        content = files(__package__).joinpath("vocabulary.txt").read_bytes()
    except OSError as error:
        raise Broken(f"the model's vocabulary cannot be read: {error}", code="ERR_MODEL_MISSING") from error
    if sha256(content).hexdigest() != SHA256:
        raise Broken("the model's vocabulary is not the one expected", code="ERR_MODEL_MISSING")
    return {token: number for number, token in enumerate(content.decode().split("\n")[:-1])}

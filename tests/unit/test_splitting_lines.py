"""Lines without end: whatever a single line is made of, splitting it costs in proportion to its length."""

from itertools import pairwise

import pytest

from penstock.engines.minilm import MODEL, BundledTokenizer
from penstock.model.parsed import Media, Parsed
from penstock.model.recipes import Recipe
from penstock.pipeline.split import split
from penstock.ports.embedder import Tokens

LENGTH = 250_000
WINDOW_MAX = 1 << 17
LINES = {
    "words": "water flows through the pipe and on ",
    "one word": "a",
    "Chinese": "水管道流",
    "sentences": "It ran. ",
    "stops": ". ",
    "letters with marks": "e\u0301",
    "flags": "\U0001f1e9\U0001f1ea",
    "joined": "\U0001f468\u200d",
    "quotation marks": '!"""',
}


class Counting:
    """The bundled tokenizer, with a count of the characters it was shown."""

    def __init__(self) -> None:
        self._tokenizer = BundledTokenizer()
        self.tokens_max = self._tokenizer.tokens_max
        self.shown = 0
        self.longest = 0

    def tokens(self, text: str) -> Tokens:
        self.shown += len(text)
        self.longest = max(self.longest, len(text))
        return self._tokenizer.tokens(text)


@pytest.mark.parametrize("kind", LINES)
def test_each_letter_of_a_long_line_is_looked_at_a_few_times(kind: str) -> None:
    """The time is that of tokenising; the memory is that of one window."""
    text = (LINES[kind] * (LENGTH // len(LINES[kind]) + 1))[:LENGTH]
    counting = Counting()

    chunks = [chunk for chunk, _ in split(Parsed(text=text, media=Media.TEXT), Recipe(model=MODEL), counting)]

    assert counting.shown < 3 * len(text)
    assert counting.longest <= WINDOW_MAX
    assert chunks[0].start == 0
    assert all(after.start <= before.end + 1 for before, after in pairwise(chunks))
    assert len(text.rstrip()) == chunks[-1].end

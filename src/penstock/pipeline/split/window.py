"""A window: the tokens of one stretch, so that a text of any length is held in tokens only in part.

The last characters of a window that is not the text's last are not trusted: a word there may go on behind it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right

from penstock.ports.embedder import Tokenizer

WINDOW_CHARACTERS = 65_536
MARGIN_CHARACTERS = 1024
"""Longer than any word a tokenizer looks into."""


class Window:
    """Tokens of `text[start:end]`, asked by offsets of the whole text."""

    def __init__(self, text: str, start: int, tokenizer: Tokenizer, characters: int) -> None:
        self.start = start
        self.end = min(len(text), start + max(characters, WINDOW_CHARACTERS))
        self.trusted = self.end if self.end == len(text) else self.end - MARGIN_CHARACTERS
        found = tokenizer.tokens(text[start : self.end])
        self._ids = array("I", found.ids)
        self._starts = array("L", [start + place for place in found.starts])
        self._ends = array("L", [start + place for place in found.ends])
        self._words = found.words

    def count(self, start: int, end: int) -> int:
        """How many tokens begin in a stretch."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def reach(self, start: int, tokens: int) -> int:
        """How far so many tokens reach from a start, in whole words; the window's end if they suffice."""
        place = bisect_left(self._starts, start) + tokens
        if place >= len(self._starts):
            return self.end
        whole = place
        while whole > 0 and self._words[whole] == self._words[whole - 1]:
            whole -= 1
        # A first word of too many tokens is the one thing that is cut inside.
        return self._starts[whole if self._starts[whole] > start else place]

    def behind(self, end: int, tokens: int) -> int:
        """Where the last so many tokens before an end begin, in whole words."""
        last = bisect_left(self._starts, end)
        place = max(0, last - tokens)
        while place < last and place > 0 and self._words[place] == self._words[place - 1]:
            place += 1
        return self._starts[place] if place < last else end

    def word_start(self, offset: int) -> int:
        """Where the word an offset lies in starts; the offset itself between words."""
        place = bisect_right(self._starts, offset) - 1
        if place < 0 or not self._inside(place, offset):
            return offset
        while place > 0 and self._words[place] == self._words[place - 1]:
            place -= 1
        return self._starts[place]

    def ids(self, start: int, end: int) -> array[int] | None:
        """The token ids of a stretch; None if it begins or ends inside a word, where they would be others."""
        if self.word_start(start) != start or self.word_start(end) != end:
            return None
        return self._ids[bisect_left(self._starts, start) : bisect_left(self._starts, end)]

    def _inside(self, place: int, offset: int) -> bool:
        """Whether an offset after the start of this token still lies in its word."""
        if self._starts[place] == offset:
            return place > 0 and self._words[place] == self._words[place - 1]
        following = place + 1 < len(self._starts) and self._words[place] == self._words[place + 1]
        return offset < self._ends[place] or following

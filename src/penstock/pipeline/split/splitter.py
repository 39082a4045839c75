"""Splitting a parsed text.

The problem: chunks must fit the model to the token, cite exact spans, follow the text's own structure, and
cost time in proportion to the text even if it is one line of 20 MB. The idea: tokenise each stretch once, in
windows, and find everything by bisecting the tokens' offsets. From where a chunk starts, the tokens say how
far it may reach at most; within its reach it ends at the next section, else at the best joint in its second
half.

A chunk's decisions look at bounded text ahead of its start and at nothing behind, so after an edit the chunks
fall into step again with the old ones at the next section or a few joints later.

The way not taken: dividing top-down into sections, paragraphs and sentences until everything fits. It gives
uneven crumbs, and an edit early in a long text moves every later cut.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.model.chunks import Chunk, Piece
from penstock.model.errors import Refused
from penstock.model.parsed import Parsed, page_at
from penstock.model.recipes import Recipe
from penstock.model.sections import Sections
from penstock.pipeline.split.joints import (
    after_space,
    before_space,
    best_joint,
    first_sentence,
    last_cut,
    whole_character,
)
from penstock.pipeline.split.leads import Leads
from penstock.pipeline.split.window import MARGIN_CHARACTERS, Window
from penstock.ports.embedder import Tokenizer, Tokens

CHARACTERS_PER_TOKEN = 16
"""A chunk has at most so many characters for each token it may have: endless words are one token each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reach:
    """From where a chunk starts: how far it may go, and where its text ends if that comes first."""

    most: int
    whole: int | None
    """The end of the section or the text, if the chunk can hold everything up to there."""


def split(parsed: Parsed, recipe: Recipe, tokenizer: Tokenizer) -> Iterator[tuple[Chunk, Piece]]:
    """The chunks of a text in order, each with the piece to embed for it; blocking, lazy, linear.

    `text[start:end]` is the chunk, without white space around it; every other character of the text lies in
    some chunk; no chunk has more than `recipe.chunk_tokens` tokens.
    """
    if recipe.chunk_tokens > tokenizer.tokens_max:
        raise Refused(
            f"chunk_tokens is {recipe.chunk_tokens}, but {recipe.model} takes {tokenizer.tokens_max} at most",
            code="ERR_CONFIGURATION",
        )
    return _Splitter(parsed, recipe, tokenizer).chunks()


class _Splitter:
    def __init__(self, parsed: Parsed, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self._parsed = parsed
        self._text = parsed.text
        self._recipe = recipe
        self._tokenizer = tokenizer
        self._sections = Sections(parsed.headings)
        self._leads = Leads(tokenizer)
        self._characters = CHARACTERS_PER_TOKEN * recipe.chunk_tokens
        self._ahead = 2 * self._characters + MARGIN_CHARACTERS

    def chunks(self) -> Iterator[tuple[Chunk, Piece]]:
        text, ordinal, covered = self._text, 0, 0
        start = after_space(text, 0)
        window = self._window(start)
        while start < len(text):
            if start + self._ahead > window.trusted and window.end < len(text):
                window = self._window(start)
            end = max(start + 1, self._end(window, start))
            ids, end = self._ids(window, start, end)
            last = before_space(text, start, end)
            if last <= covered:  # nothing but overlap
                start = after_space(text, covered)
                continue
            yield self._made(ordinal, start, last, ids)
            ordinal, covered = ordinal + 1, last
            start = after_space(text, self._next(window, start, end))

    def _window(self, start: int) -> Window:
        return Window(self._text, start, self._tokenizer, 2 * self._ahead)

    def _end(self, window: Window, start: int) -> int:
        """Where the chunk that starts here ends."""
        reach = self._reach(window, start)
        if reach.whole is not None:
            return reach.whole
        text, recipe, high = self._text, self._recipe, reach.most
        least = window.reach(start, recipe.chunk_tokens_min)
        cut = last_cut(self._parsed.cuts, min(least, high - 1), high)
        if cut is not None:
            return cut
        half = min(window.reach(start, recipe.chunk_tokens // 2), high - 1)
        joint = best_joint(text, max(start, half), high, (), self._parsed.media)
        if joint is not None:
            return joint
        return whole_character(text, start, high)

    def _reach(self, window: Window, start: int) -> _Reach:
        recipe, text = self._recipe, self._text
        most = min(window.reach(start, recipe.chunk_tokens), start + self._characters, len(text))
        section = self._sections.next_start(start)
        while section is not None and section <= most:
            if window.count(start, section) >= recipe.chunk_tokens_min and not self._last_crumb(
                window, section, most
            ):
                return _Reach(most=most, whole=section)
            section = self._sections.next_start(section)
        if most == len(text):
            return _Reach(most=most, whole=most)
        return _Reach(most=self._leave_rest(window, start, most, section or len(text)), whole=None)

    def _last_crumb(self, window: Window, section: int, most: int) -> bool:
        """Whether this section is the text's last, too small to stand alone, and within reach."""
        return (
            most == len(self._text)
            and self._sections.next_start(section) is None
            and window.count(section, most) < self._recipe.chunk_tokens_min
        )

    def _leave_rest(self, window: Window, start: int, most: int, end: int) -> int:
        """A nearer end if the full reach would leave a crumb of the section."""
        recipe = self._recipe
        if end - start > self._ahead:
            return self._between_words(window, start, most)
        left = window.count(most, end)
        if left >= recipe.chunk_tokens_min:
            return self._between_words(window, start, most)
        kept = window.count(start, most) - (recipe.chunk_tokens_min - left)
        nearer = window.reach(start, kept) if kept > 0 else most
        return self._between_words(window, start, nearer if start < nearer < most else most)

    def _between_words(self, window: Window, start: int, place: int) -> int:
        found = window.word_start(place)
        return found if found > start else whole_character(self._text, start, place)

    def _ids(self, window: Window, start: int, end: int) -> tuple[array[int], int]:
        """The chunk's token ids, and its end, drawn in if a cut inside a word made more tokens of it."""
        ids = window.ids(start, end)
        limit = self._recipe.chunk_tokens
        while ids is None or len(ids) > limit:
            alone = self._tokenizer.tokens(self._text[start:end])
            ids = array("I", alone.ids)
            if len(ids) > limit:
                end = start + _kept(alone, limit)
                end = max(start + 1, whole_character(self._text, start, end))
                ids = (
                    None  # a part of a word has other tokens than the word: the shorter text is counted anew
                )
        return ids, end

    def _next(self, window: Window, start: int, end: int) -> int:
        """Where the next chunk starts: at this one's end, or before it where a passage had to be cut."""
        overlap, text = self._recipe.overlap_tokens, self._text
        if not overlap or end >= len(text) or end in (self._sections.next_start(end - 1), *self._cut_at(end)):
            return end
        back = window.behind(end, overlap)
        if back <= start or back >= end:
            return end
        again = first_sentence(text, back, end) or back
        return again if self._sections.next_start(again) in (None, self._sections.next_start(end)) else end

    def _cut_at(self, end: int) -> tuple[int, ...]:
        cut = last_cut(self._parsed.cuts, end - 1, end)
        return () if cut is None else (cut,)

    def _made(self, ordinal: int, start: int, end: int, ids: array[int]) -> tuple[Chunk, Piece]:
        titles, above = self._sections.titles(start, end)
        chunk = Chunk(
            ordinal=ordinal,
            start=start,
            end=end,
            tokens=len(ids),
            headings=titles,
            page_first=page_at(self._parsed.pages, start),
            page_last=page_at(self._parsed.pages, end - 1),
        )
        return chunk, self._leads.piece(titles[:above], self._text[start:end], ids)


def _kept(tokens: Tokens, limit: int) -> int:
    """How many characters so many tokens keep: whole words, or part of the first if it is too long alone."""
    place = limit
    while place > 0 and tokens.words[place] == tokens.words[place - 1]:
        place -= 1
    return tokens.starts[place or limit]

"""Citations are checked, never believed: a number, or a quotation, that leads nowhere does not stand.

A model writes `[2]` or `[1, 3]` behind what it claims. While its words stream by, `CitationSieve` lets
through only the numbers that were retrieved, so nobody ever sees one that was not. When the answer is
complete, its sentences are matched with their numbers, and whatever it puts in quotation marks is looked
for, word for word, in the sources its sentence cites: what is found gets its exact span, what is not stays
plain text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from penstock.answer.sentences import sentence_spans, trimmed
from penstock.model.answers import Citation, Claim, Hit, Quote

NUMBERS_IN_ONE_MAX = 20
"""Numbers one pair of brackets may hold; `[1-1000000]` is no citation of a million sources."""
HELD_CHARACTERS_MAX = 256
"""More than the longest citation: how much of a stream waits for a bracket to close."""
QUOTED_WORDS_MIN = 3
"""Fewer words in quotation marks are a name or a manner of speaking."""

_SPACE = r"\s{0,2}"
_MARKER = re.compile(rf"\[{_SPACE}\d{{1,6}}(?:{_SPACE}[,;\-\u2013]{_SPACE}\d{{1,6}}){{0,19}}{_SPACE}\]")
_SPACED_MARKER = re.compile(rf"([ \t]*)({_MARKER.pattern})")
_LEADING = re.compile(r"(?:\s*\[\d+(?:, \d+)*\])+")
_NUMBER_OR_RANGE = re.compile(r"(\d+)\s*(?:[-\u2013]\s*(\d+))?")
_QUOTED = re.compile(
    '\u201c([^\u201c\u201d]{1,2000})\u201d|"([^"]{1,2000})"|\u00ab([^\u00ab\u00bb]{1,2000})\u00bb'
)


class CitationSieve:
    """Takes a stream of text and gives it on without the citations that lead nowhere.

    From an opening bracket on, everything that could still be part of a citation waits for the first
    character that cannot; so it makes no difference how the stream is cut, and what is taken out can never
    leave a new citation behind.
    """

    def __init__(self, sources: int) -> None:
        self._sources = sources
        self._held = ""
        self._unknown: dict[int, None] = {}

    @property
    def unknown(self) -> tuple[int, ...]:
        """The numbers that were taken out, in the order they came."""
        return tuple(self._unknown)

    def feed(self, text: str) -> str:
        """What can be shown after this piece."""
        return "".join(map(self._take, text))

    def finish(self) -> str:
        """What was still held back."""
        held, self._held = self._held, ""
        return self._sifted(held)

    def _take(self, char: str) -> str:
        if "[" in self._held:
            belongs = char.isdecimal() or char.isspace() or char in ",;-\u2013[]"
        else:
            # The space before a citation goes with it.
            belongs = char in " \t["
        shown = "" if belongs else self.finish()
        if len(self._held) == HELD_CHARACTERS_MAX:
            self._held, shown = "", self._held.replace("[", "").replace("]", "")
        if not belongs and char not in " \t[":
            return shown + char
        self._held += char
        return shown

    def _sifted(self, text: str) -> str:
        before = None
        while before != text:
            before, text = text, _SPACED_MARKER.sub(self._checked, text)
        return text

    def _checked(self, found: re.Match[str]) -> str:
        numbers = list(dict.fromkeys(_numbers(found[2])))
        self._unknown.update(dict.fromkeys(n for n in numbers if not 1 <= n <= self._sources))
        known = [str(number) for number in numbers if 1 <= number <= self._sources]
        return f"{found[1]}[{', '.join(known)}]" if known else ""


def _numbers(marker: str) -> Iterator[int]:
    for found in _NUMBER_OR_RANGE.finditer(marker):
        first, last = int(found[1]), int(found[2] or found[1])
        # A range too long for one citation is taken for its two ends, which are looked at like any other.
        yield from range(first, last + 1) if 0 <= last - first < NUMBERS_IN_ONE_MAX else (first, last)


def claims_of(text: str) -> tuple[Claim, ...]:
    """The sentences of a sifted answer with the numbers they carry, also those set behind the full stop."""
    claims: list[Claim] = []
    for start, end in sentence_spans(text):
        leading = _LEADING.match(text, start, end)
        if leading is not None and claims:
            last = claims[-1]
            numbers = (*last.citations, *_cited(leading[0]))
            claims[-1] = Claim(start=last.start, end=leading.end(), citations=_once(numbers))
            start, end = trimmed(text, leading.end(), end)
        if start < end:
            claims.append(Claim(start=start, end=end, citations=_once(_cited(text[start:end]))))
    return tuple(claims)


def _cited(text: str) -> Iterator[int]:
    for marker in _MARKER.findall(text):
        yield from _numbers(marker)


def _once(numbers: Iterable[int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(numbers))


def citation_of(number: int, hit: Hit, quotes: Sequence[Quote] = ()) -> Citation:
    """A hit as the numbered place an answer leans on; quotes narrow the pages down to their own."""
    quoted = [page for quote in quotes for page in (quote.page_first, quote.page_last) if page is not None]
    return Citation(
        number=number,
        document=hit.head.document,
        document_name=hit.head.document_name,
        document_title=hit.head.document_title,
        identity=hit.head.identity,
        collection=hit.head.collection,
        headings=hit.head.headings,
        pages=(min(quoted), max(quoted)) if quoted else hit.pages,
        spans=tuple(
            Quote(
                text=part.text,
                start=part.start,
                end=part.end,
                page_first=part.page_first,
                page_last=part.page_last,
            )
            for part in hit.parts
        ),
        quotes=tuple(quotes),
    )


def cited(
    text: str, claims: Sequence[Claim], sources: Sequence[Hit]
) -> tuple[tuple[Citation, ...], tuple[str, ...]]:
    """The places a sifted answer cites, with what it quotes of each; and the quotations nobody said."""
    quotes: dict[int, list[Quote]] = {number: [] for claim in claims for number in claim.citations}
    unverified: list[str] = []
    for claim in claims:
        for words in quotations(text[claim.start : claim.end]):
            places = [(number, found(words, sources[number - 1])) for number in claim.citations]
            place = next(((number, quote) for number, quote in places if quote is not None), None)
            if place is None:
                unverified.append(words)
            else:
                quotes[place[0]].append(place[1])
    citations = tuple(citation_of(number, sources[number - 1], quotes[number]) for number in sorted(quotes))
    return citations, tuple(dict.fromkeys(unverified))


def quotations(text: str) -> Iterator[str]:
    """What stands in quotation marks and is long enough to be someone's words."""
    for found_marks in _QUOTED.finditer(text):
        words = next(group for group in found_marks.groups() if group is not None).strip(" \t\n.,;:")
        if len(words.split()) >= QUOTED_WORDS_MIN:
            yield words


def found(words: str, hit: Hit) -> Quote | None:
    """Where the words stand in a hit; white space may differ, and a first letter's case, nothing else."""
    first, *rest = words.split()
    start = f"(?i:{re.escape(first[0])}){re.escape(first[1:])}"
    pattern = re.compile(r"\s+".join([start, *map(re.escape, rest)]))
    for part in hit.parts:
        at = pattern.search(part.text)
        if at is not None:
            return Quote(
                text=at[0],
                start=part.start + at.start(),
                end=part.start + at.end(),
                page_first=part.page_first,
                page_last=part.page_last,
            )
    return None

"""Windows become a document again, and everything a child claims about it is checked on the way in."""

from __future__ import annotations

import re

from penstock.engines.parsers.child import Nonsense
from penstock.engines.parsers.wire import End, Window
from penstock.model.errors import Refused
from penstock.model.parsed import Heading, Page, Parsed

HEADINGS_MAX = 100_000
CUTS_DENSE_MAX = 1_000_000
"""Cuts that may be as near to each other as they like."""
CUT_BYTES_MIN = 256
"""Bytes of allowed text for every further cut."""
NOTES_MAX = 100
TITLE_CHARS_MAX = 1000
_UNCLEAN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufeff\ufffe\uffff]")


def checked(words: str) -> str:
    """Words a person will be shown; Nonsense if they could act on whatever shows them."""
    if _UNCLEAN.search(words) or "\n" in words:
        raise Nonsense("words that are no line of text")
    return words


class Gathering:
    """One document as its windows come in."""

    def __init__(self, *, text_bytes: int, pages: int) -> None:
        self._text_bytes_max = text_bytes
        self._pages_max = pages
        self._cuts_max = CUTS_DENSE_MAX + text_bytes // CUT_BYTES_MIN
        self._texts: list[str] = []
        self._length = 0
        self._bytes = 0
        self._pages: list[Page] = []
        self._headings: list[Heading] = []
        self._cuts: list[int] = []

    def take(self, window: Window) -> None:
        """Add a window; Nonsense if it is not one that can follow."""
        text = window.text
        if _UNCLEAN.search(text):
            raise Nonsense("text that is not clean")
        self._texts.append(text)
        self._length += len(text)
        self._bytes += len(text) if text.isascii() else len(text.encode())
        if self._bytes > self._text_bytes_max:
            raise Refused(
                f"The file holds more than {self._text_bytes_max} bytes of text.", code="ERR_PARSE_OUTPUT"
            )
        for page in window.pages:
            self._take_page(page)
        for heading in window.headings:
            self._take_heading(heading)
        for cut in window.cuts:
            if cut < 0 or (self._cuts and cut <= self._cuts[-1]) or len(self._cuts) >= self._cuts_max:
                raise Nonsense("cuts out of order")
            self._cuts.append(cut)

    def finish(self, end: End) -> Parsed:
        """The whole document."""
        places = [heading.start for heading in self._headings[-1:]] + self._cuts[-1:]
        if any(place > self._length for place in places):
            raise Nonsense("places beyond the text")
        if self._pages and self._pages[-1].end != self._length:
            raise Nonsense("pages that do not cover the text")
        if len(end.notes) > NOTES_MAX or not self._length:
            raise Nonsense("no text, or too many notes")
        for words in (end.title or "", end.language or "", *end.notes):
            checked(words)
        return Parsed(
            text="".join(self._texts),
            media=end.media,
            title=end.title,
            pages=tuple(self._pages),
            headings=tuple(self._headings),
            cuts=tuple(self._cuts),
            language=end.language,
            notes=end.notes,
        )

    def _take_page(self, page: Page) -> None:
        start = self._pages[-1].end if self._pages else 0
        if page.number != len(self._pages) + 1 or page.start != start or page.end < start:
            raise Nonsense("pages that do not follow each other")
        if page.number > self._pages_max:
            raise Refused(f"The file has more than {self._pages_max} pages.", code="ERR_PARSE_PAGES")
        self._pages.append(page)

    def _take_heading(self, heading: Heading) -> None:
        start = self._headings[-1].start if self._headings else 0
        if heading.start < start or not 1 <= heading.level <= 6:
            raise Nonsense("headings out of order")
        if len(checked(heading.title)) > TITLE_CHARS_MAX:
            raise Nonsense("a heading that is too long")
        if len(self._headings) >= HEADINGS_MAX:
            raise Nonsense("headings without end")
        self._headings.append(heading)

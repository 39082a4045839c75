"""The text as it grows: pieces come in, windows go out, limits hold at every step.

A reader of pages, slides or rows never holds the whole text. It writes pieces; the manuscript counts
characters, remembers where pages, headings and cuts lie, and hands a window on whenever enough has gathered.
So a document of many pages needs the memory of one window, and a limit is met where it is crossed, not after
everything was read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from penstock.model.codes import BLANK
from penstock.model.errors import Refused
from penstock.model.parsed import Heading, Media, Page, Parsed
from penstock.pipeline.parse.cleaning import clean, one_line

WINDOW_CHARS = 256 * 1024
HEADINGS_MAX = 50_000
CUTS_DENSE_MAX = 50_000
CUTS_APART = 256
"""Beyond the first many, cuts closer than this are of no use to anyone and would only grow."""
CUTS_IN_WINDOW_MAX = 100_000
"""A window must fit a frame, however many cuts are told at once."""
NOTES_MAX = 20
TITLE_CHARS_MAX = 300
PLAIN = frozenset({Media.TEXT, Media.MARKDOWN, Media.CSV, Media.JSON, Media.CODE})
"""Formats in which nothing but text can be shown."""
WORDLESS = "There is no text in it."


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one document may come to."""

    text_bytes: int = 64 << 20
    pages: int = 20_000
    unpacked_bytes: int = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """The next stretch of the text, with what lies in it; offsets count from the start of the whole text."""

    text: str
    pages: tuple[Page, ...]
    headings: tuple[Heading, ...]
    cuts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """What is known once everything was read."""

    media: Media
    title: str | None
    language: str | None
    notes: tuple[str, ...]


Sink = Callable[[Window], None]


class Manuscript:
    """One document being written down."""

    def __init__(self, limits: Limits, sink: Sink) -> None:
        self.limits = limits
        self.title: str | None = None
        self.length = 0
        """Characters written so far: the offset of what comes next."""
        self._sink = sink
        self._bytes = 0
        self._pieces: list[str] = []
        self._waiting = 0
        self._pages: list[Page] = []
        self._page_count = 0
        self._page_start: int | None = None
        self._headings: list[Heading] = []
        self._heading_count = 0
        self._cuts: list[int] = []
        self._cut_count = 0
        self._last_cut = -1
        self._notes: list[str] = []
        self._has_words = False

    @property
    def has_words(self) -> bool:
        """Whether anything but blanks was written."""
        return self._has_words

    @property
    def page_count(self) -> int:
        """Pages begun so far."""
        return self._page_count

    # Text ------------------------------------------------------------------------------------------

    def write(self, text: str) -> None:
        """Add clean text as it is."""
        if not text:
            return
        self._bytes += len(text) if text.isascii() else len(text.encode())
        if self._bytes > self.limits.text_bytes:
            raise Refused(
                f"The file holds more than {self.limits.text_bytes} bytes of text.", code="ERR_PARSE_OUTPUT"
            )
        self._has_words = self._has_words or not text.isspace()
        for start in range(0, len(text), WINDOW_CHARS):
            piece = text[start : start + WINDOW_CHARS]
            self._pieces.append(piece)
            self._waiting += len(piece)
            self.length += len(piece)
            if self._waiting >= WINDOW_CHARS:
                self._flush()

    def block(self, raw: str, *, end: str = "\n") -> None:
        """Clean a piece of raw text and add it on lines of its own, if anything of it is left."""
        text = clean(raw).strip("\n ")
        if text:
            self.write(text + end)

    def heading(self, level: int, raw: str) -> None:
        """Add a heading on a line of its own."""
        title = one_line(clean(raw))
        if title:
            self.mark(level, title)
            self.write(title + "\n\n")

    # Places ----------------------------------------------------------------------------------------

    def mark(self, level: int, title: str, start: int | None = None) -> None:
        """Remember a heading that starts here, or at a place still in the window."""
        self._heading_count += 1
        if self._heading_count > HEADINGS_MAX:
            if self._heading_count == HEADINGS_MAX + 1:
                self.note(f"Only the first {HEADINGS_MAX} headings are known as such.")
            return
        words = one_line(title)[:TITLE_CHARS_MAX].strip()
        if words:
            at = self.length if start is None else start
            self._headings.append(Heading(level=min(max(level, 1), 6), title=words, start=at))

    def cut(self, at: int | None = None) -> None:
        """Remember a good place to cut; places come in ascending order."""
        place = self.length if at is None else at
        if place <= self._last_cut:
            return
        if self._cut_count >= CUTS_DENSE_MAX and place - self._last_cut < CUTS_APART:
            return
        if len(self._cuts) >= CUTS_IN_WINDOW_MAX:
            self._flush()
        self._cuts.append(place)
        self._cut_count += 1
        self._last_cut = place

    def begin_page(self) -> None:
        """End the page before, if there is one, and begin the next."""
        self.end_page()
        if self._page_count >= self.limits.pages:
            raise Refused(f"The file has more than {self.limits.pages} pages.", code="ERR_PARSE_PAGES")
        self._page_count += 1
        # The first page reaches back to the very start, so that pages cover the whole text.
        self._page_start = self.length if self._page_count > 1 else 0

    def end_page(self) -> None:
        """End the page that is open."""
        if self._page_start is not None:
            self._pages.append(Page(number=self._page_count, start=self._page_start, end=self.length))
            self._page_start = None

    def note(self, words: str) -> None:
        """Something a person should know."""
        if words not in self._notes and len(self._notes) < NOTES_MAX:
            self._notes.append(words)

    def finish(self, media: Media, *, language: str | None = None) -> Ending:
        """Hand on what is left; a text without a word is refused."""
        self.end_page()
        self._flush()
        if not self._has_words:
            raise Refused(BLANK if media in PLAIN else WORDLESS, code="ERR_NO_TEXT")
        title = one_line(clean(self.title or ""))[:TITLE_CHARS_MAX].strip()
        return Ending(media=media, title=title or None, language=language, notes=tuple(self._notes))

    def _flush(self) -> None:
        if not (self._pieces or self._pages or self._headings or self._cuts):
            return
        self._sink(
            Window(
                text="".join(self._pieces),
                pages=tuple(self._pages),
                headings=tuple(self._headings),
                cuts=tuple(self._cuts),
            )
        )
        self._pieces, self._waiting = [], 0
        self._pages, self._headings, self._cuts = [], [], []


def gathered(windows: list[Window], ending: Ending) -> Parsed:
    """The whole document from its windows."""
    return Parsed(
        text="".join(window.text for window in windows),
        media=ending.media,
        title=ending.title,
        pages=tuple(page for window in windows for page in window.pages),
        headings=tuple(heading for window in windows for heading in window.headings),
        cuts=tuple(cut for window in windows for cut in window.cuts),
        language=ending.language,
        notes=ending.notes,
    )

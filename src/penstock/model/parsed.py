"""What parsing makes of a file: clean text, and where its pages, headings and natural cuts lie in it.

Every offset counts characters of `text`, so a citation's span can be checked against the stored text itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Media(StrEnum):
    """The formats there is a parser for, decided by content and not by name alone."""

    PDF = "pdf"
    TEXT = "txt"
    MARKDOWN = "md"
    DOCX = "docx"
    HTML = "html"
    CSV = "csv"
    JSON = "json"
    PPTX = "pptx"
    XLSX = "xlsx"
    EPUB = "epub"
    CODE = "code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page, slide, sheet or chapter as the reader counts it, from 1; pages lie one after another."""

    number: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading, by its level from 1 (highest) to 6, its plain words and where its line starts."""

    level: int
    title: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """A parsed document: valid UTF-8 text without NUL, lone surrogates or other control characters."""

    text: str
    media: Media
    title: str | None = None
    pages: tuple[Page, ...] = ()
    """Empty where the format has none; otherwise they cover the whole text."""
    headings: tuple[Heading, ...] = ()
    cuts: tuple[int, ...] = ()
    """Other good places to cut, ascending: where a definition, a record or a table row starts."""
    language: str | None = None
    """The programming language of source code."""
    notes: tuple[str, ...] = ()
    """What a person should know: a page without text, a replaced character."""


def page_at(pages: tuple[Page, ...], offset: int) -> int | None:
    """The number of the page an offset lies on; None where there are no pages."""
    low, high = 0, len(pages)
    while low < high:
        middle = (low + high) // 2
        if pages[middle].end <= offset:
            low = middle + 1
        else:
            high = middle
    if not pages:
        return None
    return pages[min(low, len(pages) - 1)].number

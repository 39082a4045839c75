"""Presentations: a page for every slide in the order of the show, its title as heading, then its notes."""

from __future__ import annotations

from typing import BinaryIO

from penstock.pipeline.parse.archives import Archive
from penstock.pipeline.parse.cleaning import clean, one_line
from penstock.pipeline.parse.damage import Damaged, Sparing
from penstock.pipeline.parse.manuscript import Manuscript
from penstock.pipeline.parse.markup import (
    Attributes,
    Handler,
    each_element,
    follow,
    main_part,
    relations,
    title_in,
)

_TITLES = frozenset({"title", "ctrTitle"})
_PAGE_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})


def write_pptx(file: BinaryIO, manuscript: Manuscript, sparing: Sparing) -> None:
    """Write slide after slide."""
    with Archive(file, manuscript.limits) as archive:
        main = main_part(archive, "ppt/presentation.xml")
        manuscript.title = title_in(archive, "docProps/core.xml")
        empty: list[str] = []
        for number, slide in enumerate(_slides(archive, main), start=1):
            manuscript.begin_page()
            before = manuscript.length
            with sparing.part(f"Slide {number}"):
                if slide not in archive:
                    raise Damaged(f"slide {number} is missing")
                _write_slide(archive, slide, manuscript)
            if manuscript.length == before:
                empty.append(str(number))
        if manuscript.page_count == 0:
            raise Damaged("it has no slides")
        if empty and manuscript.has_words:
            manuscript.note(
                f"Slides without text: {', '.join(empty[:20])}{' and more' if empty[20:] else ''}."
            )


def _slides(archive: Archive, main: str) -> list[str]:
    """Where each slide of the show is said to be; a place nothing is at stands for one that is missing."""
    named = relations(archive, main)
    found: list[str] = []

    def take(name: str, attributes: Attributes) -> None:
        if name == "p:sldId":
            kind, place = named.get(attributes.get("r:id", ""), ("", ""))
            found.append(place if kind == "slide" else "")

    each_element(archive, main, take)
    return found


def _write_slide(archive: Archive, slide: str, manuscript: Manuscript) -> None:
    with archive.open(slide) as stream:
        follow(stream, _Slide(manuscript))
    for kind, place in relations(archive, slide).values():
        if kind == "notesSlide" and place in archive:
            with archive.open(place) as stream:
                follow(stream, _Slide(manuscript, titled=False))


class _Slide(Handler):
    """Writes paragraphs as they end; what a shape is for stands before its text."""

    def __init__(self, manuscript: Manuscript, *, titled: bool = True) -> None:
        self._manuscript = manuscript
        self._titled = titled
        self._holder = ""
        self._runs: list[str] | None = None
        self._title: list[str] = []
        self._row: list[str] | None = None
        self._cell: list[str] = []
        self._in_text = False
        self._second_copy = 0

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "p:sp":
            self._holder, self._title = "", []
        elif name == "p:ph":
            self._holder = attributes.get("type", "body")
        elif name == "a:p":
            self._runs = []
        elif name == "a:t":
            self._in_text = True
        elif name == "a:br" and self._runs is not None:
            self._runs.append("\n")
        elif name == "a:tr":
            self._row = []
        elif name == "a:tc":
            self._cell = []
        elif name == "mc:Fallback":
            self._second_copy += 1

    def end(self, name: str) -> None:
        if name == "a:p" and self._runs is not None:
            text, self._runs = "".join(self._runs), None
            self._end_paragraph(text)
        elif name == "a:t":
            self._in_text = False
        elif name == "a:tc" and self._row is not None:
            self._row.append(" ".join(self._cell))
        elif name == "a:tr" and self._row is not None:
            line, self._row = "\t".join(self._row).rstrip("\t"), None
            if line.strip():
                self._manuscript.cut()
                self._manuscript.write(line + "\n")
        elif name == "p:sp":
            if self._title:
                self._manuscript.heading(1, " ".join(self._title))
            self._holder, self._title = "", []  # a table behind it is held by nothing
        elif name == "mc:Fallback":
            self._second_copy -= 1

    def text(self, text: str) -> None:
        if self._in_text and self._runs is not None and not self._second_copy:
            self._runs.append(text)

    def _end_paragraph(self, text: str) -> None:
        if not text.strip() or self._holder in _PAGE_FURNITURE:
            return
        if self._row is not None:
            self._cell.append(one_line(clean(text)))
        elif self._titled and self._holder in _TITLES:
            self._title.append(text)
        else:
            self._manuscript.block(text)

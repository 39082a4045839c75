"""Word documents: paragraphs in order, headings by their styles, tables row by row, notes at the end.

Pages are not told: where one ends is decided by whoever prints the document, and a wrong page is worse than
none. Deleted text, field codes and the second copy of text boxes stay out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
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

_HEADING_NAME = re.compile(r"heading (\d)", re.IGNORECASE)
_SILENT = frozenset(
    {"w:moveFrom", "w:del", "mc:Fallback", "w:instrText", "w:rPrChange", "w:pPrChange", "w:tabs"}
)
"""What holds nothing people read; the tabs in a list of tab stops are places, not characters."""
_BREAKS = {"w:tab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-", "w:softHyphen": ""}
TITLE_LEVEL = 1
NO_LEVEL = 99


def write_docx(file: BinaryIO, manuscript: Manuscript, sparing: Sparing) -> None:
    """Write a document's body, then its notes."""
    with Archive(file, manuscript.limits) as archive:
        main = main_part(archive, "word/document.xml")
        manuscript.title = title_in(archive, "docProps/core.xml")
        named: dict[str, tuple[str, str]] = {}
        with sparing.part("The list of parts"):
            named = relations(archive, main)
        levels = _heading_levels(archive, named)
        with sparing.part("The text"):
            _write_part(archive, main, levels, manuscript)
        for wanted in ("footnotes", "endnotes"):
            for kind, place in named.values():
                if kind == wanted and place in archive:
                    with sparing.part(f"The {wanted}"):
                        _write_part(archive, place, {}, manuscript)


def _write_part(archive: Archive, part: str, levels: dict[str, int], manuscript: Manuscript) -> None:
    with archive.open(part) as stream:
        follow(stream, _Body(levels, manuscript))


def _heading_levels(archive: Archive, named: dict[str, tuple[str, str]]) -> dict[str, int]:
    """Which styles are headings, of which level; a style may take that from the one it stands on."""
    own: dict[str, int] = {}
    stands_on: dict[str, str] = {}
    style = ""

    def take(name: str, attributes: Attributes) -> None:
        nonlocal style
        value = attributes.get("w:val", "")
        if name == "w:style":
            style = attributes.get("w:styleId", "")
        elif name == "w:basedOn":
            stands_on[style] = value
        elif name == "w:outlineLvl":
            own[style] = _level(value) or NO_LEVEL
        elif name == "w:name":
            heading = _HEADING_NAME.fullmatch(value.strip())
            if heading:
                own[style] = int(heading[1])
            elif value.strip().lower() == "title":
                own[style] = TITLE_LEVEL

    for kind, place in named.values():
        if kind == "styles" and place in archive:
            try:
                each_element(archive, place, take)
            except Damaged:
                return {}  # without its styles a document is still text
    return {name: level for name in {*own, *stands_on} if (level := _inherited(name, own, stands_on)) <= 6}


def _level(value: str) -> int:
    """The level of a heading from its number in the outline; 0 for what is none."""
    return int(value) + 1 if len(value) == 1 and value in "012345" else 0


def _inherited(style: str, own: dict[str, int], stands_on: dict[str, str]) -> int:
    for _ in range(10):
        if style in own:
            return own[style]
        style = stands_on.get(style, "")
    return NO_LEVEL


@dataclass(slots=True, kw_only=True)
class _Paragraph:
    """A paragraph being read: its text so far, its level as a heading, whether it is an item of a list."""

    runs: list[str] = field(default_factory=list)
    level: int = 0
    listed: bool = False


class _Table:
    """A table being read: the cells of the open row, the paragraphs of the open cell."""

    def __init__(self) -> None:
        self.row: list[str] = []
        self.cell: list[str] = []


class _Body(Handler):
    """Writes paragraphs and rows as they end."""

    def __init__(self, levels: dict[str, int], manuscript: Manuscript) -> None:
        self._levels = levels
        self._manuscript = manuscript
        self._open: list[_Paragraph] = []
        """A text box has paragraphs inside a paragraph."""
        self._tables: list[_Table] = []
        self._silent = 0
        self._in_text = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name in _SILENT:
            self._silent += 1
        elif self._silent:
            return  # what a paragraph was before a change is not what it is
        elif name == "w:t":
            self._in_text = True
        elif name == "w:p":
            self._open.append(_Paragraph())
        elif name == "w:tbl":
            self._tables.append(_Table())
        elif name == "w:sym":
            self._add("\u2022")
        elif name in _BREAKS:
            self._add(_BREAKS[name])
        elif self._open:
            self._describe(self._open[-1], name, attributes.get("w:val", ""))

    def end(self, name: str) -> None:
        if name in _SILENT:
            self._silent -= 1
        elif self._silent:
            return
        elif name == "w:t":
            self._in_text = False
        elif name == "w:p" and self._open:
            self._end_paragraph(self._open.pop())
        elif self._tables and name in ("w:tc", "w:tr", "w:tbl"):
            self._end_of_table(name)

    def text(self, text: str) -> None:
        if self._in_text:
            self._add(text)

    def _describe(self, paragraph: _Paragraph, name: str, value: str) -> None:
        if name == "w:pStyle":
            paragraph.level = self._levels.get(value, paragraph.level)
        elif name == "w:outlineLvl":
            paragraph.level = _level(value)
        elif name == "w:numPr":
            paragraph.listed = True

    def _add(self, text: str) -> None:
        if self._open and not self._silent:
            self._open[-1].runs.append(text)

    def _end_paragraph(self, paragraph: _Paragraph) -> None:
        text = "".join(paragraph.runs)
        if not text.strip():
            return
        if self._tables:
            self._tables[-1].cell.append(one_line(clean(text)))
        elif paragraph.level:
            if self._manuscript.title is None and paragraph.level == 1:
                self._manuscript.title = one_line(clean(text))
            self._manuscript.heading(paragraph.level, text)
        elif paragraph.listed:
            self._manuscript.block("- " + text.strip())
        else:
            self._manuscript.block(text, end="\n\n")

    def _end_of_table(self, name: str) -> None:
        table = self._tables[-1]
        if name == "w:tc":
            table.row.append(" ".join(table.cell))
            table.cell = []
        elif name == "w:tr":
            line = "\t".join(table.row).rstrip("\t")
            table.row = []
            if len(self._tables) > 1:
                self._tables[-2].cell.append(line)
            elif line.strip():
                self._manuscript.cut()
                self._manuscript.write(line + "\n")
        else:
            self._tables.pop()
            if not self._tables:
                self._manuscript.write("\n")

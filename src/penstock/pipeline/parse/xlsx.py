"""Spreadsheets: a page for every sheet, a line for every row, cells parted by tabs, dates as dates."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import BinaryIO

from penstock.model.codes import NO_CELLS
from penstock.model.errors import Refused
from penstock.model.parsed import Media
from penstock.pipeline.parse.archives import Archive
from penstock.pipeline.parse.cleaning import clean, one_line
from penstock.pipeline.parse.damage import Damaged, Sparing, refusal
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

GAP_MAX = 50
"""Empty cells between two full ones that are kept as tabs; a cell far out gets one."""
_DATE_FORMATS = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
_FORMAT_NOISE = re.compile(r'"[^"]*"|\\.|\[[^\]]*\]')
_COLUMN = re.compile(r"([A-Z]{1,3})\d")
NUMBER_DIGITS_MAX = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    """What the sheets of a workbook share."""

    strings: list[str]
    dates: frozenset[int]
    epoch: datetime


def write_xlsx(file: BinaryIO, manuscript: Manuscript, sparing: Sparing) -> None:
    """Write sheet after sheet."""
    with Archive(file, manuscript.limits) as archive:
        main = main_part(archive, "xl/workbook.xml")
        manuscript.title = title_in(archive, "docProps/core.xml")
        sheets, since_1904 = _sheets(archive, main)
        if not sheets:
            raise Damaged("it has no sheets")
        book = _Book(
            strings=_strings(archive, main, manuscript, sparing),
            dates=_date_styles(archive, main),
            epoch=datetime(1904, 1, 1) if since_1904 else datetime(1899, 12, 30),
        )
        full = False
        for number, (name, place) in enumerate(sheets, start=1):
            manuscript.begin_page()
            manuscript.heading(1, name)
            rows = _Rows(book, manuscript)
            with sparing.part(f"Sheet {number}"):
                if place not in archive:
                    raise Damaged(f"sheet {number} is missing")
                with archive.open(place) as stream:
                    follow(stream, rows)
            full = full or rows.count > 0
            manuscript.write("\n")
        if not full and sparing.damage is not None:
            raise refusal(Media.XLSX, sparing.damage)
        if not full:
            raise Refused(NO_CELLS, code="ERR_NO_TEXT")


def _sheets(archive: Archive, main: str) -> tuple[list[tuple[str, str]], bool]:
    named = relations(archive, main)
    found: list[tuple[str, str]] = []
    since_1904 = False

    def take(name: str, attributes: Attributes) -> None:
        nonlocal since_1904
        if name == "x:workbookPr":
            since_1904 = attributes.get("date1904", "") in ("1", "true", "on")
        elif name == "x:sheet":
            kind, place = named.get(attributes.get("r:id", ""), ("", ""))
            if kind in ("worksheet", ""):  # one that leads nowhere is missing; charts have no rows
                found.append((attributes.get("name", ""), place))

    each_element(archive, main, take)
    return found, since_1904


def _strings(archive: Archive, main: str, manuscript: Manuscript, sparing: Sparing) -> list[str]:
    for kind, place in relations(archive, main).values():
        if kind == "sharedStrings" and place in archive:
            shared = _Strings(manuscript.limits.text_bytes)
            with sparing.part("The texts its cells share"), archive.open(place) as stream:
                follow(stream, shared)
            return shared.found
    return []


class _Strings(Handler):
    """Texts that cells share, with how to say them left out."""

    def __init__(self, characters_max: int) -> None:
        self.found: list[str] = []
        self._pieces: list[str] = []
        self._in_text = False
        self._spoken = 0
        self._left = characters_max

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "x:si":
            self._pieces = []
        elif name == "x:t":
            self._in_text = True
        elif name == "x:rPh":
            self._spoken += 1

    def end(self, name: str) -> None:
        if name == "x:si":
            text = one_line(clean("".join(self._pieces)))
            self._left -= len(text)
            if self._left < 0:
                raise Refused("The spreadsheet holds more text than the limit.", code="ERR_PARSE_OUTPUT")
            self.found.append(text)
        elif name == "x:t":
            self._in_text = False
        elif name == "x:rPh":
            self._spoken -= 1

    def text(self, text: str) -> None:
        if self._in_text and not self._spoken:
            self._pieces.append(text)


def _date_styles(archive: Archive, main: str) -> frozenset[int]:
    """The styles whose numbers are days and times."""
    dates = set(_DATE_FORMATS)
    found: set[int] = set()
    count = -1
    inside = False

    def take(name: str, attributes: Attributes) -> None:
        nonlocal count, inside
        if name == "x:numFmt":
            code = _FORMAT_NOISE.sub("", attributes.get("formatCode", "")[:500]).lower()
            number = _number(attributes.get("numFmtId", ""))
            if number is not None and any(letter in code for letter in "ymdhs"):
                dates.add(number)
        elif name == "x:cellXfs":
            inside = True
        elif name == "x:cellStyles":
            inside = False
        elif name == "x:xf" and inside:
            count += 1
            if _number(attributes.get("numFmtId", "")) in dates:
                found.add(count)

    for kind, place in relations(archive, main).values():
        if kind == "styles" and place in archive:
            try:
                each_element(archive, place, take)
            except Damaged:
                return frozenset()  # dates then show as numbers, which they are
    return frozenset(found)


class _Rows(Handler):
    """Writes rows as they end."""

    def __init__(self, book: _Book, manuscript: Manuscript) -> None:
        self.count = 0
        self._book = book
        self._manuscript = manuscript
        self._cells: list[str] = []
        self._column = 0
        self._next = 0
        """The column behind the last cell that was kept."""
        self._kind = ""
        self._style = ""
        self._value: list[str] = []
        self._in_value = False

    def start(self, name: str, attributes: Attributes) -> None:
        if name == "x:c":
            self._column = _column(attributes.get("r", ""), self._next)
            self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "")
            self._value = []
        elif name in ("x:v", "x:t"):
            self._in_value = True
        elif name == "x:row":
            self._cells, self._next = [], 0

    def end(self, name: str) -> None:
        if name in ("x:v", "x:t"):
            self._in_value = False
        elif name == "x:c":
            shown = self._shown("".join(self._value))
            if shown:
                gap = self._column - self._next
                self._cells += [""] * (gap if gap <= GAP_MAX else 1)
                self._cells.append(shown)
                self._next = self._column + 1
        elif name == "x:row":
            line = "\t".join(self._cells)
            if line:
                self.count += 1
                self._manuscript.cut()
                self._manuscript.write(line + "\n")
            self._cells = []

    def text(self, text: str) -> None:
        if self._in_value:
            self._value.append(text)

    def _shown(self, value: str) -> str:
        if not value.strip():
            return ""  # a cell that has a look and no value, of whatever kind
        if self._kind == "s":
            strings, place = self._book.strings, _number(value.strip())
            if place is None or place >= len(strings):
                raise Damaged("a cell names a text that is not there")
            return strings[place]
        if self._kind == "b":
            return "TRUE" if value.strip() == "1" else "FALSE"
        if self._kind == "n" and _number(self._style) in self._book.dates:
            return _date(value, self._book.epoch)
        return one_line(clean(value))


def _number(digits: str) -> int | None:
    """A number that counts something in a file; None for what is none, or far more than any file has."""
    return int(digits) if digits.isdecimal() and len(digits) <= NUMBER_DIGITS_MAX else None


def _column(reference: str, following: int) -> int:
    """A column by its letters, from 0; a cell that does not say stands beside the one before."""
    found = _COLUMN.match(reference)
    if not found:
        return following
    number = 0
    for letter in found[1]:
        number = number * 26 + ord(letter) - 64
    return number - 1


def _date(value: str, epoch: datetime) -> str:
    try:
        days = float(value)
        moment = epoch + timedelta(seconds=round(days * 86400))
    except (ValueError, OverflowError):  # no number, or behind the year 9999
        return one_line(clean(value))
    if days < 0:
        return one_line(clean(value))
    if days < 1:
        return moment.strftime("%H:%M:%S")
    return moment.strftime("%Y-%m-%d" if days == int(days) else "%Y-%m-%d %H:%M:%S")

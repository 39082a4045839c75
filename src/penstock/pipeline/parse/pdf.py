"""PDF: page by page with PDFium, in windows of pages so that memory does not grow with the document.

PDFium keeps what it has read of a document until it is closed, so the document is opened again for every
window. A file whose tables are broken goes to a second reader, which looks for pages without them, but only
if the caller takes what is left: nobody can say how many pages such a file once had. A single page PDFium
cannot load does not go there: where a page is missing, the second reader gives the next one in its place.
"""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import BinaryIO

import pdf_oxide
import pypdfium2
import pypdfium2.raw as pdfium

from penstock.model.errors import Refused
from penstock.pipeline.parse.cleaning import clean, one_line
from penstock.pipeline.parse.damage import Damaged
from penstock.pipeline.parse.manuscript import TITLE_CHARS_MAX, Manuscript

WINDOW_PAGES = 200
OUTLINE_MAX = 10_000
OUTLINE_DEPTH_MAX = 6
BOOKMARKS_PER_PAGE_MAX = 200
BOOKMARK_LOOK_CHARS = 100_000
BOOKMARK_LOOK_LINES = 1000
"""How much of a page is searched for the titles of its bookmarks."""
NUMBER_CHARS_MAX = 12
"""The longest number of a chapter: XXXVIII.12.4"""
LISTED_MAX = 12
END_OF_LINE_HYPHEN = "\ufffe"
"""What PDFium puts in place of a hyphen that only parted a word at the end of a line."""
_PASSWORD_ERRORS = (pdfium.FPDF_ERR_PASSWORD, pdfium.FPDF_ERR_SECURITY)

Outline = Mapping[int, list[tuple[int, str]]]


def write_pdf(file: BinaryIO, manuscript: Manuscript, *, lenient: bool) -> None:
    """Write every page, or refuse; what is lost is told."""
    try:
        document = _open(file)
    except Damaged:
        if not lenient:
            raise
        _write_repaired(file, manuscript)
        return
    try:
        count = len(document)
        if count > manuscript.limits.pages:
            raise Refused(
                f"The PDF has {count} pages, more than {manuscript.limits.pages}.", code="ERR_PARSE_PAGES"
            )
        outline = _outline(document)
        manuscript.title = _title(document)
    finally:
        document.close()
    if count == 0:
        raise Damaged("it has no pages")
    pages = _Pages(file, manuscript, outline)
    for first in range(0, count, WINDOW_PAGES):
        pages.write(range(first, min(first + WINDOW_PAGES, count)))
    pages.settle(lenient=lenient)


def joined(text: str) -> str:
    """The text of a page with its parted words whole again."""
    return clean(text.replace(END_OF_LINE_HYPHEN, "")).strip("\n ")


class _Pages:
    """Pages written one after another, and what went wrong with them."""

    def __init__(self, file: BinaryIO, manuscript: Manuscript, outline: Outline) -> None:
        self._file = file
        self._manuscript = manuscript
        self._outline = outline
        self._unreadable: list[int] = []
        self._empty: list[int] = []

    def write(self, indexes: range) -> None:
        """Write a window of pages."""
        document = _open(self._file)
        try:
            for index in indexes:
                self._write_page(document, index)
        finally:
            document.close()

    def settle(self, *, lenient: bool) -> None:
        """Tell what was lost: pages that cannot be read refuse the file unless the caller said otherwise."""
        if self._unreadable and not lenient:
            raise Refused(
                f"{_listed(self._unreadable)} of the PDF cannot be read.", code="ERR_PDF_PAGES_UNREADABLE"
            )
        if self._unreadable:
            self._manuscript.note(
                f"{_listed(self._unreadable)} cannot be read and {_is(self._unreadable)} left out."
            )
        if not self._manuscript.has_words and not self._unreadable:
            raise Refused(
                "The PDF holds no text: its pages are empty, or pictures of text.", code="ERR_NO_TEXT"
            )
        if self._empty and self._manuscript.has_words:
            self._manuscript.note(f"{_listed(self._empty)} {_holds(self._empty)} no text.")

    def _write_page(self, document: pypdfium2.PdfDocument, index: int) -> None:
        self._manuscript.begin_page()
        text = _text_of(document, index)
        if text is None:
            self._unreadable.append(index + 1)
            return
        if not text:
            self._empty.append(index + 1)
        start = self._manuscript.length
        self._mark_headings(index, text, start)
        if text:
            self._manuscript.write(text + "\n\n")

    def _mark_headings(self, index: int, text: str, start: int) -> None:
        marks = self._outline.get(index, [])[:BOOKMARKS_PER_PAGE_MAX]
        lines = _lines(text) if marks else []
        found = [(start + _place_of(title.casefold(), lines), level, title) for level, title in marks]
        for at, level, title in sorted(found, key=lambda each: each[0]):
            self._manuscript.mark(level, title, at)


def _lines(text: str) -> list[tuple[int, str]]:
    """Where each line of a page starts, and its words as titles are compared."""
    found: list[tuple[int, str]] = []
    at = 0
    for line in text[:BOOKMARK_LOOK_CHARS].split("\n", BOOKMARK_LOOK_LINES)[:BOOKMARK_LOOK_LINES]:
        found.append((at, one_line(line).casefold()))
        at += len(line) + 1
    return found


def _place_of(title: str, lines: Sequence[tuple[int, str]]) -> int:
    """Where the line of a bookmark's title starts on its page; the page's start if it is not found there.

    A title may run over several lines and have a number before it. The same words inside a sentence are that
    sentence's own: they count only where no line consists of the title.
    """
    within = 0
    for number, (at, line) in enumerate(lines):
        first, _, rest = line.partition(" ")
        for words in (line, rest if len(first) <= NUMBER_CHARS_MAX else ""):
            if words and title.startswith(words) and _goes_on(title, words, lines[number + 1 : number + 4]):
                return at
        within = within or (at if title in line else 0)
    return within


def _goes_on(title: str, words: str, following: Sequence[tuple[int, str]]) -> bool:
    """Whether these words and those of the lines below make up the title."""
    for _, line in following:
        if len(words) >= len(title):
            break
        words = f"{words} {line}"
    return words == title


def _open(file: BinaryIO) -> pypdfium2.PdfDocument:
    file.seek(0)
    try:
        return pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as error:
        if error.err_code in _PASSWORD_ERRORS:
            raise Refused("The PDF is encrypted and needs a password.", code="ERR_ENCRYPTED") from error
        raise Damaged("it is cut short, or its tables are broken") from error


def _text_of(document: pypdfium2.PdfDocument, index: int) -> str | None:
    """The text of a page; None if it cannot be read."""
    with contextlib.ExitStack() as stack:
        try:
            page = document[index]
            stack.callback(page.close)
            words = page.get_textpage()
            stack.callback(words.close)
            return joined(words.get_text_range())
        except pypdfium2.PdfiumError:
            return None


def _outline(document: pypdfium2.PdfDocument) -> Outline:
    """The bookmarks of each page: levels and titles."""
    found: dict[int, list[tuple[int, str]]] = defaultdict(list)
    try:
        for number, mark in enumerate(document.get_toc(max_depth=OUTLINE_DEPTH_MAX)):
            if number >= OUTLINE_MAX:
                break
            target = mark.get_dest()
            index = target.get_index() if target else None
            title = one_line(clean(_words(mark.get_title)))[:TITLE_CHARS_MAX].strip()
            if index is not None and title:
                found[index].append((mark.level + 1, title))
    except pypdfium2.PdfiumError:
        return {}  # bookmarks are a help, not the text
    return found


def _title(document: pypdfium2.PdfDocument) -> str | None:
    return _words(lambda: document.get_metadata_value("Title")).strip() or None


def _words(ask: Callable[[], str]) -> str:
    """A title as PDFium gives it; half a character in it is replaced, since the text is worth more."""
    try:
        return ask()
    except UnicodeDecodeError as error:
        return error.object.decode("utf-16-le", errors="replace")


def _second_reader(file: BinaryIO) -> pdf_oxide.PdfDocument:
    file.seek(0)
    try:
        return pdf_oxide.PdfDocument.from_bytes(file.read())
    except (RuntimeError, ValueError, OSError) as error:
        raise Damaged("no pages can be found in it") from error


def _write_repaired(file: BinaryIO, manuscript: Manuscript) -> None:
    """Write what a file without usable tables still shows."""
    document = _second_reader(file)
    manuscript.note("The PDF is damaged; pages may be missing and their numbers wrong.")
    lost: list[int] = []
    for index, text in _repaired_pages(document):
        manuscript.begin_page()
        if text is None:
            lost.append(index + 1)
        else:
            manuscript.block(joined(text), end="\n\n")
    if lost:
        manuscript.note(f"{_listed(lost)} cannot be read and {_is(lost)} left out.")
    if not manuscript.has_words:
        raise Damaged("no text can be recovered")


def _repaired_pages(document: pdf_oxide.PdfDocument) -> Iterator[tuple[int, str | None]]:
    try:
        count = document.page_count()
    except (RuntimeError, ValueError) as error:
        raise Damaged("no pages can be found in it") from error
    for index in range(count):
        try:
            yield index, document.extract_text(index)
        except (RuntimeError, ValueError, IndexError):
            yield index, None


def _listed(numbers: list[int]) -> str:
    """Page numbers as a person would say them: Pages 3, 7-9."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    words = [f"{low}" if low == high else f"{low}-{high}" for low, high in ranges[:LISTED_MAX]]
    if len(ranges) > LISTED_MAX:
        words.append("and more")
    return f"Page{'s' if len(numbers) > 1 else ''} {', '.join(words)}"


def _is(numbers: list[int]) -> str:
    return "are" if len(numbers) > 1 else "is"


def _holds(numbers: list[int]) -> str:
    return "hold" if len(numbers) > 1 else "holds"

"""Reading a file: decide what it is, then let the format's own reader write it down."""

from __future__ import annotations

import io
from typing import BinaryIO

from penstock.model.errors import Refused
from penstock.model.parsed import Media, Parsed
from penstock.pipeline.parse.code import write_code
from penstock.pipeline.parse.csv import write_csv
from penstock.pipeline.parse.damage import Damaged, Sparing, refusal
from penstock.pipeline.parse.decoding import decode, load_codecs
from penstock.pipeline.parse.detecting import Detected, detect
from penstock.pipeline.parse.docx import write_docx
from penstock.pipeline.parse.epub import write_epub
from penstock.pipeline.parse.html import charset_in, write_html
from penstock.pipeline.parse.json import write_json
from penstock.pipeline.parse.manuscript import Ending, Limits, Manuscript, Sink, Window, gathered
from penstock.pipeline.parse.markdown import write_markdown
from penstock.pipeline.parse.pdf import write_pdf
from penstock.pipeline.parse.plain import write_plain
from penstock.pipeline.parse.pptx import write_pptx
from penstock.pipeline.parse.xlsx import write_xlsx

BYTES_PER_CHARACTER_MAX = 4
_SAMPLES = (
    (b"A text.", "a.txt"),
    ("# Überschrift\n\nEin Text.\n".encode("cp1252"), "a.md"),
    (b"<!doctype html><p>A text.", "a.html"),
    (b'{"a": "text"}', "a.json"),
    (b"def text(): ...", "a.py"),
)
"""Read once at the start, so that whatever the readers load late is loaded by then."""


def read(file: BinaryIO, name: str, limits: Limits, sink: Sink, *, lenient: bool = False) -> Ending:
    """Read a file and hand its text on in windows; Refused says why it cannot be read."""
    manuscript = Manuscript(limits, sink)
    detected = detect(file, name, limits, lenient=lenient)
    if detected.note:
        manuscript.note(detected.note)
    sparing = Sparing(manuscript.note, lenient=lenient)
    try:
        with sparing.part("The file"):
            _write(file, detected, manuscript, sparing, lenient=lenient)
        if sparing.damage is not None and not manuscript.has_words:
            raise sparing.damage
    except Damaged as error:
        raise refusal(detected.media, error) from error
    return manuscript.finish(detected.media, language=detected.language)


def read_whole(file: BinaryIO, name: str, limits: Limits | None = None, *, lenient: bool = False) -> Parsed:
    """The same in one piece."""
    windows: list[Window] = []
    ending = read(file, name, limits or Limits(), windows.append, lenient=lenient)
    return gathered(windows, ending)


def _write(
    file: BinaryIO, detected: Detected, manuscript: Manuscript, sparing: Sparing, *, lenient: bool
) -> None:
    match detected.media:
        case Media.PDF:
            write_pdf(file, manuscript, lenient=lenient)
        case Media.DOCX:
            write_docx(file, manuscript, sparing)
        case Media.PPTX:
            write_pptx(file, manuscript, sparing)
        case Media.XLSX:
            write_xlsx(file, manuscript, sparing)
        case Media.EPUB:
            write_epub(file, manuscript, sparing)
        case _:
            _write_text(
                _text_of(file, detected.media, manuscript, lenient=lenient),
                detected,
                manuscript,
                lenient=lenient,
            )


def _write_text(text: str, detected: Detected, manuscript: Manuscript, *, lenient: bool) -> None:
    match detected.media:
        case Media.MARKDOWN:
            write_markdown(text, manuscript)
        case Media.HTML:
            write_html(text, manuscript)
        case Media.CSV:
            write_csv(text, manuscript)
        case Media.JSON:
            write_json(text, manuscript, lenient=lenient)
        case Media.CODE:
            write_code(text, detected.language, manuscript)
        case _:
            write_plain(text, manuscript)


def _text_of(file: BinaryIO, media: Media, manuscript: Manuscript, *, lenient: bool) -> str:
    """The characters of a file that is text."""
    size = file.seek(0, io.SEEK_END)
    if size > manuscript.limits.text_bytes * BYTES_PER_CHARACTER_MAX:
        raise Refused(
            f"The file holds more than {manuscript.limits.text_bytes} bytes of text.", code="ERR_PARSE_OUTPUT"
        )
    file.seek(0)
    data = file.read(size)
    claim = charset_in(data) if media is Media.HTML else None
    decoded = decode(data, claim=claim, lenient=lenient)
    if decoded.note:
        manuscript.note(decoded.note)
    return decoded.text


def warm_up() -> None:
    """Load everything reading may need: later no file can be opened."""
    load_codecs()
    for sample, name in _SAMPLES:
        read_whole(io.BytesIO(sample), name)

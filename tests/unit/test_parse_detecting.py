"""What a file is, by what is in it: every ending may lie."""

from __future__ import annotations

import io
import struct
import time
import zipfile

import pytest

from penstock.model.errors import Refused
from penstock.pipeline.parse.endings import FORMATS
from tests.support.files.packages import docx, epub_parts, packed, paragraph, pptx_parts, xlsx_parts
from tests.support.files.pdf import simple_pdf
from tests.support.parsing import code_of, read_bytes

ROW = '<row><c r="A1"><v>7</v></c></row>'
SOUND = {
    "pdf": simple_pdf([["Words."]]),
    "docx": docx(paragraph("Words.")),
    "pptx": packed(pptx_parts([("Words", ["more"])])),
    "xlsx": packed(xlsx_parts({"One": ROW})),
    "epub": packed(epub_parts(["<p>Words.</p>"])),
}
FOREIGN = {
    "png": b"\x89PNG\r\n\x1a\n" + bytes(200),
    "jpeg": b"\xff\xd8\xff\xe0" + bytes(range(200)),
    "exe": b"MZ\x90\x00\x03\x00\x00\x00" + bytes(300),
    "elf": b"\x7fELF\x02\x01\x01" + bytes(300),
    "gzip": b"\x1f\x8b\x08\x00" + bytes(range(256)),
    "sqlite": b"SQLite format 3\x00" + bytes(300),
    "zip": packed({"readme": "words"}),
    "doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
    "rtf": b"{\\rtf1 words}",
    "gif": b"GIF89a\x01\x00\x01\x00\x80\x00\x00" + bytes(30),
    "mp4": b"\x00\x00\x00\x18ftypisom\x00\x00\x02\x00" + bytes(300),
}


@pytest.mark.parametrize("ending", [*FORMATS, "py", "", "unknown"])
@pytest.mark.parametrize("true", SOUND)
def test_a_signature_beats_every_name(true: str, ending: str) -> None:
    """A PDF is a PDF whatever it is called, and a note tells if the name said otherwise."""
    parsed = read_bytes(SOUND[true], f"file.{ending}")

    assert parsed.media == true
    claims_other = (ending in FORMATS and FORMATS[ending] != true) or ending == "py"
    assert any("claims" in note for note in parsed.notes) == claims_other


@pytest.mark.parametrize("ending", [*FORMATS, "py"])
@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_nothing_we_read_is_called_a_lie_under_our_names(kind: str, ending: str) -> None:
    """A picture called report.pdf is refused as not what it claims."""
    assert code_of(FOREIGN[kind], f"file.{ending}") == "ERR_TYPE_MISMATCH"


def stored(parts: dict[str, bytes]) -> bytes:
    """A zip archive that holds them as they are."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_STORED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return made.getvalue()


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (stored({"a.pdf": SOUND["pdf"]}), "a.zip", "ERR_TYPE_UNSUPPORTED"),
        (stored({"inner.zip": stored({"a.pdf": SOUND["pdf"]})}), "a.docx", "ERR_TYPE_MISMATCH"),
        (
            b"a.pdf".ljust(257, b"\0") + b"ustar".ljust(255, b"\0") + SOUND["pdf"],
            "a.tar",
            "ERR_TYPE_UNSUPPORTED",
        ),
        (b"GIF89a" + bytes(20) + SOUND["pdf"], "a.gif", "ERR_TYPE_UNSUPPORTED"),
        (bytes(range(1, 32)) * 9 + SOUND["pdf"], "a.bin", "pdf"),
    ],
)
def test_what_holds_a_pdf_is_none(data: bytes, name: str, code: str) -> None:
    """What begins as another format is that, though a PDF begins soon after; other bytes may come first."""
    assert code_of(data, name) == code


@pytest.mark.parametrize("kind", FOREIGN)
def test_what_is_nothing_we_read_is_unsupported_under_its_own_name(kind: str) -> None:
    """The same under another name is simply no kind of file we read."""
    assert code_of(FOREIGN[kind], f"file.{kind}") == "ERR_TYPE_UNSUPPORTED"


@pytest.mark.parametrize("ending", SOUND)
def test_text_under_a_binary_name_is_a_lie(ending: str) -> None:
    """A login page saved as report.pdf is refused; by force it is taken as the text it is."""
    data = b"Please sign in to continue.\n"

    assert code_of(data, f"file.{ending}") == "ERR_TYPE_MISMATCH"
    assert code_of(data, f"file.{ending}", lenient=True) == "txt"


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("pdf", "ERR_PDF_INVALID"),
        ("docx", "ERR_DOCX_INVALID"),
        ("pptx", "ERR_PPTX_INVALID"),
        ("xlsx", "ERR_XLSX_INVALID"),
        ("epub", "ERR_EPUB_INVALID"),
        ("txt", "ERR_TEXT_ENCODING"),
        ("md", "ERR_TEXT_ENCODING"),
        ("bin", "ERR_TYPE_UNSUPPORTED"),
    ],
)
def test_bytes_of_no_kind_are_damage_in_the_words_of_the_claim(ending: str, code: str) -> None:
    """Whoever damaged a file is told that it is damaged."""
    assert code_of(bytes(range(1, 256)) * 8, f"file.{ending}") == code


@pytest.mark.parametrize(
    ("name", "data", "media"),
    [
        ("page.txt", b"<!DOCTYPE html><p>words", "html"),
        ("page", b"  <html><p>words</html>", "html"),
        ("notes.md", b"<html> is a tag", "md"),
        ("run", b"#!/usr/bin/env python3\nprint()\n", "code"),
        ("Makefile", b"all: it\n", "code"),
        ("data.tsv", b"a\tb\n", "csv"),
        ("strange.xyz", b"just words\n", "txt"),
        ("noname", b"MZ is how this text starts\n", "txt"),
        ("letter.txt", b"BM of the week: words\n", "txt"),
        ("pdf.md", b"# PDF\n\nA file begins with %PDF-1.7 and a comment.\n", "md"),
        ("reader.py", b'MAGIC = b"%PDF-"\n', "code"),
        ("noname", b"Look for %PDF- in the first bytes.\n", "txt"),
        ("gif.md", b"GIF89a is the newer of two formats.\n", "md"),
        ("film.txt", b"The ftyp box comes first.\n", "txt"),
        ("wOFF.md", b"wOFF and wOF2 are fonts.\n", "md"),
        ("a.xml", b"<?xml version='1.0'?><a>words</a>", "code"),
    ],
)
def test_among_texts_the_name_is_a_hint(name: str, data: bytes, media: str) -> None:
    """The name decides between texts unless the bytes plainly say otherwise."""
    assert code_of(data, name) == media


@pytest.mark.parametrize("name", ["a.pdf", "a.md", "a"])
def test_a_pdf_may_have_something_before_its_header(name: str) -> None:
    """Bytes that are no text show that the header is meant."""
    data = b"\r\nHTTP/1.1 200 OK\r\n\r\n" + SOUND["pdf"]

    assert code_of(data + bytes(range(256)), name) == "pdf"


def test_an_svg_is_a_picture() -> None:
    """Pictures made of text are pictures."""
    assert code_of(b"<svg xmlns='http://www.w3.org/2000/svg'><text>x</text></svg>", "a.svg") == (
        "ERR_TYPE_UNSUPPORTED"
    )


def test_an_encrypted_office_file_is_told_from_an_old_one() -> None:
    """Both look alike from outside; what to do about them differs."""
    locked = FOREIGN["doc"] + "EncryptedPackage".encode("utf-16-le") + bytes(100)

    assert code_of(locked, "a.docx") == "ERR_ENCRYPTED"


def test_an_encrypted_office_file_may_list_what_it_holds_at_its_end() -> None:
    """In a large one the list comes behind megabytes of what is locked."""
    sector = 6000
    header = FOREIGN["doc"][:8].ljust(30, b"\0") + struct.pack("<H16xI", 9, sector)
    listed = "EncryptedPackage".encode("utf-16-le").ljust(512, b"\0")

    assert code_of(header.ljust((sector + 1) * 512, b"\1") + listed, "a.docx") == "ERR_ENCRYPTED"


@pytest.mark.parametrize(
    ("data", "name", "words"),
    [
        (FOREIGN["doc"], "a.doc", "The file is a document of an Office from before 2007, which is not read."),
        (
            packed({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": "<x/>"}),
            "a.odt",
            "The file is an OpenDocument file, which is not read.",
        ),
        (packed({"a.txt": "text"}), "a.zip", "The file is a zip archive, which is not read."),
    ],
)
def test_what_is_not_read_is_called_by_its_name(data: bytes, name: str, words: str) -> None:
    """Who put it in knows what to convert; nobody is told that his letter holds no text."""
    with pytest.raises(Refused, match=f"^{words}$"):
        read_bytes(data, name)


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.pdf", "a.json", "a"])
def test_nothing_is_empty_under_every_name(name: str) -> None:
    """No bytes are no file."""
    assert code_of(b"", name) == "ERR_FILE_EMPTY"


@pytest.mark.parametrize("name", ["a.txt", "a.md", "a.csv", "a.html", "a.py"])
def test_blanks_are_no_text(name: str) -> None:
    """A file of blanks has nothing to find in it."""
    assert code_of(b" \n\t\n  ", name) == "ERR_NO_TEXT"


@pytest.mark.parametrize(("name", "has_pictures"), [("a.txt", False), ("a.csv", False), ("a.html", True)])
def test_advice_about_pictures_is_for_what_may_show_some(name: str, has_pictures: bool) -> None:
    """A blank text is told to be blank, whether it came as a file or by itself; a page may be a picture."""
    with pytest.raises(Refused) as refused:
        read_bytes(b"  \n  ", name)

    assert "file" not in refused.value.message
    assert any("OCR" in line for line in refused.value.suggestions) == has_pictures


@pytest.mark.parametrize(
    ("line", "media"),
    [
        ("#!/usr/bin/env python3", "code"),
        ("#!/bin/sh", "code"),
        ("#! /opt/ruby-3/bin/ruby2.7", "code"),
        ("#!/usr/bin/strange", "txt"),
    ],
)
def test_a_script_without_an_ending_is_known_by_its_first_line(line: str, media: str) -> None:
    """What runs it tells the language."""
    assert code_of(f"{line}\nwords\n".encode(), "script") == media


def test_an_endless_first_line_costs_no_more_than_any_other() -> None:
    """A path that leads nowhere is looked at once, not once for each of its letters."""
    endless = b"#!/" + b"a" * 8000 + b"!\nwords\n"

    def seconds(data: bytes) -> float:
        begun = time.process_time()
        assert code_of(data, "script") == "txt"
        return time.process_time() - begun

    usual = min(seconds(b"# " + endless) for _ in range(3))
    assert min(seconds(endless) for _ in range(3)) < 20 * usual + 0.1

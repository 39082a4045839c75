"""Formats made of a zip archive: what is odd in one is told in its own words, and ends no parser."""

from __future__ import annotations

import io
import struct
import zipfile

import pytest

from penstock.model.errors import Refused
from penstock.pipeline.parse import archives
from tests.support.files.packages import (
    docx,
    docx_parts,
    epub_parts,
    packed,
    paragraph,
    pptx_parts,
    slide_table,
    xlsx_parts,
)
from tests.support.parsing import read_bytes


def refusal(data: bytes, name: str) -> Refused:
    with pytest.raises(Refused) as caught:
        read_bytes(data, name)
    return caught.value


def with_method(archive: bytes, method: int) -> bytes:
    """The same archive with every member's way of packing declared as another."""
    data = bytearray(archive)
    for magic, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = data.find(magic)
        while at >= 0:
            struct.pack_into("<H", data, at + offset, method)
            at = data.find(magic, at + 4)
    return bytes(data)


def packed_by_lzma_and_broken() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_LZMA) as archive:
        for name, part in docx_parts(paragraph("Words and words. " * 500)).items():
            archive.writestr(name, part)
    data = bytearray(out.getvalue())
    start = data.find(b"word/document.xml") + len("word/document.xml") + 20
    data[start : start + 40] = bytes(value ^ 0x5A for value in data[start : start + 40])
    return bytes(data)


def test_a_way_of_packing_nobody_knows_is_no_password() -> None:
    """Deflate64, which some archivers choose, is told as what it is."""
    refused = refusal(with_method(docx(paragraph("Words.")), 9), "a.docx")

    assert refused.code == "ERR_DOCX_INVALID"
    assert "compression" in refused.message


def test_damage_in_any_way_of_packing_is_damage() -> None:
    """Each packer has errors of its own; none of them is a crash."""
    assert refusal(packed_by_lzma_and_broken(), "a.docx").code == "ERR_DOCX_INVALID"


def with_two_ends(monkeypatch: pytest.MonkeyPatch, members: int) -> bytes:
    """A document of so many parts, the longer of whose two ends tells them; the shorter speaks of three."""
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 2)
    parts: dict[str, str | bytes] = {f"customXml/item{n}.xml": "<a/>" for n in range(members)}
    data = bytearray(packed({**docx_parts(paragraph("words")), **parts}))
    assert b"PK\x06\x06" in data
    struct.pack_into("<HI", data, data.rfind(b"PK\x05\x06") + 10, 3, 150)
    return bytes(data)


def test_a_directory_of_millions_is_refused_before_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the end of the archive that counts, whatever the other one says."""
    data = with_two_ends(monkeypatch, 60)
    sound = read_bytes(data, "a.docx")
    monkeypatch.setattr(archives, "MEMBERS_MAX", 50)
    monkeypatch.setattr(zipfile, "ZipFile", lambda file: pytest.fail("it was read"))

    assert "words" in sound.text
    assert refusal(data, "a.docx").code == "ERR_ARCHIVE_BOMB"


def test_a_chapter_too_long_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads that a book unpacks to too much reads which part of it does."""
    monkeypatch.setattr(archives, "PART_BYTES_MAX", 1000)

    refused = refusal(packed(epub_parts(["<p>Short.</p>", f"<p>{'long ' * 300}</p>"])), "a.epub")

    assert refused.code == "ERR_ARCHIVE_BOMB"
    assert "c 1.xhtml" in refused.message


@pytest.mark.parametrize("encoding", ["bogus", "shift_jis"])
def test_xml_in_an_encoding_nobody_reads_is_damage(encoding: str) -> None:
    """An encoding that is unknown, or that expat does not take, is told and ends no parser."""
    prolog = f'<?xml version="1.0" encoding="{encoding}"?>'

    refused = refusal(packed(docx_parts(paragraph("Words."), prolog=prolog)), "a.docx")

    assert refused.code == "ERR_DOCX_INVALID"
    assert "encoding" in refused.message


def a_book(text: str, label: str, codec: str) -> bytes:
    """With one chapter and a title, both written in that encoding and naming it."""
    prolog = f'<?xml version="1.0" encoding="{label}"?>\n'
    parts = epub_parts([""], title=text, prolog=prolog)
    page = f'{prolog}<html xmlns="http://www.w3.org/1999/xhtml"><body><p>{text}</p></body></html>'
    written = {"OPS/book.opf": str(parts["OPS/book.opf"]), "OPS/text/c 0.xhtml": page}
    return packed({**parts, **{name: part.encode(codec) for name, part in written.items()}})


@pytest.mark.parametrize(
    ("label", "codec", "text"),
    [
        ("utf-8", "utf-8-sig", "Grüße, Привет"),
        ("utf-16", "utf-16", "Привет из Москвы"),
        ("utf-16", "utf-16-le", "Привет из Москвы " * 50),
        ("UTF-16BE", "utf-16-be", "Привет из Москвы " * 50),
        ("iso-8859-1", "iso8859-1", "à"),
        ("windows-1251", "cp1251", "да"),
        ("KOI8-R", "koi8-r", "да"),
        ("ISO-8859-2", "iso8859-2", "Ł"),
        ("iso-8859-1", "utf-8", "Grüße, though it says otherwise"),
    ],
)
def test_a_book_names_its_encoding(label: str, codec: str, text: str) -> None:
    """Chapters are read in the encoding they name, or in that of their mark, and not by a guess."""
    assert read_bytes(a_book(text, label, codec), "a.epub").text.split() == text.split()


@pytest.mark.parametrize(("label", "codec"), [("iso-8859-1", "iso8859-1"), ("windows-1252", "cp1252")])
def test_a_books_title_names_its_encoding(label: str, codec: str) -> None:
    """As a chapter does."""
    assert read_bytes(a_book("Où ça ?", label, codec), "a.epub").title == "Où ça ?"


@pytest.mark.parametrize(
    ("label", "codec", "title"),
    [
        ("UTF-16", "utf-16", "Привет"),
        ("UTF-16", "utf-16-be", "Привет"),
        ("UTF-16LE", "utf-16-le", "Привет"),
        ("UTF-8", "utf-16", "Привет"),
        ("UTF-16", "utf-8", "Привет"),
        ("UTF-32", "utf-32", "Привет"),
        ("Shift_JIS", "shift_jis", "本の題"),
        ("EUC-JP", "euc_jp", "本の題"),
        ("ISO-2022-JP", "iso2022_jp", "本の題"),
        ("GB2312", "gb2312", "书名"),
        ("GB18030", "gb18030", "书名"),
        ("Big5", "big5", "書名"),
        ("EUC-KR", "euc_kr", "책 제목"),
        ("windows-1251", "cp1251", "Да"),
    ],
)
def test_a_books_own_parts_may_be_in_any_encoding(label: str, codec: str, title: str) -> None:
    """Where its contents are, what they are and what it is called is read as a chapter is."""
    prolog = f'<?xml version="1.0" encoding="{label}"?>\n'
    parts = epub_parts(["<p>Words.</p>"], title=title, prolog=prolog)
    for name in ("META-INF/container.xml", "OPS/book.opf"):
        text = str(parts[name]).removeprefix(prolog)
        parts[name] = f"{prolog}{text}".encode(codec)

    parsed = read_bytes(packed(parts), "a.epub")

    assert (parsed.title, parsed.text.strip()) == (title, "Words.")


@pytest.mark.parametrize("codec", ["utf-8", "utf-16", "utf-16-be", "shift_jis", "utf-32"])
@pytest.mark.parametrize("part", ["META-INF/container.xml", "OPS/book.opf"])
@pytest.mark.parametrize(
    "entity", ['<!ENTITY e SYSTEM "file:///etc/passwd">', '<!ENTITY a "aaaa"><!ENTITY e "&a;&a;&a;">']
)
def test_a_books_own_parts_declare_no_entities(codec: str, part: str, entity: str) -> None:
    """In whatever encoding: neither foreign files nor endless growth."""
    parts = epub_parts(["<p>Words.</p>"])
    text = str(parts[part])
    root = text[1:].split(None, 1)[0]
    prolog = f'<?xml version="1.0" encoding="{codec}"?><!DOCTYPE {root} [{entity}]>'
    parts[part] = (prolog + text.replace("A Book", "&e;")).encode(codec)

    refused = refusal(packed(parts), "a.epub")

    assert refused.code == "ERR_EPUB_INVALID"
    assert "entities" in refused.message


@pytest.mark.parametrize("label", ["bogus", "hex", "idna", "utf-7", "utf-16", "x" * 300, ""])
def test_a_chapter_that_names_no_encoding_is_read_all_the_same(label: str) -> None:
    """What is none, or not its own, is not believed, and does no harm."""
    parts = epub_parts([""])
    page = f'<?xml version="1.0" encoding="{label}"?><html><body><p>Grüße aus Köln</p></body></html>'
    parts["OPS/text/c 0.xhtml"] = page.encode()

    assert read_bytes(packed(parts), "a.epub").text.strip() == "Grüße aus Köln"


def test_letters_a_book_lost_are_told() -> None:
    """Bytes that are none in the encoding of their mark become marks, and a note says in which chapter."""
    parts = epub_parts(["<p>One.</p>", ""])
    parts["OPS/text/c 1.xhtml"] = b"\xef\xbb\xbf<html><body><p>T\xffwo.</p></body></html>"

    parsed = read_bytes(packed(parts), "a.epub")

    assert parsed.text.split() == ["One.", "T\ufffdwo."]
    assert parsed.notes == ("Chapter 2: 1 characters could not be read as utf-8 and were replaced.",)


@pytest.mark.parametrize("place", ["00000000000099", "0" * 5000, "1", "-1", "x"])
def test_a_cell_that_names_no_text_is_damage(place: str) -> None:
    """However the number of the text is written."""
    rows = f'<row><c r="A1" t="s"><v>{place}</v></c></row>'

    assert refusal(packed(xlsx_parts({"S": rows}, shared=["one"])), "a.xlsx").code == "ERR_XLSX_INVALID"


@pytest.mark.parametrize("kind", ["s", "b", "n", "str", "inlineStr"])
@pytest.mark.parametrize("inside", ["", "<v/>", "<v></v>"])
def test_a_cell_without_a_value_is_empty(kind: str, inside: str) -> None:
    """Of whatever kind it says to be: programs write them for the sake of their look."""
    rows = f'<row><c r="A1" t="{kind}" s="1">{inside}</c><c r="B1" t="s"><v>0</v></c></row>'

    parsed = read_bytes(packed(xlsx_parts({"S": rows}, shared=["one"])), "a.xlsx")

    assert parsed.text.strip() == "S\n\n\tone"


@pytest.mark.parametrize(
    ("since_1904", "value", "shown"),
    [
        (False, "2958465", "9999-12-31"),
        (False, "2958466", "2958466"),
        (True, "2958000", "2958000"),
        (False, "-1", "-1"),
        (False, "1e308", "1e308"),
        (False, "nan", "nan"),
    ],
)
def test_a_day_beyond_every_calendar_stays_a_number(since_1904: bool, value: str, shown: str) -> None:
    """Where there is no such day, the cell shows what it holds."""
    parts = xlsx_parts({"S": f'<row><c r="A1" s="1"><v>{value}</v></c></row>'})
    book = str(parts["xl/workbook.xml"])
    if since_1904:
        parts["xl/workbook.xml"] = book.replace("<sheets>", '<workbookPr date1904="1"/><sheets>')

    assert read_bytes(packed(parts), "a.xlsx").text.split() == ["S", shown]


def test_a_table_behind_the_slide_number_is_read() -> None:
    """What comes after a shape that is left out is not left out with it."""
    parts = pptx_parts([("Figures", ["for the year"])])
    name = "ppt/slides/slide1.xml"
    slide = str(parts[name])
    parts[name] = slide.replace("</p:spTree>", f"{slide_table([['a', 'b'], ['c', 'd']])}</p:spTree>")

    assert read_bytes(packed(parts), "a.pptx").text == "Figures\n\nfor the year\na\tb\nc\td\n"


def test_a_sheet_nobody_can_find_is_missing_not_left_out() -> None:
    """A name in the list of sheets that leads nowhere is damage people are told."""
    row = '<row><c r="A1"><v>7</v></c></row>'
    parts = xlsx_parts({"One": row, "Two": row})
    parts["xl/_rels/workbook.xml.rels"] = str(parts["xl/_rels/workbook.xml.rels"]).replace('"s1"', '"zz"')

    refused = refusal(packed(parts), "a.xlsx")
    taken = read_bytes(packed(parts), "a.xlsx", lenient=True)

    assert (refused.code, "sheet 2 is missing" in refused.message) == ("ERR_XLSX_INVALID", True)
    assert taken.text.split() == ["One", "7", "Two"]
    assert any("Sheet 2" in note for note in taken.notes)

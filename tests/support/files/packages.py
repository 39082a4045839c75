"""Office files and books written by hand: zip archives of XML, sound or wrong on purpose."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_A = "http://schemas.openxmlformats.org/drawingml/2006/main"
_P = "http://schemas.openxmlformats.org/presentationml/2006/main"
_X = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_RELS = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'

LAUGHS = (
    '<!DOCTYPE w [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]>'
)
FOREIGN = '<!DOCTYPE w [<!ENTITY a SYSTEM "file:///etc/passwd">]>'

Parts = Mapping[str, str | bytes]


def packed(parts: Parts, *, stored: Sequence[str] = ()) -> bytes:
    """A zip archive of these parts."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            kind = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            archive.writestr(name, data, compress_type=kind)
    return out.getvalue()


def relations(*named: tuple[str, str, str]) -> str:
    """A list of relations: id, kind, target."""
    each = "".join(
        f'<Relationship Id="{name}" Type="{_R}/{kind}" Target="{to}"/>' for name, kind, to in named
    )
    return f'<Relationships xmlns="{_RELS}">{each}</Relationships>'


def docx_parts(body: str, *, prolog: str = "", more: Parts | None = None) -> dict[str, str | bytes]:
    """The parts of a Word document with this body."""
    styles = (
        f'<w:styles xmlns:w="{_W}">'
        '<w:style w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:basedOn w:val="Heading1"/></w:style>'
        '<w:style w:styleId="Deep"><w:name w:val="x"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>'
        "</w:styles>"
    )
    return {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": relations(("r1", "officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": relations(
            ("s", "styles", "styles.xml"), ("f", "footnotes", "footnotes.xml")
        ),
        "word/styles.xml": styles,
        "word/document.xml": f'{prolog}<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>',
        **(more or {}),
    }


def paragraph(text: str, *, style: str = "") -> str:
    """One paragraph of a Word document."""
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f'<w:p>{properties}<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table of a Word document."""
    cells = ("".join(f"<w:tc>{paragraph(cell)}</w:tc>" for cell in row) for row in rows)
    return f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in cells)}</w:tbl>"


def docx(body: str, **parts: str) -> bytes:
    """A Word document."""
    return packed(docx_parts(body, **parts))  # type: ignore[arg-type]


def pptx_parts(
    slides: Sequence[tuple[str, Sequence[str]]], *, notes: str = "", prolog: str = ""
) -> dict[str, str | bytes]:
    """The parts of a presentation: titles and lines, and notes to the first slide."""
    listed = "".join(f'<p:sldId id="{256 + n}" r:id="s{n}"/>' for n in range(len(slides)))
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": relations(("r1", "officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{_P}" xmlns:r="{_R}">'
        f"<p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
        # Files are named the other way round, so that only the list tells the order of the show.
        "ppt/_rels/presentation.xml.rels": relations(
            *((f"s{n}", "slide", f"slides/slide{len(slides) - n}.xml") for n in range(len(slides)))
        ),
    }
    for number, (title, lines) in enumerate(slides):
        name = f"slide{len(slides) - number}.xml"
        body = _shape("title", [title]) + _shape("body", lines) + _shape("sldNum", [str(number + 1)])
        parts[f"ppt/slides/{name}"] = f"{prolog}{_slide('sld', body)}"
        if notes and number == 0:
            parts[f"ppt/slides/_rels/{name}.rels"] = relations(("n", "notesSlide", "../notesSlides/n1.xml"))
            parts["ppt/notesSlides/n1.xml"] = _slide("notes", _shape("body", [notes]))
    return parts


def _slide(kind: str, body: str) -> str:
    return f'<p:{kind} xmlns:p="{_P}" xmlns:a="{_A}"><p:cSld><p:spTree>{body}</p:spTree></p:cSld></p:{kind}>'


def _shape(holder: str, lines: Sequence[str]) -> str:
    text = "".join(f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in lines)
    kind = f'<p:nvSpPr><p:nvPr><p:ph type="{holder}"/></p:nvPr></p:nvSpPr>'
    return f"<p:sp>{kind}<p:txBody>{text}</p:txBody></p:sp>"


def slide_table(rows: Sequence[Sequence[str]]) -> str:
    """A table of a slide, which stands in no shape."""
    cells = "<a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc>"
    lines = "".join(f"<a:tr>{''.join(cells.format(escape(cell)) for cell in row)}</a:tr>" for row in rows)
    table = f"<a:graphic><a:graphicData><a:tbl>{lines}</a:tbl></a:graphicData></a:graphic>"
    return f"<p:graphicFrame>{table}</p:graphicFrame>"


def xlsx_parts(
    sheets: Mapping[str, str], *, shared: Sequence[str] = (), prolog: str = ""
) -> dict[str, str | bytes]:
    """The parts of a workbook: names and the XML of their rows."""
    listed = "".join(
        f'<sheet name="{escape(name)}" sheetId="{n + 1}" r:id="s{n}"/>' for n, name in enumerate(sheets)
    )
    places = ((f"s{n}", "worksheet", f"worksheets/sheet{n + 1}.xml") for n in range(len(sheets)))
    strings = "".join(f"<si><t>{escape(text)}</t><rPh><t>spoken</t></rPh></si>" for text in shared)
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": relations(("r1", "officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook xmlns="{_X}" xmlns:r="{_R}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(
            *places, ("t", "sharedStrings", "sharedStrings.xml"), ("y", "styles", "styles.xml")
        ),
        "xl/sharedStrings.xml": f'<sst xmlns="{_X}">{strings}</sst>',
        "xl/styles.xml": f'<styleSheet xmlns="{_X}">'
        '<numFmts><numFmt numFmtId="164" formatCode="0.00"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/></cellXfs></styleSheet>',
    }
    for number, rows in enumerate(sheets.values(), start=1):
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'{prolog}<worksheet xmlns="{_X}"><sheetData>{rows}</sheetData></worksheet>'
        )
    return parts


def epub_parts(chapters: Sequence[str], *, title: str = "A Book", prolog: str = "") -> dict[str, str | bytes]:
    """The parts of a book with these bodies as chapters."""
    items = "".join(
        f'<item id="c{n}" href="text/c%20{n}.xhtml" media-type="application/xhtml+xml"/>'
        for n in range(len(chapters))
    )
    order = "".join(f'<itemref idref="c{n}"/>' for n in range(len(chapters)))
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        "OPS/book.opf": f'{prolog}<package xmlns="http://www.idpf.org/2007/opf"><metadata '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{escape(title)}</dc:title></metadata>'
        f"<manifest>{items}</manifest><spine>{order}</spine></package>",
    }
    for number, body in enumerate(chapters):
        parts[f"OPS/text/c {number}.xhtml"] = (
            f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'
        )
    return parts


def lying_sizes(archive: bytes, declared: int) -> bytes:
    """The same archive with every member's unpacked size declared as something else in both places."""
    data = bytearray(archive)
    for magic, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.find(magic)
        while at >= 0:
            struct.pack_into("<I", data, at + offset, declared)
            at = data.find(magic, at + 4)
    return bytes(data)


def flat_bomb(unpacked: int) -> bytes:
    """A Word document whose text is one letter, very often."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in docx_parts("").items():
            if name != "word/document.xml":
                archive.writestr(name, data)
        with archive.open("word/document.xml", "w", force_zip64=True) as part:
            part.write(f'<w:document xmlns:w="{_W}"><w:body><w:p><w:r><w:t>'.encode())
            for _ in range(unpacked >> 20):
                part.write(b"A" * (1 << 20))
            part.write(b"</w:t></w:r></w:p></w:body></w:document>")
    return out.getvalue()


def nested_bomb(depth: int) -> bytes:
    """Archives inside archives, the innermost of zeros."""
    data = packed({"0": b"\0" * (4 << 20)})
    for level in range(depth):
        data = packed({f"{level}-{copy}.zip": data for copy in range(8)})
    return data


def many_members(count: int) -> bytes:
    """An archive of very many empty members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for number in range(count):
            archive.writestr(f"{number}", b"")
    return out.getvalue()


def encrypted_member(archive: bytes) -> bytes:
    """The same archive with every member marked as encrypted."""
    data = bytearray(archive)
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(magic)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(magic, at + 4)
    return bytes(data)

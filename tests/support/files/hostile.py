"""Files made to hang, blow up or deceive whoever reads them, each with the ends it may come to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.support.files import packages, pdf

READ = "read"
LIMITS = frozenset({"ERR_PARSE_TIMEOUT", "ERR_PARSE_MEMORY", "ERR_PARSE_OUTPUT", "ERR_PARSE_PAGES"})


@dataclass(frozen=True, slots=True)
class Hostile:
    """How to make it, and the codes it may end with; `read` is an end as well."""

    make: Callable[[], bytes]
    ends: frozenset[str]


def _of(make: Callable[[], bytes], *ends: str) -> Hostile:
    return Hostile(make, frozenset(ends))


def _sheet(rows: str) -> bytes:
    return packages.packed(packages.xlsx_parts({"One": rows}))


def _quine() -> bytes:
    """An archive that holds itself as far as one can without being endless: its own bytes as a member."""
    inner = packages.docx(packages.paragraph("x"))
    return packages.packed(
        {**packages.docx_parts(packages.paragraph("x")), "word/embeddings/self.docx": inner}
    )


HOSTILE: Mapping[str, Hostile] = {
    "laughs.docx": _of(lambda: packages.docx("&c;", prolog=packages.LAUGHS), "ERR_DOCX_INVALID"),
    "foreign.docx": _of(lambda: packages.docx("&a;", prolog=packages.FOREIGN), "ERR_DOCX_INVALID"),
    "laughs.pptx": _of(
        lambda: packages.packed(packages.pptx_parts([("T", ["x"])], prolog=packages.LAUGHS)),
        "ERR_PPTX_INVALID",
    ),
    "foreign.xlsx": _of(
        lambda: packages.packed(packages.xlsx_parts({"A": "<row/>"}, prolog=packages.FOREIGN)),
        "ERR_XLSX_INVALID",
    ),
    "foreign.epub": _of(
        lambda: packages.packed(packages.epub_parts(["<p>x</p>"], prolog=packages.FOREIGN)),
        "ERR_EPUB_INVALID",
    ),
    "laughs.html": _of(lambda: packages.LAUGHS.encode() + b"<p>&c; words", READ),
    "foreign.svg": _of(lambda: b"<?xml version='1.0'?>" + b"<svg>&a;</svg>", "ERR_TYPE_UNSUPPORTED"),
    "laughs.xml": _of(lambda: packages.LAUGHS.encode() + b"<w>&c;</w>", READ),
    "flat.docx": _of(lambda: packages.flat_bomb(100 << 20), "ERR_ARCHIVE_BOMB"),
    "small-lie.docx": _of(
        lambda: packages.lying_sizes(packages.flat_bomb(100 << 20), 100), "ERR_DOCX_INVALID"
    ),
    "large-lie.docx": _of(
        lambda: packages.lying_sizes(packages.docx(packages.paragraph("x")), 0xFFFFFFF0), "ERR_ARCHIVE_BOMB"
    ),
    "nested.docx": _of(lambda: packages.nested_bomb(4), "ERR_TYPE_MISMATCH"),
    "quine.docx": _of(_quine, READ),
    "members.docx": _of(lambda: packages.many_members(51_000), "ERR_ARCHIVE_BOMB"),
    "locked.docx": _of(
        lambda: packages.encrypted_member(packages.docx(packages.paragraph("x"))), "ERR_ENCRYPTED"
    ),
    "paragraphs.docx": _of(
        lambda: packages.docx("<w:p/>" * 1_000_000 + packages.paragraph("end")), READ, *LIMITS
    ),
    "deep.docx": _of(lambda: packages.docx("<w:p>" * 100_000), "ERR_DOCX_INVALID"),
    "tables.docx": _of(
        lambda: packages.docx(
            "<w:tbl><w:tr><w:tc>" * 5000 + packages.paragraph("x") + "</w:tc></w:tr></w:tbl>" * 5000
        ),
        READ,
    ),
    "far.xlsx": _of(lambda: _sheet('<row><c r="XFD1"><v>1</v></c></row>' * 100_000), READ, *LIMITS),
    "sheets.xlsx": _of(
        lambda: packages.packed(packages.xlsx_parts({f"S{n}": "<row/>" for n in range(300)})),
        "ERR_PARSE_PAGES",
    ),
    "shared.pdf": _of(lambda: pdf.shared_pages(100_000), "ERR_PARSE_PAGES"),
    "loop.pdf": _of(pdf.looping_tree, "ERR_PDF_PAGES_UNREADABLE"),
    "table-loop.pdf": _of(pdf.looping_table, READ, "ERR_PDF_INVALID"),
    "deep.pdf": _of(lambda: pdf.deep_tree(5000), READ, "ERR_PDF_PAGES_UNREADABLE"),
    "drawing.pdf": _of(
        lambda: pdf.content_bomb(600 << 20), "ERR_PARSE_MEMORY", "ERR_PARSE_TIMEOUT", "ERR_NO_TEXT",
        "ERR_PARSER_CRASHED",
    ),
    "line.txt": _of(lambda: b"word " * 4_000_000, READ, *LIMITS),
    "line.md": _of(lambda: b"[a" * 10_000_000, READ, *LIMITS),
    "line.html": _of(lambda: b"<p>" + b"word " * 4_000_000, READ, *LIMITS),
    "line.csv": _of(lambda: b'"' * 20_000_001, READ, *LIMITS),
    "line.json": _of(lambda: b'"' + b"a" * 20_000_000 + b'"', READ, *LIMITS),
    "line.py": _of(lambda: b"def " * 5_000_000, READ, *LIMITS),
    "deep.json": _of(lambda: b"[" * 5_000_000, "ERR_JSON_INVALID"),
    "deep.html": _of(lambda: b"<div>" * 200_000, "ERR_HTML_INVALID"),
    "spans.html": _of(lambda: b"<span>" * 200_000 + b"x", READ, *LIMITS),
    "marks.txt": _of(lambda: ("a" + "\u0301\u0323" * 1_000_000).encode(), READ),
    "surrogates.txt": _of(lambda: "lone \ud800 half\n".encode("utf-8", "surrogatepass") * 100, READ,
                          "ERR_TEXT_ENCODING"),
    "wide.txt": _of(lambda: ("Some words in a row. " * 100_000).encode("utf-16-le"), READ),
    "half.txt": _of(lambda: b"\xff\xfe" + b"\x00\xd8" * 100_000, "ERR_TEXT_ENCODING"),
    "noise.txt": _of(lambda: b"\xe9" * 5_000_000, READ, "ERR_TEXT_ENCODING"),
}  # fmt: skip

"""PDF files written by hand, so that every part of them can be wrong on purpose."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

HEADER = b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"


def pdf_of(objects: Mapping[int, bytes], *, root: int = 1, trailer: bytes = b"", table: bool = True) -> bytes:
    """A file of numbered objects with a true table of where they lie."""
    out = bytearray(HEADER)
    places: dict[int, int] = {}
    for number, body in objects.items():
        places[number] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    size = max(objects) + 1
    if table:
        out += b"xref\n0 %d\n0000000000 65535 f \n" % size
        for number in range(1, size):
            at = places.get(number)
            out += b"%010d 00000 n \n" % at if at is not None else b"0000000000 65535 f \n"
    out += b"trailer\n<< /Size %d /Root %d 0 R %s >>\nstartxref\n%d\n%%%%EOF\n" % (size, root, trailer, start)
    return bytes(out)


def stream(data: bytes, extra: bytes = b"", *, packed: bool = False) -> bytes:
    """A stream object."""
    if packed:
        data, extra = zlib.compress(data, 3), extra + b" /Filter /FlateDecode"
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), extra, data)


def page_content(lines: Sequence[str]) -> bytes:
    """What draws lines of text on a page."""
    shown = b"".join(b"(%s) Tj T* " % line.encode("latin-1", "replace").translate(_ESCAPES) for line in lines)
    return b"BT /F1 12 Tf 14 TL 50 750 Td " + shown + b"ET"


_ESCAPES = bytes.maketrans(b"()\\", b"[]/")
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"


def simple_pdf(
    pages: Sequence[Sequence[str]], *, bookmarks: Sequence[tuple[str | bytes, int]] = (), title: bytes = b""
) -> bytes:
    """A sound file with these lines on these pages; a bookmark is a title and a page index.

    Titles of bytes are written as they are, in the file's own notation.
    """
    objects: dict[int, bytes] = {1: CATALOG, 3: FONT}
    number = 4
    kids: list[int] = []
    for lines in pages:
        objects[number] = stream(page_content(lines))
        objects[number + 1] = _page(number)
        kids.append(number + 1)
        number += 2
    objects[2] = _pages(kids)
    trailer = b""
    if bookmarks:
        objects[1] = b"<< /Type /Catalog /Pages 2 0 R /Outlines %d 0 R >>" % number
        for offset, (words, index) in enumerate(bookmarks):
            own = number + 1 + offset
            following = b"/Next %d 0 R" % (own + 1) if offset + 1 < len(bookmarks) else b""
            objects[own] = b"<< /Title %s /Parent %d 0 R /Dest [%d 0 R /Fit] %s >>" % (
                words if isinstance(words, bytes) else b"(%s)" % words.encode("latin-1"),
                number,
                kids[index],
                following,
            )
        objects[number] = b"<< /Type /Outlines /First %d 0 R /Last %d 0 R /Count %d >>" % (
            number + 1,
            number + len(bookmarks),
            len(bookmarks),
        )
    if title:
        about = max(objects) + 1
        objects[about] = b"<< /Title %s >>" % title
        trailer = b"/Info %d 0 R" % about
    return pdf_of(dict(sorted(objects.items())), trailer=trailer)


def shared_pages(count: int, lines: Sequence[str] = ("The same page again.",)) -> bytes:
    """A tiny file whose page tree names one page very often."""
    objects = {
        1: CATALOG,
        2: _pages([5] * count),
        3: FONT,
        4: stream(page_content(lines)),
        5: _page(4),
    }
    return pdf_of(objects)


def looping_tree() -> bytes:
    """A page tree that contains itself."""
    return pdf_of({1: CATALOG, 2: b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 4 >>", 3: FONT})


def deep_tree(depth: int) -> bytes:
    """A page tree as deep as its only page is lonely."""
    objects = {1: CATALOG, 3: FONT, 4: stream(page_content(["At the bottom."]))}
    number = 2
    for level in range(depth):
        following = 10 + level
        objects[number] = b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % following
        number = following
    objects[number] = _page(4)
    return pdf_of(dict(sorted(objects.items())))


def looping_table() -> bytes:
    """A table whose previous one is itself."""
    whole = simple_pdf([["Round and round."]])
    start = whole.rindex(b"xref\n0 ")
    return whole.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev %d" % start)


def with_unreadable_page(pages: int = 3, *, bad: int = 1) -> bytes:
    """A sound file but for one page, which is not there."""
    whole = simple_pdf([[f"Page {index + 1}."] for index in range(pages)])
    number = 5 + 2 * bad
    # Its place in the tree now names an object that does not exist.
    return whole.replace(b" %d 0 R" % number, b" %d 0 R" % (number + 90))


def encrypted_pdf() -> bytes:
    """A file that asks for a password nobody gives."""
    whole = simple_pdf([["Secret."]])
    lock = (
        b"/Encrypt << /Filter /Standard /V 1 /R 2 /O <" + b"41" * 32 + b"> /U <" + b"42" * 32 + b"> /P -4 >> "
        b"/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>]"
    )
    return whole.replace(b"/Root 1 0 R", b"/Root 1 0 R " + lock)


def content_bomb(unpacked: int) -> bytes:
    """A page whose drawing unpacks to far more than the file."""
    return pdf_of(
        {1: CATALOG, 2: _pages([5]), 3: FONT, 4: stream(b"q Q " * (unpacked // 4), packed=True), 5: _page(4)}
    )


def _page(content: int) -> bytes:
    return (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
        b"/Resources << /Font << /F1 3 0 R >> >> >>" % content
    )


def _pages(kids: Sequence[int]) -> bytes:
    return b"<< /Type /Pages /Kids [%s] /Count %d >>" % (
        b" ".join(b"%d 0 R" % kid for kid in kids),
        len(kids),
    )

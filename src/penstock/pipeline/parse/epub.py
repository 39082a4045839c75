"""Books: the chapters in reading order, a page for each."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO
from urllib.parse import unquote

from penstock.model.errors import Refused
from penstock.pipeline.parse.archives import Archive
from penstock.pipeline.parse.damage import Damaged, Sparing
from penstock.pipeline.parse.decoding import decode
from penstock.pipeline.parse.html import charset_in, write_html
from penstock.pipeline.parse.manuscript import Manuscript
from penstock.pipeline.parse.markup import Attributes, Parts, each_element, resolved, title_in

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_DECLARATION = re.compile(r"\A\s*<\?xml\b[^>]*\?>")
_CHAPTERS = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})


def write_epub(file: BinaryIO, manuscript: Manuscript, sparing: Sparing) -> None:
    """Write chapter after chapter."""
    with Archive(file, manuscript.limits) as archive:
        parts = _Readable(archive)
        package = _package(parts)
        chapters = _chapters(parts, package)
        locked = _locked(parts)
        if any(chapter.lower() in locked for chapter in chapters):
            raise Refused("The book is protected against copying.", code="ERR_ENCRYPTED")
        manuscript.title = title_in(parts, package) or ""  # a chapter's own title is not the book's
        for number, chapter in enumerate(chapters, start=1):
            manuscript.begin_page()
            with sparing.part(f"Chapter {number}"):
                if chapter not in archive:
                    raise Damaged(f"chapter {number} is missing")
                write_html(_page(archive.read(chapter), number, manuscript), manuscript)
        if not chapters:
            raise Damaged("it has no chapters")


def _page(data: bytes, number: int, manuscript: Manuscript) -> str:
    """A chapter's characters, in the encoding it names unless its bytes say otherwise."""
    decoded = decode(data, claim=charset_in(data), lenient=True)
    if decoded.note:
        manuscript.note(f"Chapter {number}: {decoded.note}")
    return decoded.text


class _Readable:
    """A book's parts in UTF-8, whatever encoding they name or are in: the reader of XML knows few."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive

    def __contains__(self, name: str) -> bool:
        return name in self._archive

    @contextmanager
    def open(self, name: str) -> Iterator[BinaryIO]:
        """A part; what it says of its encoding is true no more and is left out."""
        data = self._archive.read(name)
        text = decode(data, claim=charset_in(data), lenient=True).text
        yield io.BytesIO(_DECLARATION.sub("", text, count=1).encode())


def _package(archive: Parts) -> str:
    found: list[str] = []

    def take(name: str, attributes: Attributes) -> None:
        if name == "con:rootfile" and attributes.get("full-path"):
            found.append(attributes["full-path"])

    each_element(archive, _CONTAINER, take)
    if not found:
        raise Damaged("it does not say where its contents are")
    return found[0]


def _chapters(archive: Parts, package: str) -> list[str]:
    folder = package.rpartition("/")[0]
    items: dict[str, tuple[str, str]] = {}
    order: list[str] = []

    def take(name: str, attributes: Attributes) -> None:
        if name == "opf:item":
            place = resolved(folder, unquote(attributes.get("href", "").partition("#")[0]))
            items[attributes.get("id", "")] = (attributes.get("media-type", ""), place)
        elif name == "opf:itemref":
            order.append(attributes.get("idref", ""))

    each_element(archive, package, take)
    chapters = []
    for name in order:
        kind, place = items.get(name, ("", ""))
        if kind in _CHAPTERS or not place:
            chapters.append(place)
    return chapters


def _locked(archive: Parts) -> frozenset[str]:
    """Parts that are encrypted; fonts often are, which harms nobody."""
    found: set[str] = set()

    def take(name: str, attributes: Attributes) -> None:
        if name == "enc:CipherReference":
            found.add(unquote(attributes.get("URI", "")).lstrip("/").lower())

    if _ENCRYPTION in archive:
        each_element(archive, _ENCRYPTION, take)
    return frozenset(found)

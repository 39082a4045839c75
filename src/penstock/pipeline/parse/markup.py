"""XML of Office files and books, read as a stream of events.

No tree is built, so memory does not grow with the part. Entities are not a feature any of these formats has
use for: a part that declares one is refused, which ends both the reading of foreign files and endless growth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import BinaryIO, Protocol
from xml.parsers import expat

from penstock.pipeline.parse.archives import Archive
from penstock.pipeline.parse.damage import Damaged

NAMES_KEPT_MAX = 4096
PREFIXES: Mapping[str, str] = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    "http://schemas.openxmlformats.org/drawingml/2006/main": "a",
    "http://purl.oclc.org/ooxml/drawingml/main": "a",
    "http://schemas.openxmlformats.org/presentationml/2006/main": "p",
    "http://purl.oclc.org/ooxml/presentationml/main": "p",
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main": "x",
    "http://purl.oclc.org/ooxml/spreadsheetml/main": "x",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships": "r",
    "http://purl.oclc.org/ooxml/officeDocument/relationships": "r",
    "http://schemas.openxmlformats.org/package/2006/relationships": "rel",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://www.idpf.org/2007/opf": "opf",
    "urn:oasis:names:tc:opendocument:xmlns:container": "con",
    "http://www.w3.org/2001/04/xmlenc#": "enc",
}
"""What names are shortened to, whichever edition of a standard they come from."""

Attributes = Mapping[str, str]


class Handler:
    """What is done with each event; names come as `w:p`, those of unknown families as `?:name`."""

    def start(self, name: str, attributes: Attributes) -> None:
        """An element begins."""

    def end(self, name: str) -> None:
        """An element ends."""

    def text(self, text: str) -> None:
        """Characters between."""


class _Names(dict[str, str]):
    """Names as expat gives them, shortened; each is worked out once."""

    def __missing__(self, name: str) -> str:
        family, _, local = name.rpartition(" ")
        short = f"{PREFIXES.get(family, '?')}:{local}" if family else local
        if len(self) < NAMES_KEPT_MAX:
            self[name] = short
        return short


def follow(stream: BinaryIO, handler: Handler) -> None:
    """Read a part from start to end; Damaged if it is no XML.

    A spreadsheet has millions of events, so what happens at each of them is kept short.
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.buffer_size = 1 << 16
    names = _Names()
    take_start, take_end = handler.start, handler.end

    def start(name: str, attributes: dict[str, str]) -> None:
        take_start(
            names[name], {names[key]: value for key, value in attributes.items()} if attributes else {}
        )

    def end(name: str) -> None:
        take_end(names[name])

    def entity(*_: object) -> None:
        raise Damaged("it declares entities of its own")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = entity
    try:
        parser.ParseFile(stream)
    except expat.ExpatError as error:
        raise Damaged(f"its XML is broken ({error})") from error
    except (LookupError, ValueError) as error:
        if names:
            raise  # a handler's own mistake
        # Before the first element it is how an encoding that cannot be had is told.
        raise Damaged(f"its XML is in an encoding that cannot be read ({error})"[:300]) from error


class _Elements(Handler):
    def __init__(self, take: Callable[[str, Attributes], None]) -> None:
        self._take = take

    def start(self, name: str, attributes: Attributes) -> None:
        self._take(name, attributes)


class Parts(Protocol):
    """Where parts of XML are read from."""

    def __contains__(self, name: str) -> bool: ...
    def open(self, name: str) -> AbstractContextManager[BinaryIO]:
        """A part as a stream; Damaged if it is missing."""
        ...


def each_element(archive: Parts, part: str, take: Callable[[str, Attributes], None]) -> None:
    """Show every element of a part with its attributes."""
    with archive.open(part) as stream:
        follow(stream, _Elements(take))


class _Title(Handler):
    def __init__(self) -> None:
        self.words: list[str] = []
        self._inside = False

    def start(self, name: str, attributes: Attributes) -> None:
        self._inside = name == "dc:title" and not self.words

    def end(self, name: str) -> None:
        self._inside = False

    def text(self, text: str) -> None:
        if self._inside:
            self.words.append(text)


def title_in(archive: Parts, part: str) -> str | None:
    """The title a file gives itself; a part about it that is missing or broken gives none."""
    if part not in archive:
        return None
    found = _Title()
    try:
        with archive.open(part) as stream:
            follow(stream, found)
    except Damaged:
        return None
    return "".join(found.words).strip() or None


def relations(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """The parts a part names: by id, the kind of relation and the other part's place."""
    folder, _, name = part.rpartition("/")
    listed = f"{folder}/_rels/{name}.rels".lstrip("/")
    found: dict[str, tuple[str, str]] = {}

    def take(element: str, attributes: Attributes) -> None:
        if element == "rel:Relationship" and attributes.get("TargetMode") != "External":
            kind = attributes.get("Type", "").rpartition("/")[2]
            found[attributes.get("Id", "")] = (kind, resolved(folder, attributes.get("Target", "")))

    if listed in archive:
        each_element(archive, listed, take)
    return found


def resolved(folder: str, target: str) -> str:
    """Where a target lies, seen from a folder of the archive."""
    if target.startswith("/"):
        return target.lstrip("/")
    steps: list[str] = folder.split("/") if folder else []
    for step in target.split("/"):
        if step == "..":
            steps = steps[:-1]
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)


def main_part(archive: Archive, usual: str) -> str:
    """The part a document starts with: the one the package names, else where it usually lies."""
    for kind, place in relations(archive, "").values():
        if kind == "officeDocument" and place in archive:
            return place
    if usual in archive:
        return usual
    raise Damaged(f"its part {usual!r} is missing")

"""A plain file name for a document from the web, from what the server and the address say."""

from __future__ import annotations

import unicodedata
from email.message import Message
from urllib.parse import unquote

NAME_BYTES_MAX = 150
_UNNAMED = "document"
_ENDINGS = {
    "application/epub+zip": ".epub",
    "application/json": ".json",
    "application/pdf": ".pdf",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": ".pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": ".docx",
    "application/xhtml+xml": ".html",
    "text/csv": ".csv",
    "text/html": ".html",
    "text/markdown": ".md",
    "text/plain": ".txt",
}


def name_of(path: str, disposition: str | None, media: str | None) -> str:
    """The server's name for it, else the last part of the path; with an ending, where its type tells one."""
    name = plain(_from_disposition(disposition)) or plain(unquote(path).rstrip("/")) or _UNNAMED
    if "." not in name:
        name += _ENDINGS.get((media or "").partition(";")[0].strip().lower(), "")
    return name


def plain(text: str) -> str:
    """The last part of what may be a path, of printable characters, short, and never hidden."""
    last = text.replace("\\", "/").rpartition("/")[2]
    printable = "".join(
        letter for letter in last if unicodedata.category(letter)[0] not in "CZ" or letter == " "
    )
    name = printable.strip(" .")
    if len(name.encode()) <= NAME_BYTES_MAX:
        return name
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending.encode()) > 20:
        stem, dot, ending = name, "", ""
    room = NAME_BYTES_MAX - len((dot + ending).encode())
    return stem.encode()[:room].decode(errors="ignore") + dot + ending


def _from_disposition(value: str | None) -> str:
    if not value:
        return ""
    header = Message()
    header["Content-Disposition"] = value
    try:
        return header.get_filename("") or ""
    except (
        LookupError,
        TypeError,
        ValueError,
    ):  # a character set nobody knows, parts nobody can put in order
        return ""

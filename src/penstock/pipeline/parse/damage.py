"""A file that is what it claims but cannot be read: each format has its own word for it."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.model.errors import Refused
from penstock.model.parsed import Media

INVALID: Mapping[Media, str] = {
    Media.PDF: "ERR_PDF_INVALID",
    Media.DOCX: "ERR_DOCX_INVALID",
    Media.PPTX: "ERR_PPTX_INVALID",
    Media.XLSX: "ERR_XLSX_INVALID",
    Media.EPUB: "ERR_EPUB_INVALID",
    Media.JSON: "ERR_JSON_INVALID",
    Media.HTML: "ERR_HTML_INVALID",
    Media.TEXT: "ERR_TEXT_ENCODING",
    Media.MARKDOWN: "ERR_TEXT_ENCODING",
    Media.CSV: "ERR_TEXT_ENCODING",
    Media.CODE: "ERR_TEXT_ENCODING",
}


class Damaged(Exception):
    """Says what is broken; whoever knows the format gives it its code."""


def refusal(media: Media, error: Damaged) -> Refused:
    """The damage in the words of the format."""
    return Refused(f"The file cannot be read as {media.value}: {error}", code=INVALID[media])

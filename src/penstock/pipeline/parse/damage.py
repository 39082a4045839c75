"""A file that is what it claims but cannot be read: each format has its own word for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

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


class Sparing:
    """What becomes of a part that cannot be read.

    Of a file that is to be taken as far as it goes it is left out and told; of any other it is the damage of
    the whole.
    """

    def __init__(self, note: Callable[[str], None], *, lenient: bool) -> None:
        self.damage: Damaged | None = None
        """What was met first."""
        self._note = note
        self._lenient = lenient

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Around the reading of one part; what was read of it before the damage stays."""
        try:
            yield
        except Damaged as error:
            if not self._lenient:
                raise
            self.damage = self.damage or error
            self._note(f"{name} could not be read to its end: {error}.")


def refusal(media: Media, error: Damaged) -> Refused:
    """The damage in the words of the format."""
    return Refused(f"The file cannot be read as {media.value}: {error}", code=INVALID[media])

"""Plain text: taken as it is; form feeds part its pages."""

from __future__ import annotations

from penstock.pipeline.parse.cleaning import clean
from penstock.pipeline.parse.manuscript import Manuscript


def write_plain(text: str, manuscript: Manuscript) -> None:
    """Write a plain text; one with form feeds, as old reports and RFCs have, has pages."""
    pages = text.split("\f")
    if len(pages) == 1:
        manuscript.write(clean(text).strip("\n"))
        return
    while pages and not pages[-1].strip():  # the last page ends with a form feed as well
        pages.pop()
    for page in pages:
        manuscript.begin_page()
        manuscript.block(page)

"""Tables in text: kept as written, with a cut where each record starts."""

from __future__ import annotations

from penstock.pipeline.parse.cleaning import clean
from penstock.pipeline.parse.manuscript import Manuscript

RECORD_LINES_MAX = 200
"""A quote that stays open longer was no quote: the file does not use them that way."""


def write_csv(text: str, manuscript: Manuscript) -> None:
    """Write a table and mark its records."""
    text = clean(text, tails=True).strip("\n")
    starts = _records(text, quotes=True) or _records(text, quotes=False) or []
    for start in starts:
        manuscript.cut(start)
    manuscript.write(text)


def _records(text: str, *, quotes: bool) -> list[int] | None:
    """Where records start; None if quotes do not close, so that lines are the better guess."""
    starts: list[int] = []
    is_open = False
    at = lines = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if not is_open:
            starts.append(at)
            lines = 0
        if quotes and text.count('"', at, end) % 2:
            is_open = not is_open
        lines += 1
        if is_open and lines > RECORD_LINES_MAX:
            return None
        at = end + 1
    return None if is_open else starts

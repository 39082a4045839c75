"""Where a text may be cut: the best joint in a stretch, and the nearest place that parts no character.

Every search looks at one stretch of bounded length once, so splitting stays linear whatever the text holds.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence

from penstock.model.parsed import Media

BY_LINES = frozenset({Media.CODE, Media.CSV, Media.JSON, Media.XLSX})
"""Formats whose lines mean more than their sentences."""

CLUSTER_MAX = 64
"""Characters looked at for the start of a character made of several; a longer one is cut."""

# Latin marks need white space behind them, the full-width ones of East Asia do not.
_SENTENCE_END = re.compile(
    r"[.!?\u2026][\"'\u201d\u2019)\]]{0,3}\s+|[\u3002\uff01\uff1f][\u300d\u300f\uff09]{0,3}"
)
_SPACE = re.compile(r"\s*")
_JOINER = "\u200d"


def best_joint(text: str, low: int, high: int, cuts: Sequence[int], media: Media) -> int | None:
    """The last joint in `low < joint <= high` of the best kind that lies there; None without any."""
    if (cut := last_cut(cuts, low, high)) is not None:
        return cut
    kinds = (_paragraph, _line) if media in BY_LINES else (_paragraph, _sentence, _line)
    for kind in kinds:
        if (found := kind(text, low, high)) is not None:
            return found
    return None


def last_cut(cuts: Sequence[int], low: int, high: int) -> int | None:
    """The last of some ascending places in `low < place <= high`."""
    place = bisect_right(cuts, high) - 1
    return cuts[place] if place >= 0 and cuts[place] > low else None


def first_sentence(text: str, low: int, high: int) -> int | None:
    """The first start of a sentence or line in `low <= start < high`."""
    starts = [found.end() for found in _SENTENCE_END.finditer(text, low, high) if _is_end(text, found.end())]
    line = text.find("\n", low, high)
    starts = [start for start in starts if start < high] + ([line + 1] if 0 <= line < high - 1 else [])
    return min(starts, default=None)


def after_space(text: str, start: int) -> int:
    """The first place from `start` on that is not white space."""
    found = _SPACE.match(text, start)
    return found.end() if found else start


def before_space(text: str, start: int, end: int) -> int:
    """The end of what is not white space in a stretch."""
    while end > start and text[end - 1].isspace():
        end -= 1
    return end


def whole_character(text: str, low: int, place: int) -> int:
    """The nearest place at or before `place`, after `low`, that parts no character a reader sees as one."""
    least = max(low + 1, place - CLUSTER_MAX)
    for candidate in range(place, least - 1, -1):
        if not _parts(text, candidate):
            return candidate
    return place


def _parts(text: str, place: int) -> bool:
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if after < "\u0300":
        return before == "\r" and after == "\n"
    return (
        after == _JOINER
        or before == _JOINER
        or unicodedata.category(after) in ("Mn", "Mc", "Me")
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or (_is_flag(before) and _is_flag(after) and _flags_before(text, place) % 2 == 1)
    )


def _is_flag(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _flags_before(text: str, place: int) -> int:
    """How many letters of flags stand directly before a place; they go in pairs."""
    first = place
    while first > max(0, place - CLUSTER_MAX) and _is_flag(text[first - 1]):
        first -= 1
    return place - first


def _paragraph(text: str, low: int, high: int) -> int | None:
    found = text.rfind("\n\n", low, high)
    return found + 2 if found >= 0 else None


def _line(text: str, low: int, high: int) -> int | None:
    found = text.rfind("\n", low, high)
    return found + 1 if found >= 0 else None


def _sentence(text: str, low: int, high: int) -> int | None:
    last = None
    for found in _SENTENCE_END.finditer(text, low, high):
        if _is_end(text, found.end()):
            last = found.end()
    return last


def _is_end(text: str, start: int) -> bool:
    """A sentence does not go on in small letters: "e.g. this" is one."""
    return not text[start : start + 1].islower()

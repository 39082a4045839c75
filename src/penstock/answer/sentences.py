"""Where sentences lie in a text: spans, so that what is quoted of it is exactly what it says.

A sentence ends at a full stop, question or exclamation mark before white space (with the quotes and brackets
that close behind it), at an empty line, before an item of a list, or where it would grow beyond
SENTENCE_CHARACTERS_MAX. A line that merely ends is no end: text is often wrapped. A heading's line and a row
of a table are sentences of their own, whatever stops stand in them. A few abbreviations are known; a cut too
many costs little, because spans are scored and quoted side by side.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SENTENCE_CHARACTERS_MAX = 600

_MARKS = ".!?\u2026"
_CLOSING = "\"'\u201d\u2019\u00bb)\\]"
_WIDE_MARKS = "\u3002\uff01\uff1f"
_WIDE_CLOSING = "\u300d\u300f\u201d"
_END = re.compile(
    # A run of marks is looked at once, from its start: dots without end cost no more than their number.
    rf"(?<![{_MARKS}])[{_MARKS}]+[{_CLOSING}]*(?=\s)"
    rf"|[{_WIDE_MARKS}]+[{_WIDE_CLOSING}]*"
    r"|\n[ \t\r]*\n"
    r"|\n(?=[ \t]*(?:[-*\u2022]|#{1,6}|\d{1,4}[.)])[ \t])"
    r"|(?P<line>^(?:#{1,6}[ \t]|[ \t]*\|)[^\n]*)",
    re.MULTILINE,
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|al|fig|figs|eq|eqs|vol|pp?|dr|mr|mrs|ms|prof|inc|ltd|approx|[A-Z])"
    r"|\b\w\.\w)\.$",
    re.IGNORECASE,
)


def sentence_spans(text: str) -> Iterator[tuple[int, int]]:
    """The sentences in order, as (start, end) without the white space around them; never an empty one."""
    start = 0
    for found in _END.finditer(text):
        if found[0] == "." and _is_abbreviated(text, start, found.end()):
            continue
        if found["line"] is not None:
            yield from _bounded(text, start, found.start())
            start = found.start()
        yield from _bounded(text, start, found.end())
        start = found.end()
    yield from _bounded(text, start, len(text))


def _is_abbreviated(text: str, start: int, end: int) -> bool:
    tail = text[max(start, end - 12) : end]
    # A number alone is that of a list's item.
    return _ABBREVIATION.search(tail) is not None or text[start : end - 1].strip().isdecimal()


def _bounded(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    start, end = trimmed(text, start, end)
    while end - start > SENTENCE_CHARACTERS_MAX:
        cut = text.rfind(" ", start + SENTENCE_CHARACTERS_MAX // 2, start + SENTENCE_CHARACTERS_MAX)
        cut = cut if cut > 0 else start + SENTENCE_CHARACTERS_MAX
        yield trimmed(text, start, cut)
        start, end = trimmed(text, cut, end)
    if start < end:
        yield start, end


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The same span without white space at its ends."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end

"""Clean text: whatever a file holds, what is stored can be shown, searched, stored again and quoted exactly.

Cleaning happens before any offset is taken, so offsets are true of the stored text. It is linear: the one
step that is not by nature, ordering endless runs of combining marks, is cut short first.
"""

from __future__ import annotations

import re
import unicodedata

MARKS_MAX = 32
"""Combining marks kept on one letter; no script needs more, and ordering a million takes for ever."""
BLANKS_MAX = 80
REPLACEMENT = "\ufffd"

_LINE_ENDS = ("\r\n", "\r", "\x0b", "\x0c", "\x85", "\u2028", "\u2029")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f"  # control characters but tab and the ends of lines
    "\xad\u200b\u2060-\u2064\ufeff"  # hyphens and joints that are not seen
    "\u202a-\u202e\u2066-\u2069"  # marks that turn the direction and hide what is quoted
    "\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e007f]"  # no characters at all, and tags nobody sees
)
_SURROGATES = re.compile("[\ud800-\udfff]")
_LIGATURES = re.compile("[\ufb00-\ufb06]")
_LONG_BLANKS = re.compile(rf"[^\S\n]{{{BLANKS_MAX + 1},}}")
_EMPTY_LINES = re.compile(r"\n{4,}")
_MARK_RUNS = re.compile(rf"[^\w\s\x00-\u02ff]{{{MARKS_MAX + 1},}}")


def clean(text: str, *, tails: bool = False) -> str:
    """Valid, composed (NFC) text with \\n line ends, no control characters and no endless blanks.

    Blanks at the ends of lines go, unless `tails` says that they carry meaning.
    """
    if len(text) <= BLANKS_MAX and text.isascii() and text.isprintable():
        return text if tails else text.rstrip()  # a cell, a title: there is nothing to do
    for end in _LINE_ENDS:
        text = text.replace(end, "\n")
    text = _INVISIBLE.sub("", text)
    if not text.isascii():
        text = _composed(text)
    if not tails:
        text = _without_tails(text)
    text = _LONG_BLANKS.sub(" " * BLANKS_MAX, text)
    return _EMPTY_LINES.sub("\n\n\n", text) if "\n\n\n\n" in text else text


def one_line(text: str) -> str:
    """The same words on one line."""
    return " ".join(text.split())


def _composed(text: str) -> str:
    # After the invisible ones went: composing across one of them would leave text that is not composed.
    text = _SURROGATES.sub(REPLACEMENT, text)
    text = _LIGATURES.sub(lambda found: unicodedata.normalize("NFKC", found[0]), text)
    return unicodedata.normalize("NFC", _MARK_RUNS.sub(_fewer_marks, text))


def _fewer_marks(found: re.Match[str]) -> str:
    kept: list[str] = []
    marks = 0
    for character in found[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MARKS_MAX:
            kept.append(character)
    return "".join(kept)


def _without_tails(text: str) -> str:
    # The pattern alone would look at a run of blanks once for each of them.
    return "\n".join(line.rstrip() for line in text.split("\n"))

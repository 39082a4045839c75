"""JSON that was stored as an object and may have been changed by other hands since.

Nobody is to die of one row, and nothing is to be lost over it: what is no object any more is read as an
object that holds the whole text. So it is shown, and whatever is said of the thing later is added to it.
"""

from __future__ import annotations

import json

UNREADABLE = "unreadable"
"""Under this name stands a text that is no JSON object."""


def stored_object(text: str) -> dict[str, object]:
    """The object; of a text that is none, one that holds the text."""
    try:
        found = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {UNREADABLE: text}


def stored_words(text: str) -> tuple[str, ...] | None:
    """A list of words; None where the text is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tuple(found) if isinstance(found, list) and all(isinstance(each, str) for each in found) else None


def _refuse(word: str) -> object:
    raise ValueError(f"{word} is no number in JSON")

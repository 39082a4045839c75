"""JSON from programs we did not write, read so that every other reader would read the same.

Python's reader is generous: it takes the last of two equal keys, NaN, numbers without end and half of a
surrogate pair. Any of them would be stored, shown or compared differently by the next program, so they are
refused here, once, before anything is believed.
"""

from __future__ import annotations

import json
import math
from collections import Counter

from penstock.model.errors import Refused
from penstock.model.jobs import COUNT_LIMIT

DEPTH_MAX = 32
"""Levels of lists and objects within each other; no message we know of needs more than three."""
SHOWN_MAX = 80


def object_of(data: bytes, *, bytes_max: int) -> dict[str, object]:
    """The one object these bytes hold; Refused with what is wrong with them."""
    if len(data) > bytes_max:
        raise Refused(
            f"the message has {len(data):,} bytes, the limit is {bytes_max:,}", code="ERR_PAYLOAD_TOO_LARGE"
        )
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise _invalid(f"the message is not UTF-8 at byte {error.start}") from None
    try:
        found = json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise _invalid(f"the message is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise _invalid(f"the message is not a JSON object but {_kind(found)}")
    for name, value in found.items():
        _check(name, value)
    return found


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    made = dict(pairs)
    if len(made) != len(pairs):
        twice = Counter(name for name, _ in pairs).most_common(1)[0][0]
        raise _invalid(f"{_shown(twice)} stands in the message twice")
    return made


def _constant(word: str) -> object:
    raise _invalid(f"{word} is no number in JSON")


def _check(field: str, value: object) -> None:
    """Refuse what cannot be stored and read again as it is, naming the field it is under."""
    _check_text(field, field)
    waiting = [(value, 1)]
    while waiting:
        each, depth = waiting.pop()
        if isinstance(each, str):
            _check_text(field, each)
        elif isinstance(each, float):
            if not math.isfinite(each):
                raise _invalid(f"{_shown(field)} holds a number too large to be read")
        elif isinstance(each, int):
            if abs(each) > COUNT_LIMIT:
                raise _invalid(f"{_shown(field)} holds a whole number beyond 64 bits")
        elif isinstance(each, dict | list):
            if depth > DEPTH_MAX:
                raise _too_deep()
            inner = each.values() if isinstance(each, dict) else each
            waiting += [(one, depth + 1) for one in inner]
            if isinstance(each, dict):
                for name in each:
                    _check_text(field, name)


def _check_text(field: str, text: str) -> None:
    if "\0" in text:
        raise _invalid(f"{_shown(field)} holds a NUL character")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise _invalid(f"{_shown(field)} holds half of a surrogate pair") from None


def _shown(name: str) -> str:
    return repr(name[:SHOWN_MAX])


def _kind(value: object) -> str:
    if value is None or isinstance(value, bool):
        return "true, false or null"
    return {str: "a text", int: "a number", float: "a number"}.get(type(value), "a list")


def _too_deep() -> Refused:
    return _invalid(f"the message is nested more than {DEPTH_MAX} levels deep")


def _invalid(message: str) -> Refused:
    return Refused(message, code="ERR_MESSAGE_INVALID")

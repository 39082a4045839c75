"""Globs as git reads them, turned into regular expressions that never take long.

A pattern comes from whoever writes an ignore file or a request, so its cost must be bounded: after each star
the first place that fits is kept for good (an atomic group). That is right for globs, because the next star
can reach everything a later place could, and it makes matching linear where backtracking would explode.

Bytes are matched, not characters, as git does: `?` is one byte of a name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_WITHIN = rb"[^/]"
_POSIX = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"\x21-\x7e",
    b"lower": rb"a-z",
    b"print": rb"\x20-\x7e",
    b"punct": rb"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    b"space": rb" \t\n\r\f\v",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


class NeverMatches(Exception):
    """The pattern is malformed: git lets it match nothing."""


@dataclass(slots=True)
class _Run:
    """What stands between two `**/`: pieces of plain matching, a single star between each two."""

    pieces: list[bytes]
    skip: bytes = b""
    """The folders that may lie before it."""


def translate(pattern: bytes) -> bytes:
    """A regular expression (for `fullmatch`) of a glob over a path, `*` staying within one folder.

    Raises NeverMatches where git would match nothing.
    """
    runs, everything_below = _parse(pattern)
    expression = b""
    for number, run in enumerate(runs):
        last = number == len(runs) - 1
        body = _run_expression(run, anchored=last and not everything_below)
        if number == 0 or last:
            expression += run.skip + body
        else:
            expression += rb"(?>" + run.skip + body + rb")"
    return expression + (rb"(?s:.*)" if everything_below else b"")


def _run_expression(run: _Run, *, anchored: bool) -> bytes:
    first, *others = run.pieces
    expression = first
    for number, piece in enumerate(others):
        if anchored and number == len(others) - 1:
            # Only the end decides where the last piece lies.
            expression += _WITHIN + b"*" + piece
        else:
            expression += rb"(?>" + _WITHIN + rb"*?" + piece + rb")"
    return expression + (rb"\Z" if anchored else b"")


def _parse(pattern: bytes) -> tuple[list[_Run], bool]:
    """The runs, and whether the pattern ends in `**` that takes everything below."""
    runs = [_Run([b""])]
    # Git compares the plain beginning first and reads the rest as a pattern of its own.
    start = _plain_length(pattern)
    runs[0].pieces[0] += re.escape(pattern[:start])
    at = start
    while at < len(pattern):
        letter = pattern[at : at + 1]
        if letter == b"*":
            end = _stars_end(pattern, at)
            after = _slash_after(pattern, end)
            bound = at == start or pattern[at - 1 : at] == b"/"
            if end - at > 1 and bound and (after or end == len(pattern)):
                if end == len(pattern):
                    return runs, True
                # Git lets `**` stand for no folder at all before a plain slash, not before an escaped one.
                runs.append(_Run([b""], rb"(?:[^/]*/)*?" if after == 1 else rb"(?:[^/]*/)+?"))
                at = end + after
            else:
                runs[-1].pieces.append(b"")
                at = end
            continue
        expression, at = _one(pattern, at)
        runs[-1].pieces[-1] += expression
    return runs, False


def _one(pattern: bytes, at: int) -> tuple[bytes, int]:
    """One element that is no star, and where the next begins."""
    letter = pattern[at : at + 1]
    if letter == b"?":
        return _WITHIN, at + 1
    if letter == b"[":
        return _class(pattern, at + 1)
    if letter == b"\\":
        if at + 1 == len(pattern):
            raise NeverMatches
        return re.escape(pattern[at + 1 : at + 2]), at + 2
    return re.escape(letter), at + 1


def _class(pattern: bytes, at: int) -> tuple[bytes, int]:
    """A bracket expression, from behind its bracket."""
    negated = pattern[at : at + 1] in (b"!", b"^")
    at += negated
    parts: list[bytes] = []
    first, previous = True, -1
    while True:
        letter = pattern[at : at + 1]
        if not letter:
            raise NeverMatches
        if letter == b"]" and not first:
            break
        first = False
        if letter == b"[" and pattern[at + 1 : at + 2] == b":":
            end = pattern.find(b"]", at + 2)
            if end < 0:
                raise NeverMatches
            if pattern[end - 1 : end] == b":" and end - 1 >= at + 2:
                parts.append(_posix(pattern[at + 2 : end - 1]))
                at, previous = end + 1, -1
                continue
        elif letter == b"-" and previous >= 0 and pattern[at + 1 : at + 2] not in (b"", b"]"):
            high, at = _class_letter(pattern, at + 1)
            parts.append(_range(previous, high))
            previous = -1
            continue
        low, at = _class_letter(pattern, at)
        parts.append(_range(low, low))
        previous = low
    members = b"".join(parts)
    if negated:
        return rb"[^/" + members + rb"]", at + 1
    return (rb"(?!/)[" + members + rb"]" if members else rb"(?!)"), at + 1


def _class_letter(pattern: bytes, at: int) -> tuple[int, int]:
    if pattern[at : at + 1] == b"\\":
        at += 1
        if at == len(pattern):
            raise NeverMatches
    return pattern[at], at + 1


def _posix(name: bytes) -> bytes:
    if name not in _POSIX:
        raise NeverMatches
    return _POSIX[name]


def _range(low: int, high: int) -> bytes:
    return b"\\x%02x-\\x%02x" % (low, high) if low <= high else b""


def _plain_length(pattern: bytes) -> int:
    return next((at for at, letter in enumerate(pattern) if letter in b"*?[\\"), len(pattern))


def _stars_end(pattern: bytes, at: int) -> int:
    while pattern[at : at + 1] == b"*":
        at += 1
    return at


def _slash_after(pattern: bytes, at: int) -> int:
    """How long the slash is that follows, plain or escaped; 0 if there is none."""
    if pattern[at : at + 1] == b"/":
        return 1
    return 2 if pattern[at : at + 2] == b"\\/" else 0

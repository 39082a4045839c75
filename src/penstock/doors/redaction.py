"""What must never be written: tokens, tickets and passwords, wherever in a line they turn up.

A token may come in a URL, a header, a repr of either, or bare in the text of an exception. The patterns err
on the side of hiding: a word too much behind `token=` is no loss. Each of them reads a line once.
"""

from __future__ import annotations

import re

MASK = "***"

_PATTERNS = (
    # A header with all it holds, as text, as a repr of text or of bytes.
    re.compile(
        r"(?P<kept>\b(?:proxy-)?authorization\b['\"]?\s*[:=,]\s*b?['\"]?)[^'\"\r\n]+",
        re.IGNORECASE,
    ),
    re.compile(
        r"(?P<kept>\b(?:cookie|sec-websocket-protocol)\b['\"]?\s*[:=,]\s*b?['\"]?)[^'\"\r\n]+", re.IGNORECASE
    ),
    # A name that says it is secret, with its value; in a URL the mark between them may be escaped.
    re.compile(
        r"(?P<kept>(?:token|ticket|jwt|secret|password|api[_-]?key)['\"]?\s*(?:=|:|%3d)\s*b?['\"]?)"
        r"[^\s'\"&;,)}\]]+",
        re.IGNORECASE,
    ),
    re.compile(r"(?P<kept>\bbearer(?:\s|%20|\+)+)[^\s'\",;]+", re.IGNORECASE),
    # What looks like a JSON Web Token or a part of one: base64 of `{"`, long enough to be no word.
    re.compile(r"(?P<kept>)eyJ[A-Za-z0-9_-]{8,}(?:(?:\.|%2e)[A-Za-z0-9_-]*){0,4}", re.IGNORECASE),
    re.compile(r"(?P<kept>)pst_[A-Za-z0-9_-]{8,}"),
)
_SIGNS = (
    *("token", "ticket", "bearer", "auth", "eyj", "pst_"),
    *("jwt", "secret", "password", "api", "cookie", "websocket"),
)
"""One of these stands in whatever a pattern finds; most lines hold none, and cost next to nothing."""


def redacted(text: str) -> str:
    """The text with every secret it shows replaced by a mask."""
    lowered = text.lower()
    if not any(sign in lowered for sign in _SIGNS):
        return text
    for pattern in _PATTERNS:
        text = pattern.sub(rf"\g<kept>{MASK}", text)
    return text

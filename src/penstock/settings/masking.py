"""Secrets: values that work but never show.

The masks err on the side of hiding: a password with an unescaped `/`, `?` or `@` is still covered,
because everything between the first colon and the last `@` is taken to be secret.
"""

import re
from dataclasses import dataclass, field

MASK = "***"

_PASSWORD = re.compile(r"\A(?P<user>(?>(?:[a-zA-Z0-9+.-]+://)?)[^:@]*):.*@", re.DOTALL)
_LONE_USER = re.compile(r"\A(?P<scheme>[a-zA-Z0-9+.-]+://)[^/?#@:]+@")
_QUERY = re.compile(
    r"(?P<name>[?&;][^=&;]*(?:pass|secret|token|key|credential)[^=&;]*)=[^&;]*", re.IGNORECASE
)


def masked(text: str) -> str:
    """The text with every secret a URL can carry replaced by the mask, a user without password included."""
    found = _PASSWORD.match(text)
    if found and _QUERY.search(found.group()):
        # An "@" inside a secret of the query: its end cannot be told, so nothing after the user is shown.
        return _QUERY.sub(rf"\g<name>={MASK}", f"{found['user']}:{MASK}")
    text = _QUERY.sub(rf"\g<name>={MASK}", text)
    text = _PASSWORD.sub(rf"\g<user>:{MASK}@", text)
    return _LONE_USER.sub(rf"\g<scheme>{MASK}@", text)


@dataclass(frozen=True, slots=True)
class Secret:
    """A password: `reveal()` gives it to the driver that needs it, everything else shows the mask."""

    _text: str = field(repr=False)

    def reveal(self) -> str:
        return self._text

    def __str__(self) -> str:
        return MASK

    def __repr__(self) -> str:
        return f"Secret({MASK})"

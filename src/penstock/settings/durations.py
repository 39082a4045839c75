"""Spans of time as people write them: `200ms`, `5s`, `1m30s`, `24h`, `7d`, or a bare number of seconds.

Sums are made in decimal, so what is written in milliseconds comes back as the nearest float.
"""

import re
from decimal import Decimal

SECONDS_MAX = 3650 * 86400.0

_UNITS = {"d": Decimal(86400), "h": Decimal(3600), "m": Decimal(60), "s": Decimal(1), "ms": Decimal("0.001")}
_NUMBER = r"[0-9]{1,15}(?:\.[0-9]{1,400})?"
_BARE = re.compile(_NUMBER)
# Each unit at most once, the longer before the shorter; "m" must not eat the first letter of "ms".
_WRITTEN = re.compile(
    "".join(rf"(?:(?P<{unit}>{_NUMBER}){unit}{'(?!s)' if unit == 'm' else ''})?" for unit in _UNITS)
)


def parse_duration(text: str) -> float:
    """Return the seconds; raise ValueError for any other text, whatever is wrong with it."""
    if _BARE.fullmatch(text):
        return float(Decimal(text))
    found = _WRITTEN.fullmatch(text)
    if not text or found is None:
        raise ValueError("not a duration")
    amounts = found.groupdict()
    return float(sum(Decimal(amount) * _UNITS[unit] for unit, amount in amounts.items() if amount))


def format_duration(seconds: float) -> str:
    """Write seconds in the shortest units; parsing the text gives the same float back."""
    if (milliseconds := round(seconds * 1000)) / 1000 != seconds:
        return f"{Decimal(repr(seconds)):f}s"
    parts = []
    for unit, length in _UNITS.items():
        amount, milliseconds = divmod(milliseconds, int(length * 1000))
        parts.append(f"{amount}{unit}" if amount else "")
    return "".join(parts) or "0s"

"""Kinds of single values that count, measure or switch."""

import re
from dataclasses import dataclass

from penstock.settings.durations import SECONDS_MAX, format_duration, parse_duration
from penstock.settings.kinds import Kind, Quoted, quoted
from penstock.settings.problems import Unfit

EXAMPLES = "such as 200ms, 5s, 1m30s, 24h, 7d, or a number of seconds"

_UNITS = {"": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


@dataclass(frozen=True)
class Whole(Kind[int]):
    """A whole number within bounds; octal, hexadecimal and underscores are refused, not guessed."""

    least: int
    most: int

    @property
    def words(self) -> str:
        return f"a whole number from {self.least} to {self.most}"

    def read(self, raw: object) -> int:
        value = self._number(raw)
        if not self.least <= value <= self.most:
            raise Unfit(f"{value} is too {'small' if value < self.least else 'large'}")
        return value

    def _number(self, raw: object) -> int:
        if isinstance(raw, int) and not isinstance(raw, bool):
            return raw
        if (
            isinstance(raw, str)
            and not isinstance(raw, Quoted)
            and re.fullmatch(r"-?(0|[1-9][0-9]{0,17})", raw)
        ):
            return int(raw)
        raise Unfit(f"{quoted(raw)} is not a whole number")


@dataclass(frozen=True)
class Size(Kind[int]):
    """A number of bytes, bare or with KiB, MiB or GiB."""

    most: int

    @property
    def words(self) -> str:
        return f"a size such as 65536, 64KiB or 1MiB, from 1 byte to {self.show(self.most)}"

    def read(self, raw: object) -> int:
        found = re.fullmatch(r"([0-9]{1,15})(|B|KiB|MiB|GiB)", str(raw))
        if isinstance(raw, bool) or found is None:
            raise Unfit(f"{quoted(raw)} is not a size")
        value = int(found[1]) * _UNITS[found[2]]
        if not 1 <= value <= self.most:
            raise Unfit(f"{quoted(raw)} is out of bounds")
        return value

    def show(self, value: int) -> str | int:
        whole = [unit for unit in ("GiB", "MiB", "KiB") if value and value % _UNITS[unit] == 0]
        return f"{value // _UNITS[whole[0]]}{whole[0]}" if whole else value


class Share(Kind[float]):
    """A part of the whole: above 0, up to 1."""

    words = "a number above 0 and up to 1"

    def read(self, raw: object) -> float:
        value = self._number(raw)
        if not 0 < value <= 1:
            raise Unfit(f"{value} is out of bounds")
        return value

    def _number(self, raw: object) -> float:
        if isinstance(raw, int | float) and not isinstance(raw, bool):
            return float(raw)
        if (
            isinstance(raw, str)
            and not isinstance(raw, Quoted)
            and re.fullmatch(r"-?[0-9]*\.?[0-9]{1,30}", raw)
        ):
            return float(raw)
        raise Unfit(f"{quoted(raw)} is not a number")


class Switch(Kind[bool]):
    """On or off."""

    words = "true or false"

    def read(self, raw: object) -> bool:
        if isinstance(raw, bool):
            return raw
        word = raw.lower() if isinstance(raw, str) and not isinstance(raw, Quoted) else ""
        if word in ("true", "yes", "on", "1"):
            return True
        if word in ("false", "no", "off", "0"):
            return False
        raise Unfit(f"{quoted(raw)} is neither true nor false")


@dataclass(frozen=True)
class Duration(Kind[float]):
    """A span of time, in seconds once read."""

    least: float = 0.001

    @property
    def words(self) -> str:
        return f"a duration of at least {format_duration(self.least)}" if self.least else "a duration or 0"

    def read(self, raw: object) -> float:
        seconds = self._seconds(raw)
        # Written this way round, a NaN is out of bounds as well.
        if not self.least <= seconds <= SECONDS_MAX:
            raise Unfit(f"{quoted(raw)} is too {'long' if seconds > SECONDS_MAX else 'short'}")
        return seconds

    def _seconds(self, raw: object) -> float:
        if isinstance(raw, int | float) and not isinstance(raw, bool):
            return float(raw)
        try:
            return parse_duration(raw if isinstance(raw, str) else "")
        except ValueError:
            raise Unfit(f"{quoted(raw)} is not a duration ({EXAMPLES})") from None

    def show(self, value: float) -> str:
        return format_duration(value)

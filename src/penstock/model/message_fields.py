"""The fields of a message, asked for by name and kind; a refusal names the field."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self, overload

from penstock.model.errors import Refused
from penstock.model.jobs import COUNT_LIMIT, NAME_LENGTH_MAX

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """One JSON object; null counts as not given, as it does on the page."""

    given: Mapping[str, object]
    under: str = ""
    """How its names begin when they are told: `options.` within the options."""

    def needed(self, name: str) -> str:
        """A text that must be there."""
        value = self.text(name, None)
        if not value:
            raise invalid(f"{self.under}{name} is missing" if value is None else f"{name} is empty")
        return value

    @overload
    def text(self, name: str, default: str) -> str: ...
    @overload
    def text(self, name: str, default: None) -> str | None: ...
    def text(self, name: str, default: str | None) -> str | None:
        """A text, or the default."""
        value = self.given.get(name)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        return value

    def label(self, name: str) -> str | None:
        """A short text for people and logs; empty counts as not given."""
        value = self.text(name, "")
        if len(value) > NAME_LENGTH_MAX or _CONTROL.search(value):
            raise invalid(f"{name} must be at most {NAME_LENGTH_MAX} characters without control characters")
        return value or None

    @overload
    def count(self, name: str, default: int, *, most: int = COUNT_LIMIT) -> int: ...
    @overload
    def count(self, name: str, default: None, *, most: int = COUNT_LIMIT) -> int | None: ...
    def count(self, name: str, default: int | None, *, most: int = COUNT_LIMIT) -> int | None:
        """A whole number from 0 on, or the default."""
        value = self.given.get(name)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
            raise self._wrong(name, f"a whole number from 0 to {most}")
        return value

    def switch(self, name: str, *, default: bool) -> bool:
        """True or false, or the default."""
        value = self.given.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def mapping(self, name: str) -> Self:
        """An object within; one that is not given has no fields."""
        value = self.given.get(name)
        if value is None:
            return type(self)(given={}, under=f"{name}.")
        if not isinstance(value, dict):
            raise self._wrong(name, "an object")
        return type(self)(given=value, under=f"{name}.")

    def without(self, known: frozenset[str]) -> dict[str, object]:
        """The fields nobody asks for."""
        return {name: value for name, value in self.given.items() if name not in known}

    def _wrong(self, name: str, wanted: str) -> Refused:
        return invalid(f"{self.under}{name} is not {wanted}")


def invalid(message: str) -> Refused:
    """The refusal of a message that does not have a documented shape."""
    return Refused(message, code="ERR_MESSAGE_INVALID")

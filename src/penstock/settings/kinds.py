"""What a kind is: it reads what a source gave, bounds it, and says in words what it takes.

A source hands over text as it was written, so `password: 0123` stays `0123` and `1:30` is no number;
text the file wrote in quotes comes as `Quoted` and is refused where a number or a switch belongs.
Flags and JSON may also hand over Python numbers, booleans, lists and mappings.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from penstock.settings.masking import masked
from penstock.settings.problems import Unfit

T = TypeVar("T")


class Quoted(str):
    """Text that stood in quotes in the file: never a number, a switch or nothing."""

    __slots__ = ()


class Kind(ABC, Generic[T]):
    """How one key's value is read, checked and shown."""

    @property
    def nesting(self) -> int:
        """How many lists and mappings may stand inside one another; deeper ones are not looked into."""
        return 0

    @property
    @abstractmethod
    def words(self) -> str:
        """What the kind takes, as it follows the words "give" and "type"."""

    @abstractmethod
    def read(self, raw: object) -> T:
        """The checked value, or Unfit."""

    def split(self, text: str) -> object:
        """What the text of a variable or a flag stands for, before `read`; containers take it apart."""
        return text

    def show(self, value: T) -> Any:
        """The value as a person would write it, secrets masked."""
        return value


def quoted(raw: object) -> str:
    """Name a refused value in an error: short, masked, and containers by kind only."""
    if raw is None:
        return "nothing"
    if isinstance(raw, str):
        text = masked(str(raw))
        return repr(text if len(text) <= 60 else f"{text[:60]}…")
    if isinstance(raw, Mapping):
        return "a mapping"
    return "a list" if isinstance(raw, list | tuple) else str(raw)[:60]


def plain_text(raw: object) -> str:
    """The raw value if it is text, quoted or not."""
    if not isinstance(raw, str):
        raise Unfit(f"{quoted(raw)} is not text")
    return str(raw)

"""Kinds of values made of several: lists and mappings, each read as one value and replaced as one."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.settings.kinds import Kind, T, quoted
from penstock.settings.problems import Unfit, suggestion
from penstock.settings.texts import Text

V = TypeVar("V", covariant=True)

ENTRIES_MAX = 100


class FixedMapping(Mapping[str, V]):
    """A mapping that cannot be changed, yet can be hashed and sent to another process."""

    def __init__(self, entries: Mapping[str, V]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, key: str) -> V:
        return self._entries[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __hash__(self) -> int:
        return hash(frozenset(self._entries.items()))

    def __repr__(self) -> str:
        return repr(self._entries)


@dataclass(frozen=True)
class ListOf(Kind[tuple[T, ...]]):
    """A list of one kind of item; in a variable or a flag the items stand between commas."""

    item: Kind[T]
    least: int = 0

    @property
    def words(self) -> str:
        return f"a list{' (not empty)' if self.least else ''} of: {self.item.words}"

    def split(self, text: str) -> list[str]:
        return [item.strip() for item in text.split(",")] if text.strip() else []

    def read(self, raw: object) -> tuple[T, ...]:
        if not isinstance(raw, list | tuple):
            raise Unfit(f"{quoted(raw)} is not a list")
        if not self.least <= len(raw) <= ENTRIES_MAX:
            raise Unfit(f"the list is {'empty' if not raw else f'longer than {ENTRIES_MAX}'}")
        return tuple(
            _read_each(self.item, {f"item {place}": item for place, item in enumerate(raw, 1)}).values()
        )

    def show(self, value: tuple[T, ...]) -> list[Any]:
        return [self.item.show(item) for item in value]


@dataclass(frozen=True)
class MapOf(Kind[Mapping[str, T]]):
    """A mapping from names to one kind of value; in a variable or a flag it is a JSON object.

    `names` lists the names there are; empty, any line of text is one.
    """

    item: Kind[T]
    names: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        names = f" with the names {', '.join(self.names)}" if self.names else ""
        return f"a mapping{names}, each value {self.item.words}"

    def split(self, text: str) -> object:
        try:
            return json.loads(text, object_pairs_hook=_unrepeated)
        except (ValueError, RecursionError):
            raise Unfit("the text is not a JSON object") from None

    def read(self, raw: object) -> Mapping[str, T]:
        if not isinstance(raw, Mapping):
            raise Unfit(f"{quoted(raw)} is not a mapping")
        if len(raw) > ENTRIES_MAX:
            raise Unfit(f"the mapping has more than {ENTRIES_MAX} entries")
        for name in raw:
            self._check_name(name)
        return FixedMapping(_read_each(self.item, raw))

    def _check_name(self, name: object) -> None:
        text = Text().read(name)
        if self.names and text not in self.names:
            raise Unfit(f"{quoted(name)} is not a known name; {suggestion(text, self.names, 'remove it')}")

    def show(self, value: Mapping[str, T]) -> dict[str, Any]:
        return {name: self.item.show(item) for name, item in value.items()}


def _read_each(kind: Kind[T], raws: Mapping[str, object]) -> dict[str, T]:
    """Read every entry, and tell of all the unfit ones at once."""
    values: dict[str, T] = {}
    wrongs = []
    for name, raw in raws.items():
        try:
            values[str(name)] = kind.read(raw)
        except Unfit as unfit:
            wrongs.append(f"{name}: {unfit.wrong}")
    if wrongs:
        raise Unfit(", ".join(wrongs))
    return values


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise Unfit("the JSON object names one key twice")
    return entries

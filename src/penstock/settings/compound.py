"""Kinds of values made of several: lists and mappings, each read as one value and replaced as one."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from penstock.settings.kinds import Kind, T, quoted
from penstock.settings.problems import Unfit, UnfitWithin, Within, suggestion
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
    def nesting(self) -> int:
        return 1 + self.item.nesting

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
            _read_each(
                self.item, {f"item {place}": item for place, item in enumerate(raw, 1)}, place=_nth
            ).values()
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
    def nesting(self) -> int:
        return 1 + self.item.nesting

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


@dataclass(frozen=True)
class Record(Kind[T]):
    """A mapping with keys of its own, made into one value; a fault is told by the key it is at.

    `faults` asks what no key shows alone; it is asked only when every key by itself is right.
    """

    make: Callable[..., T]
    keys: Mapping[str, Kind[Any]]
    required: tuple[str, ...] = ()
    faults: Callable[[Mapping[str, Any]], Iterator[Within]] = field(default=lambda _: iter(()))

    @property
    def words(self) -> str:
        return f"a mapping with the keys {', '.join(self.keys)}"

    @property
    def nesting(self) -> int:
        return 1 + max(kind.nesting for kind in self.keys.values())

    def read(self, raw: object) -> T:
        if not isinstance(raw, Mapping):
            raise Unfit(f"{quoted(raw)} is not a mapping")
        values: dict[str, Any] = {}
        found: list[Within] = []
        for name, value in raw.items():
            # As everywhere in the file, a key set to nothing counts as not given.
            if name in self.keys and value is None:
                continue
            try:
                values[name] = self._kind(name).read(value)
            except UnfitWithin as unfit:
                found += [each.below(name) for each in unfit.faults]
            except Unfit as unfit:
                found.append(Within(at=str(name), wrong=unfit.wrong, right=self._advice(name)))
        missing = [name for name in self.required if name not in raw]
        found += [Within(at=name, wrong="the key is missing", right=self._advice(name)) for name in missing]
        found += () if found else self.faults(values)
        if found:
            raise UnfitWithin(found)
        return self.make(**values)

    def _kind(self, name: str) -> Kind[Any]:
        if name not in self.keys:
            raise Unfit("there is no such key")
        return self.keys[name]

    def _advice(self, name: str) -> str:
        if name in self.keys:
            return f"give {self.keys[name].words}"
        return suggestion(name, self.keys, f"there are {', '.join(self.keys)}")

    def show(self, value: T) -> dict[str, Any]:
        held = {name: getattr(value, name) for name in self.keys}
        return {name: self.keys[name].show(each) for name, each in held.items() if each is not None}


def _read_each(kind: Kind[T], raws: Mapping[str, object], place: Callable[[str], str] = str) -> dict[str, T]:
    """Read every entry, and tell of all the unfit ones at once."""
    values: dict[str, T] = {}
    wrongs: list[str] = []
    within: list[Within] = []
    for name, raw in raws.items():
        try:
            values[str(name)] = kind.read(raw)
        except UnfitWithin as unfit:
            within += [each.below(place(name)) for each in unfit.faults]
        except Unfit as unfit:
            wrongs.append(f"{name}: {unfit.wrong}")
            within.append(Within(at=place(name), wrong=unfit.wrong, right=f"give {kind.words}"))
    if within and kind.nesting:  # faults that have keys of their own
        raise UnfitWithin(within)
    if wrongs:
        raise Unfit(", ".join(wrongs))
    return values


def _nth(name: str) -> str:
    return f"[{name.removeprefix('item ')}]"


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise Unfit("the JSON object names one key twice")
    return entries

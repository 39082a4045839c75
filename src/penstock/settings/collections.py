"""Collections as they are declared: how documents are cut, how large they may be, where they come from."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.model.collections import CollectionLimits, RecreationPolicy, name_fault
from penstock.model.payloads import DEPTH_MAX
from penstock.model.recipes import CHUNK_TOKENS_LEAST, CHUNK_TOKENS_MOST, Recipe
from penstock.settings.compound import ListOf, MapOf, Record
from penstock.settings.kinds import quoted
from penstock.settings.numbers import Size, Switch, Whole
from penstock.settings.problems import UnfitWithin, Within
from penstock.settings.texts import Choice, Folder, Text

DEPTH = 10
FILE_BYTES_MAX = 1 << 40
PAGES_MAX = 1_000_000
USUAL = Recipe(model="any")
"""What a recipe says where nothing else is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFolder:
    """A user's own folder, which is only read."""

    path: Path
    """Absolute; in the file it may be relative to where the program was started."""
    patterns: tuple[str, ...] = ()
    """Empty takes every file."""
    ignore_patterns: tuple[str, ...] = ()
    recursive: bool = True
    recursive_depth: int = DEPTH
    watch: bool = True

    @property
    def depth(self) -> int:
        """How many levels below the folder are entered, whichever way it was said."""
        return self.recursive_depth if self.recursive else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeChoice:
    """What a collection wants otherwise than usual when its documents are made into vectors."""

    chunk_tokens: int | None = None
    chunk_tokens_min: int | None = None
    overlap_tokens: int | None = None

    def given(self) -> dict[str, int]:
        """What it says, by the recipe's own names."""
        names = ("chunk_tokens", "chunk_tokens_min", "overlap_tokens")
        return {name: value for name in names if (value := getattr(self, name)) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredCollection:
    """One collection of the configuration, without its name."""

    description: str = ""
    recipe: RecipeChoice = RecipeChoice()
    limits: CollectionLimits = field(default_factory=CollectionLimits)
    sources: tuple[SourceFolder, ...] = ()
    recreation_policy: str = RecreationPolicy.RECREATE.value
    """A word of RecreationPolicy."""


class _Description(Text):
    """Text that may be empty: that is what the default says."""

    def read(self, raw: object) -> str:
        return "" if raw == "" else Text.read(self, raw)


def _source_faults(values: Mapping[str, Any]) -> Iterator[Within]:
    if values.get("recursive") is False and values.get("recursive_depth"):
        yield Within(at="recursive_depth", wrong="recursive is false beside it", right="keep one of the two")


def _recipe_faults(values: Mapping[str, Any]) -> Iterator[Within]:
    chunk = values.get("chunk_tokens", USUAL.chunk_tokens)
    for name in ("overlap_tokens", "chunk_tokens_min"):
        part = values.get(name, getattr(USUAL, name))
        if part * 2 > chunk:
            at = name if name in values else "chunk_tokens"
            yield Within(
                at=at,
                wrong=f"{name} is {part}, more than half of chunk_tokens, which is {chunk}",
                right=f"give a {name} of at most {chunk // 2}",
            )


def _collection_faults(values: Mapping[str, Any]) -> Iterator[Within]:
    seen: dict[Path, int] = {}
    for number, source in enumerate(values.get("sources", ()), 1):
        first = seen.setdefault(source.path, number)
        if first != number:
            yield Within(
                at=f"sources[{number}].path",
                wrong=f"it is the folder of sources[{first}] again",
                right="keep one of the two",
            )


class _Root(Folder):
    """A folder by its absolute path: documents are known by theirs."""

    def read(self, raw: object) -> Path:
        return Path(os.path.abspath(Folder.read(self, raw)))


class _Source(Record[SourceFolder]):
    """A source; where it is not recursive no depth is shown, since the two contradict each other."""

    def show(self, value: SourceFolder) -> dict[str, Any]:
        shown = Record.show(self, value)
        if not value.recursive:
            del shown["recursive_depth"]
        return shown


SOURCE = _Source(
    make=SourceFolder,
    keys={
        "path": _Root(),
        "patterns": ListOf(Text()),
        "ignore_patterns": ListOf(Text()),
        "recursive": Switch(),
        "recursive_depth": Whole(0, DEPTH_MAX),
        "watch": Switch(),
    },
    required=("path",),
    faults=_source_faults,
)
RECIPE = Record(
    make=RecipeChoice,
    keys={
        "chunk_tokens": Whole(CHUNK_TOKENS_LEAST, CHUNK_TOKENS_MOST),
        "chunk_tokens_min": Whole(0, CHUNK_TOKENS_MOST),
        "overlap_tokens": Whole(0, CHUNK_TOKENS_MOST),
    },
    faults=_recipe_faults,
)
LIMITS = Record(
    make=CollectionLimits, keys={"file_bytes": Size(FILE_BYTES_MAX), "pages": Whole(1, PAGES_MAX)}
)
COLLECTION = Record(
    make=DeclaredCollection,
    keys={
        "description": _Description(),
        "recipe": RECIPE,
        "limits": LIMITS,
        "sources": ListOf(SOURCE),
        "recreation_policy": Choice(tuple(map(str, RecreationPolicy))),
    },
    faults=_collection_faults,
)


class Collections(MapOf[DeclaredCollection]):
    """The collections by name; one that is declared with nothing has every default."""

    def __init__(self) -> None:
        super().__init__(COLLECTION)

    @property
    def words(self) -> str:
        return "a mapping from collections' names to mappings with " + ", ".join(COLLECTION.keys)

    def read(self, raw: object) -> Mapping[str, DeclaredCollection]:
        if not isinstance(raw, Mapping):
            return MapOf.read(self, raw)
        faults = [
            Within(at=quoted(name).strip("'"), wrong=wrong, right="rename it")
            for name in raw
            if (wrong := name_fault(str(name)))
        ]
        # The keys of collections with a wrong name are looked at too: all faults are told at once.
        try:
            values = MapOf.read(self, {name: {} if each is None else each for name, each in raw.items()})
        except UnfitWithin as unfit:
            faults += unfit.faults
        if faults:
            raise UnfitWithin(faults)
        return values


def in_collections(
    collections: Mapping[str, DeclaredCollection], wrong: Callable[[DeclaredCollection], str | None]
) -> str | None:
    """The first fault a rule finds, with the collection it is in."""
    for name, each in collections.items():
        if told := wrong(each):
            return f"{name}: {told}"
    return None

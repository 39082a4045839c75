"""How a key is declared: kind, default and meaning stand beside the field.

The loader, the error texts, the shown tree and the reference page walk these declarations.
A default is written as a user would write it and goes through the same check: a wrong one fails at import.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, cast

from penstock.settings.kinds import Kind, T

S = TypeVar("S")

PREFIX = "PENSTOCK_"
REQUIRED: Any = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What stands beside a field that holds a value."""

    kind: Kind[Any]
    default: Any
    meaning: str
    documented: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """What stands beside a field that holds a section; an optional one is None unless its keys are given."""

    section: type[Any]
    optional: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One key of the whole tree."""

    key: str
    declared: Declared

    @property
    def bare(self) -> str | None:
        """The unprefixed variable, accepted only where the worker contract documents the key."""
        return self.key.upper().replace(".", "_") if self.declared.documented else None

    @property
    def variable(self) -> str:
        return PREFIX + self.key.upper().replace(".", "_")


def setting(kind: Kind[T], default: object, meaning: str, *, documented: bool = False) -> T:
    """Declare a key of ours; None as default means "not set"."""
    value = default if default is None or default is REQUIRED else kind.read(default)
    declared = Declared(kind=kind, default=value, meaning=meaning, documented=documented)
    return cast(T, _declare(value, declared))


def documented(kind: Kind[T], default: object, meaning: str) -> T:
    """Declare a key of the worker contract, which may also come by its bare variable."""
    return setting(kind, default, meaning, documented=True)


def section(kind: type[S], *, optional: bool = False) -> S:
    """Declare a section: a mapping with keys of its own, explained by its docstring."""
    branch = Branch(section=kind, optional=optional)
    return cast(S, _declare(None if optional else kind(), branch))


def _declare(default: Any, mark: Declared | Branch) -> Any:
    metadata = {"mark": mark}
    # A factory, because dataclasses refuse defaults that cannot be hashed.
    return (
        field(metadata=metadata)
        if default is REQUIRED
        else field(default_factory=lambda: default, metadata=metadata)
    )


def marks(tree: type[Any]) -> Iterator[tuple[str, Declared | Branch]]:
    """Each field of one section with what stands beside it, in the order of the source."""
    for each in fields(tree):
        yield each.name, each.metadata["mark"]


def leaves(tree: type[Any], prefix: str = "") -> Mapping[str, Leaf]:
    """Every key below a section, by its dotted name."""
    found: dict[str, Leaf] = {}
    for name, mark in marks(tree):
        if isinstance(mark, Branch):
            found |= leaves(mark.section, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = Leaf(key=f"{prefix}{name}", declared=mark)
    return found


def shown(tree: Any) -> dict[str, Any]:
    """A section as a person would write it in YAML, passwords masked."""
    return {name: _shown_value(mark, getattr(tree, name)) for name, mark in marks(type(tree))}


def _shown_value(mark: Declared | Branch, value: Any) -> Any:
    if value is None:
        return None
    return shown(value) if isinstance(mark, Branch) else mark.kind.show(value)

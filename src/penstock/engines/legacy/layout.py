"""What a legacy table looks like, and which of its columns says what.

A row must be recognised in the next run, so it is known by a key the file itself keeps unique: a column with
an id's name, else the primary key, else an id that happens to have no double. Only a table without any of
them is known by SQLite's row numbers, which a VACUUM may change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.engines.legacy.roles import MESSAGE_TEXTS, NAMES, REQUIRED, Role, plain_name
from penstock.model.payloads import ItemType


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A table as the file declares it."""

    name: str
    columns: tuple[str, ...]
    primary_key: tuple[str, ...] = ()
    unique: frozenset[str] = frozenset()
    """Columns that are unique by themselves."""
    row_number: str | None = "rowid"
    """A name under which SQLite's row number can be asked for; None for a table without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Where the text behind an error's id stands."""

    table: str
    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """A legacy table, read: all names as the file spells them."""

    table: str
    legacy_name: str
    item_type: ItemType
    columns: Mapping[Role, str]
    identity: tuple[str, ...]
    """The columns a row is known by; empty means its number."""
    cursor: tuple[str, ...]
    """What rows are walked through by, in ascending order."""
    has_row_number: bool = True
    errors: Reference | None = None
    ignored: tuple[str, ...] = ()
    missing: tuple[Role, ...] = ()


def columns_of(shape: Shape) -> dict[Role, str]:
    """Which column says what; a column serves one role, a role takes the first of its names."""
    spelled = {plain_name(column): column for column in reversed(shape.columns)}
    return {
        role: spelled[name]
        for role, names in NAMES.items()
        if (name := next((name for name in names if name in spelled), None)) is not None
    }


def id_candidates(shape: Shape) -> list[str]:
    """Columns with an id's name that the file does not keep unique: usable if no value comes twice."""
    spelled = {plain_name(column): column for column in shape.columns}
    return [spelled[name] for name in NAMES[Role.ID] if name in spelled]


def identity_of(shape: Shape, unrepeated: Sequence[str] = ()) -> tuple[str, ...]:
    """What a row is known by; `unrepeated` are candidates whose values were seen to be all different."""
    alone = shape.unique | (frozenset(shape.primary_key) if len(shape.primary_key) == 1 else frozenset())
    declared = next((column for column in id_candidates(shape) if column in alone), None)
    if declared is not None:
        return (declared,)
    return shape.primary_key or tuple(unrepeated[:1])


def reference_of(shape: Shape | None) -> Reference | None:
    """The table of messages, if it has an id and a text."""
    if shape is None:
        return None
    spelled = {plain_name(column): column for column in shape.columns}
    text = next((spelled[name] for name in MESSAGE_TEXTS if name in spelled), None)
    if "id" not in spelled or text is None:
        return None
    return Reference(table=shape.name, id=spelled["id"], text=text)


def layout_of(
    shape: Shape,
    legacy_name: str,
    item_type: ItemType,
    *,
    unrepeated: Sequence[str] = (),
    messages: Shape | None = None,
) -> Layout:
    """Read a table's shape; `missing` is not empty if no job can be made of its rows."""
    columns = columns_of(shape)
    identity = identity_of(shape, unrepeated)
    cursor = (shape.row_number,) if shape.row_number is not None else shape.primary_key or identity
    used = {*columns.values(), *identity}
    return Layout(
        table=shape.name,
        legacy_name=legacy_name,
        item_type=item_type,
        columns=columns,
        identity=identity,
        cursor=cursor,
        has_row_number=shape.row_number is not None,
        errors=reference_of(messages) if Role.ERROR_REFERENCE in columns else None,
        ignored=tuple(column for column in shape.columns if column not in used),
        missing=_missing(columns, item_type, cursor),
    )


def _missing(columns: Mapping[Role, str], item_type: ItemType, cursor: tuple[str, ...]) -> tuple[Role, ...]:
    needed = REQUIRED[item_type]
    return (*(() if needed in columns else (needed,)), *(() if cursor else (Role.ID,)))

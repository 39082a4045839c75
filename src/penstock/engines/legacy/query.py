"""SQL over tables whose names come from the file: every one of them is quoted, every value is bound."""

# ruff: noqa: S608 -- names cannot be bound; all of them pass through quoted().

from __future__ import annotations

from collections.abc import Sequence

from penstock.engines.legacy.layout import Layout
from penstock.engines.legacy.roles import Role


def quoted(name: str) -> str:
    """A name as SQL takes it whatever it holds."""
    return '"' + name.replace('"', '""') + '"'


def count_rows(table: str) -> str:
    """How many rows a table has."""
    return f"SELECT count(*) FROM {quoted(table)}"


def any_repeated(table: str, column: str) -> str:
    """Whether a value of the column comes twice."""
    name = quoted(column)
    return (
        f"SELECT EXISTS (SELECT 1 FROM {quoted(table)} WHERE {name} IS NOT NULL "
        f"GROUP BY {name} HAVING count(*) > 1)"
    )


def row_number(table: str, name: str) -> str:
    """Asks for the row number under this name; fails if the table has none."""
    # Not quoted: SQLite would read a quoted name it does not know as text.
    return f"SELECT {name} FROM {quoted(table)} LIMIT 0"


def drop_table(table: str) -> str:
    """Away with it."""
    return f"DROP TABLE {quoted(table)}"


def read_rows(layout: Layout, after: Sequence[object] = ()) -> tuple[str, list[object]]:
    """The next rows in the order of the cursor: first the cursor, then the identity, then every role.

    With them goes what is to be bound: how far the cursor is.
    """
    cursor = ", ".join(_cursor(layout))
    places = [_place(value) for value in after]
    marks = ", ".join(mark for mark, _ in places)
    columns = [
        *_cursor(layout),
        *map(_of, layout.identity),
        *(_role(layout, role) for role in layout.columns),
    ]
    where = f"WHERE ({cursor}) > ({marks}) " if after else ""
    text = (
        f"SELECT {', '.join(columns)} FROM {quoted(layout.table)} AS legacy {where}ORDER BY {cursor} LIMIT ?"
    )
    return text, [value for _, value in places]


def _place(value: object) -> tuple[str, object]:
    """How a value is bound again as it was read: text in no encoding goes by its bytes."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return "CAST(? AS TEXT)", value.encode("utf-8", "surrogateescape")
    return "?", value


def _cursor(layout: Layout) -> list[str]:
    if layout.has_row_number:
        return [f"legacy.{name}" for name in layout.cursor]
    return [_of(name) for name in layout.cursor]


def _of(column: str) -> str:
    return f"legacy.{quoted(column)}"


def _role(layout: Layout, role: Role) -> str:
    column = _of(layout.columns[role])
    if role is not Role.ERROR_REFERENCE or layout.errors is None:
        return column
    kept = layout.errors
    return (
        f"(SELECT kept.{quoted(kept.text)} FROM {quoted(kept.table)} AS kept "
        f"WHERE kept.{quoted(kept.id)} = {column})"
    )

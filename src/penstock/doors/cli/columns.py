"""Columns that fit the terminal: the ones that matter stay whole, others give way, one is cut to size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

GAP = 2
FLEXIBLE_MIN = (8, 12, 24)
"""What the column that is cut to size keeps before another of rank 0, 1, or more may join."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column; rank 0 is always there, others join in the order of their rank while there is room."""

    title: str
    cells: Sequence[Text]
    rank: int = 0
    is_flexible: bool = False
    keeps_start: bool = False
    """Where it is cut: a sentence keeps its start, a path its end."""
    is_right: bool = False

    @property
    def width(self) -> int:
        """What it needs to be shown whole."""
        return max(cell_len(self.title), *(cell.cell_len for cell in self.cells), 1)


def fitted(columns: Sequence[Column], width: int) -> Table:
    """A table of what fits into the width; an empty column is left out."""
    filled = [column for column in columns if any(cell.cell_len for cell in column.cells)]
    kept = _kept(filled, width)
    left = _left_over(kept, width)
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold dim")
    shown = [
        [_cut(cell, left, keeps_start=each.keeps_start) for cell in each.cells]
        if each.is_flexible
        else each.cells
        for each in kept
    ]
    for column, cells in zip(kept, shown, strict=True):
        whole = max(cell_len(column.title), *(cell.cell_len for cell in cells), 1)
        table.add_column(
            column.title, width=whole, no_wrap=True, justify="right" if column.is_right else "left"
        )
    for row in zip(*shown, strict=True):
        table.add_row(*row)
    return table


def _kept(columns: Sequence[Column], width: int) -> list[Column]:
    kept = [column for column in columns if column.rank == 0]
    for column in sorted((each for each in columns if each.rank), key=lambda each: each.rank):
        if _left_over([*kept, column], width) >= FLEXIBLE_MIN[min(column.rank, 2)]:
            kept.append(column)
    return [column for column in columns if column in kept]


def _left_over(columns: Sequence[Column], width: int) -> int:
    fixed = sum(column.width for column in columns if not column.is_flexible)
    return max(FLEXIBLE_MIN[0], width - fixed - GAP * (len(columns) - 1))


def _cut(cell: Text, width: int, *, keeps_start: bool) -> Text:
    """The end of a path tells more than its start."""
    if cell.cell_len <= width:
        return cell
    if keeps_start:
        start = cell.copy()
        start.truncate(width, overflow="ellipsis")
        return start
    text = cell.plain
    while cell_len(text) > width - 1:
        text = text[max(1, (cell_len(text) - width) // 2) :]
    return Text(f"…{text}", style=cell.style)

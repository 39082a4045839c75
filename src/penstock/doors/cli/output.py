"""Where words go: data to stdout, talk to stderr; nothing a document holds can steer the terminal."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from io import TextIOWrapper
from typing import TYPE_CHECKING

import click

from penstock.doors.streams import is_unread, silence

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

# Control characters of both sets, and those that break or turn around a line.
_UNRULY = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_RAW_IN_JSON = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """The text on one line, with every character that could act on a terminal written out."""
    return _UNRULY.sub(lambda found: _escaped(found[0]), text)


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode()


def talk(text: str) -> None:
    """A line for the person, beside the data; talk that cannot be written changes nothing about the work."""
    try:
        click.echo(text, err=True)
    except OSError:
        silence(sys.stderr)


def line(*cells: object) -> None:
    """One line of data: cells parted by tabs, an absent one empty."""
    click.echo("\t".join("" if cell is None else clean(str(cell)) for cell in cells))


def lines(rows: Iterable[Iterable[object]]) -> None:
    """Several of them."""
    for row in rows:
        line(*row)


def table(rows: Iterable[Iterable[object]]) -> None:
    """The same for few short rows: on a terminal the cells stand below each other."""
    if not on_terminal():
        lines(rows)
        return
    from rich.cells import cell_len, set_cell_size

    cells = [["" if cell is None else clean(str(cell)) for cell in row] for row in rows]
    widths: dict[int, int] = {}
    for row in cells:
        for place, cell in enumerate(row):
            widths[place] = max(widths.get(place, 0), cell_len(cell))
    for row in cells:
        click.echo("  ".join(set_cell_size(cell, widths[at]) for at, cell in enumerate(row)).rstrip())


def facts(named: Mapping[str, object]) -> None:
    """A document as lines, a name and a value each; what is not text is JSON, what is absent is left out."""
    lines((name, _cell(value)) for name, value in named.items() if value is not None)


def leaves(named: Mapping[str, object]) -> dict[str, object]:
    """The facts inside facts, each named by its way there: `batch.total`, `sources.1.path`; nothing empty."""
    found: dict[str, object] = {}
    for name, value in named.items():
        inner = value
        if isinstance(inner, Sequence) and not isinstance(inner, str):
            inner = {str(number): each for number, each in enumerate(inner, start=1)}
        if isinstance(inner, Mapping):
            found |= {f"{name}.{word}": each for word, each in leaves(inner).items()}
        else:
            found[name] = inner
    return found


def _cell(value: object) -> str:
    return value if isinstance(value, str) else json_text(value)


def document(value: object) -> None:
    """The one JSON document of a command: indented for eyes, on one line for programs."""
    click.echo(json_text(value, indent=2 if on_terminal() else None))


def json_text(value: object, *, indent: int | None = None) -> str:
    """JSON that is safe to print; names stay readable in any language."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def on_terminal() -> bool:
    """Whether a person watches stdout."""
    return sys.stdout is not None and sys.stdout.isatty()


def console() -> Console:
    """The terminal as rich sees it."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, soft_wrap=False)


def draw(*pieces: RenderableType) -> None:
    """Show tables and text on the terminal."""
    screen = console()
    for piece in pieces:
        screen.print(piece)


def settle_streams() -> None:
    """Let no character stop the output, whatever the locale can write."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def flush() -> None:
    """Push everything out while an error can still be told."""
    if sys.stdout is not None:
        sys.stdout.flush()


async def rest(seconds: float) -> None:
    """Between two looks; a reader that has gone is noticed though there is nothing to say to it."""
    await asyncio.sleep(seconds)
    if sys.stdout is not None and is_unread(sys.stdout):
        raise BrokenPipeError

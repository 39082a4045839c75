"""`penstock queue status`: the queue at a glance, once or for as long as someone watches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import verb
from penstock.doors.cli.overview import NO_WORKER, Overview, change_line, look, status_document, status_lines
from penstock.doors.cli.queue.watching import print_changes, redraw, until_seen, watching
from penstock.doors.cli.session import with_store
from penstock.doors.cli.shapes import Status
from penstock.doors.cli.words import iso

if TYPE_CHECKING:
    from rich.console import RenderableType

    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb(
    "status",
    examples=(
        "penstock queue status",
        "penstock queue status --watch",
        "penstock queue status --watch --json | jq .counts.ready",
    ),
    shape=Status,
    notes=(
        "Piped, the first cell of a line says what the others are: a count, `workers_alive`, `oldest_ready`, "
        "`worker`, `job`, `redis` (of a queue on Redis: its list, its server and what they hold) or `pause`.",
        "With `--watch` a line is the time and `name=count` for every count, printed when one changes.",
    ),
)
@watching("Go on until Ctrl-C: redraw, or print a line per change.")
@click.pass_obj
def status(given: Given, watch: bool, interval: float) -> None:
    """How much there is to do, who works, and what is held back."""
    if watch:
        until_seen(given, lambda store, settings: _watch(store, settings, given, interval))
    else:
        with_store(given, lambda store, settings: _once(store, settings, given))


async def _look(store: Store, settings: Settings) -> Overview:
    from penstock.wiring.admin import health_of

    return await look(store.desk, store.clock, await health_of(settings, store))


async def _once(store: Store, settings: Settings, given: Given) -> None:
    seen = await _look(store, settings)
    if given.as_json:
        output.document(status_document(seen))
    elif output.on_terminal():
        from penstock.doors.cli import tables

        output.draw(tables.status(seen))
    else:
        output.lines(status_lines(seen))
        if not seen.alive:
            output.talk(NO_WORKER)


async def _watch(store: Store, settings: Settings, given: Given, interval: float) -> None:
    async def drawn() -> RenderableType:
        from penstock.doors.cli import tables

        return tables.status(await _look(store, settings))

    if output.on_terminal() and not given.as_json:
        await redraw(drawn, interval)
    written = _as_json if given.as_json else _as_text
    await print_changes(
        lambda: _look(store, settings),
        interval,
        key=change_line,
        show=lambda seen: click.echo(written(seen)),
    )


def _as_text(seen: Overview) -> str:
    return f"{iso(seen.now)} {change_line(seen)}"


def _as_json(seen: Overview) -> str:
    return output.json_text(status_document(seen))

"""`penstock queue pause` and `penstock queue resume`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.session import with_store
from penstock.doors.cli.shapes import Held
from penstock.doors.cli.values import text
from penstock.doors.cli.words import who
from penstock.model.payloads import item_type_named
from penstock.model.standing import Pause, PauseScope
from penstock.ports.desk import Desk

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


def _scoped(function: Callable[..., Any]) -> Callable[..., Any]:
    for scope in (PauseScope.TYPE, PauseScope.COLLECTION, PauseScope.TENANT):
        words = f"Only this {'item type' if scope is PauseScope.TYPE else scope}."
        function = click.option(f"--{scope}", scope.value, type=text, help=words)(function)
    return function


@verb(
    "pause",
    examples=("penstock queue pause", "penstock queue pause --tenant acme"),
    shape=Held,
)
@_scoped
@dry_run
@click.pass_obj
def pause(given: Given, /, dry_run: bool, **scopes: str | None) -> None:
    """Hold back everything, or one tenant, collection or type; what runs goes on."""
    asked = _pause_of(scopes, by=who())

    async def work(store: Store, _: Settings) -> bool:
        held = await _is_held(store.desk, asked)
        # The first to pause stays the one who is remembered.
        if not dry_run and not held:
            await store.desk.pause(asked.scope, asked.name, by=asked.by)
        return held

    held = with_store(given, work)
    _print(given, asked, now_paused=True, was_paused=held, rehearsed=dry_run)


@verb(
    "resume",
    examples=("penstock queue resume", "penstock queue resume --tenant acme"),
    shape=Held,
)
@_scoped
@dry_run
@click.pass_obj
def resume(given: Given, /, dry_run: bool, **scopes: str | None) -> None:
    """Let what was paused go on; each pause is lifted by the words that made it."""
    asked = _pause_of(scopes)

    async def work(store: Store, _: Settings) -> bool:
        if dry_run:
            return await _is_held(store.desk, asked)
        return await store.desk.resume(asked.scope, asked.name)

    held = with_store(given, work)
    _print(given, asked, now_paused=False, was_paused=held, rehearsed=dry_run)


def _pause_of(scopes: dict[str, str | None], by: str = "") -> Pause:
    named = [(PauseScope(scope), name) for scope, name in scopes.items() if name is not None]
    if len(named) > 1:
        raise click.UsageError("a pause has one scope: --tenant, --collection or --type")
    scope, name = named[0] if named else (PauseScope.ALL, "")
    if scope is PauseScope.TYPE:
        item_type_named(name)
    return Pause(scope=scope, name=name, by=by)


async def _is_held(desk: Desk, asked: Pause) -> bool:
    return any((each.scope, each.name) == (asked.scope, asked.name) for each in await desk.pauses())


def _print(given: Given, asked: Pause, *, now_paused: bool, was_paused: bool, rehearsed: bool) -> None:
    if given.as_json:
        output.document(
            Held(
                scope=asked.scope.value,
                name=asked.name,
                paused=now_paused,
                was_paused=was_paused,
                by=asked.by or None,
                dry_run=rehearsed,
            )
        )
        return
    word = "paused" if now_paused else "resumed"
    if now_paused == was_paused:
        output.talk(output.clean(f"{asked} {'was already' if now_paused else 'was not'} paused"))
    elif rehearsed:
        output.talk(output.clean(f"{asked} would be {word}; nothing was changed"))
    else:
        output.line(word, asked)

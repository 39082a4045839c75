"""`penstock queue pause` and `penstock queue resume`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.session import Begins, with_store
from penstock.doors.cli.shapes import Held
from penstock.doors.cli.values import text
from penstock.doors.cli.words import who
from penstock.model.payloads import item_type_named
from penstock.model.standing import Pause, PauseScope

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
    """Hold back everything, or one tenant, collection or type."""
    asked = _pause_of(scopes, by=who())

    async def work(store: Store, _: Settings) -> Pause | None:
        # The first to pause stays the one who is remembered.
        held = _same(asked, await store.desk.pauses())
        if not dry_run and held is None:
            await store.desk.pause(asked.scope, asked.name, by=asked.by)
        return held

    held = with_store(given, work, begins=Begins.ALWAYS, rehearses=dry_run)
    if given.as_json:
        _document(held or asked, now_paused=True, was_paused=held is not None, rehearsed=dry_run)
    elif held is not None:
        output.talk(output.clean(f"{held} was already paused by {held.by}"))
    elif dry_run:
        output.talk(output.clean(f"{asked} would be paused; nothing was changed"))
    else:
        output.line("paused", asked)


@verb(
    "resume",
    examples=("penstock queue resume", "penstock queue resume --tenant acme"),
    shape=Held,
)
@_scoped
@dry_run
@click.pass_obj
def resume(given: Given, /, dry_run: bool, **scopes: str | None) -> None:
    """Let go on what was paused by the same words."""
    asked = _pause_of(scopes)

    async def work(store: Store, _: Settings) -> tuple[Pause | None, list[Pause]]:
        pauses = await store.desk.pauses()
        if not dry_run:
            await store.desk.resume(asked.scope, asked.name)
        return _same(asked, pauses), pauses

    held, pauses = with_store(given, work)
    if given.as_json:
        _document(held or asked, now_paused=False, was_paused=held is not None, rehearsed=dry_run)
    elif held is None:
        others = ", ".join(str(each) for each in pauses) or "nothing"
        output.talk(output.clean(f"{asked} was not paused; what is: {others}"))
    elif dry_run:
        output.talk(output.clean(f"{asked} would be resumed; nothing was changed"))
    else:
        output.line("resumed", asked)


def _pause_of(scopes: dict[str, str | None], by: str = "") -> Pause:
    named = [(PauseScope(scope), name) for scope, name in scopes.items() if name is not None]
    if len(named) > 1:
        raise click.UsageError("a pause has one scope: --tenant, --collection or --type")
    scope, name = named[0] if named else (PauseScope.ALL, "")
    if scope is PauseScope.TYPE:
        item_type_named(name)
    return Pause(scope=scope, name=name, by=by)


def _same(asked: Pause, pauses: Sequence[Pause]) -> Pause | None:
    return next((each for each in pauses if (each.scope, each.name) == (asked.scope, asked.name)), None)


def _document(pause: Pause, *, now_paused: bool, was_paused: bool, rehearsed: bool) -> None:
    output.document(
        Held(
            scope=pause.scope.value,
            name=pause.name,
            paused=now_paused,
            was_paused=was_paused,
            by=pause.by or None,
            dry_run=rehearsed,
        )
    )

"""`--watch`: look again and again, until Ctrl-C or until there is nothing more to see."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import interval as interval_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from penstock.settings import Settings
    from penstock.wiring.store import Store

T = TypeVar("T")


def watching(words: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options of watching; `words` say what is seen then."""
    watch = click.option("--watch", is_flag=True, help=words)
    interval = click.option(
        "--interval",
        type=interval_of,
        default="1s",
        show_default=True,
        metavar="DURATION",
        help="Time between two looks.",
    )
    return lambda function: watch(interval(function))


def until_seen(given: Given, work: Callable[[Store, Settings], Awaitable[None]]) -> None:
    """Watch for as long as the person wants to; Ctrl-C means that they have seen enough."""
    try:
        with_store(given, work)
    except KeyboardInterrupt:
        return


async def redraw(look: Callable[[], Awaitable[RenderableType]], interval: float) -> None:
    """Draw what each look gives in the place of the one before."""
    from rich.live import Live

    with Live(console=output.console(), auto_refresh=False) as live:
        while True:
            live.update(await look(), refresh=True)
            await asyncio.sleep(interval)


async def print_changes(
    look: Callable[[], Awaitable[T]],
    interval: float,
    *,
    key: Callable[[T], object],
    show: Callable[[T], None],
    is_last: Callable[[T], bool] = lambda seen: False,
) -> None:
    """Show what each look gives where its key differs from the last one's, until one is the last."""
    last: object = None
    while True:
        seen = await look()
        if (now := key(seen)) != last:
            last = now
            show(seen)
            output.flush()
        if is_last(seen):
            return
        await output.rest(interval)

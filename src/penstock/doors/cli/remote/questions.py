"""`penstock search` and `penstock ask` by a server."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any, cast

import click
import msgspec

from penstock.client import Penstock
from penstock.client.values import Answer, Found
from penstock.doors import answer_shapes
from penstock.doors.cli import ask as asking
from penstock.doors.cli import output
from penstock.doors.cli import search as searching
from penstock.doors.cli.given import Given
from penstock.doors.cli.questions import Narrowed, asked
from penstock.doors.cli.remote.session import with_server
from penstock.model.errors import Broken


@click.pass_obj
def search(given: Given, /, top: int, **narrowed: Any) -> None:
    """Have the server search."""
    wish = Narrowed(**narrowed)
    words = asked(wish.question)

    async def work(server: Penstock) -> Found:
        return await server.search(words, top_k=top, **_filters(wish))

    found = with_server(given, work)
    searching.show(given, cast(answer_shapes.Found, msgspec.to_builtins(found)))


@click.pass_obj
def ask(given: Given, /, only_quote: bool, no_stream: bool, **narrowed: Any) -> None:
    """Have the server answer; on a terminal its words are shown as they come."""
    wish = Narrowed(**narrowed)
    words = asked(wish.question)
    streams = output.on_terminal() and not (no_stream or given.as_json)

    async def work(server: Penstock) -> Answer:
        if not streams:
            return await server.ask(words, quote=only_quote, **_filters(wish))
        async with aclosing(server.telling(words, quote=only_quote, **_filters(wish))) as told:
            async for each in told:
                if isinstance(each, Answer):
                    return each
                asking.write(each.text)
        raise Broken("the answer has no end")

    answer = with_server(given, work)
    asking.show(given, cast(answer_shapes.Answered, msgspec.to_builtins(answer)), is_written=streams)


def _filters(wish: Narrowed) -> dict[str, Any]:
    """As the server takes them: a path is one of its own."""
    return {
        "collections": wish.collections,
        "documents": wish.documents,
        "path": wish.path,
        "metadata": dict(wish.meta),
    }

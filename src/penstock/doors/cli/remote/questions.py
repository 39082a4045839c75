"""`penstock search` and `penstock ask` by a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import click
import msgspec

from penstock.client import Penstock
from penstock.client.values import Answer, Found
from penstock.doors import answer_shapes
from penstock.doors.cli import ask as asking
from penstock.doors.cli import search as searching
from penstock.doors.cli.given import Given
from penstock.doors.cli.questions import asked
from penstock.doors.cli.remote import unable
from penstock.doors.cli.remote.session import with_server


@click.pass_obj
def search(
    given: Given,
    question: Sequence[str],
    collections: Sequence[str],
    documents: Sequence[str],
    path: str | None,
    meta: Sequence[tuple[str, object]],
    top: int,
) -> None:
    """Have the server search."""
    words = asked(question)

    async def work(server: Penstock) -> Found:
        return await server.search(
            words, collections=collections, documents=documents, path=path, metadata=dict(meta), top_k=top
        )

    found = with_server(given, work)
    searching.show(given, cast(answer_shapes.Found, msgspec.to_builtins(found)))


@click.pass_obj
def ask(
    given: Given,
    question: Sequence[str],
    collections: Sequence[str],
    documents: Sequence[str],
    path: str | None,
    meta: Sequence[tuple[str, object]],
    only_quote: bool,
    no_stream: bool,
) -> None:
    """Have the server answer; its answer comes as a whole."""
    if only_quote:
        raise unable("--quote chooses how this machine answers")
    words = asked(question)

    async def work(server: Penstock) -> Answer:
        return await server.ask(
            words, collections=collections, documents=documents, path=path, metadata=dict(meta)
        )

    answer = with_server(given, work)
    asking.show(given, cast(answer_shapes.Answered, msgspec.to_builtins(answer)), is_written=False)

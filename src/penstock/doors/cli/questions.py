"""What `search` and `ask` share: the question, the filters, and the way to the open store."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from penstock.answer.questions import QUESTION_CHARACTERS_MAX
from penstock.answer.scoping import Filters
from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import pair, text
from penstock.model.catalogue import DocumentId

if TYPE_CHECKING:
    from penstock.answer.answers import Answers
    from penstock.settings import Settings
    from penstock.wiring.store import Store

T = TypeVar("T")
FILTERS_MAX = 100
"""Values of one filter in one question."""


def tell_notes(notes: Iterable[str]) -> None:
    """What a person should know, with the command that comes next where there is one."""
    from penstock.answer.answers import EMPTY, STILL_AT_WORK

    following = {
        EMPTY: "put some in with: penstock ingest submit --rag COLLECTION --path FILE-OR-FOLDER",
        STILL_AT_WORK.partition("{")[0]: "see: penstock queue status",
    }
    for note in notes:
        output.talk(f"note: {output.clean(note)}")
        for begins, command in following.items():
            if note.startswith(begins):
                output.talk(f"      {command}")


def filtering(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command its question and its filters."""
    for option in (
        click.option(
            "--meta",
            type=pair,
            multiple=True,
            metavar="KEY=VALUE",
            help="Only documents whose metadata says so; several must all hold.",
        ),
        click.option("--path", type=text, metavar="PATH", help="Only this file, or files in this folder."),
        click.option(
            "--document", "documents", type=text, multiple=True, metavar="ID", help="Only this document."
        ),
        click.option(
            "--rag",
            "collections",
            type=text,
            multiple=True,
            metavar="COLLECTION",
            help="Only this collection; may be given again. All of them if not given.",
        ),
        click.argument("question", nargs=-1, required=True),
    ):
        function = option(function)
    return function


@dataclass(frozen=True, slots=True, kw_only=True)
class Narrowed:
    """What `filtering` gives a command, as it was typed."""

    question: Sequence[str]
    collections: Sequence[str]
    documents: Sequence[str]
    path: str | None
    meta: Sequence[tuple[str, object]]

    def __post_init__(self) -> None:
        given = (("--rag", self.collections), ("--document", self.documents), ("--meta", self.meta))
        for name, values in given:
            if len(values) > FILTERS_MAX:
                raise click.BadParameter(f"{name} was given {len(values)} times, at most {FILTERS_MAX} count")

    def filters(self) -> Filters:
        """For a store of this machine; a path counts from the working folder."""
        return Filters(
            collections=tuple(self.collections),
            documents=tuple(DocumentId(each) for each in dict.fromkeys(self.documents)),
            path=None if self.path is None else os.path.abspath(self.path),
            metadata=dict(self.meta),
        )


def asked(words: Sequence[str]) -> str:
    """The question: its words, or `-` for what comes on stdin."""
    if list(words) != ["-"]:
        return " ".join(words)
    # One character more than may be: too long is told as too long, and not read to its end.
    return sys.stdin.buffer.read(4 * (QUESTION_CHARACTERS_MAX + 1)).decode(errors="replace")


def with_answers(given: Given, work: Callable[[Answers], Awaitable[T]], *, language_model: bool = False) -> T:
    """Open the store and what answers from it, do the work, close both."""

    async def opened(store: Store, settings: Settings) -> T:
        from penstock.wiring.answers import open_answers

        async with open_answers(settings, store, language_model=language_model) as answers:
            return await work(answers)

    return with_store(given, opened)

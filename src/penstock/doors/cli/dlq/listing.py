"""`penstock dlq list` and `show`."""

from __future__ import annotations

import base64
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

import click

from penstock.doors.cli import output
from penstock.doors.cli.dlq.shapes import LetterDetails, LetterFacts, LetterList
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import page_limit, verb
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import text
from penstock.doors.cli.words import iso_or_none
from penstock.model.errors import Refused
from penstock.model.letters import Letter
from penstock.ports.letters import Letters

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from penstock.settings import Settings
    from penstock.wiring.store import Store


@verb(
    "list",
    examples=("penstock dlq list", "penstock dlq list --error ERR_MESSAGE_INVALID --json"),
    shape=LetterList,
    notes=("Piped, a line is: id, job, code, failed, reason.",),
)
@click.option("--error", "code", type=text, help="Only letters with this error code.")
@page_limit("Letters")
@click.option("--before", type=text, metavar="LETTER", help="Only letters after this one: the next page.")
@click.pass_obj
def list_letters(given: Given, code: str | None, limit: int, before: str | None) -> None:
    """Show dead letters, the latest first."""

    async def work(store: Store, settings: Settings) -> list[Letter]:
        from penstock.wiring.letters import letters_of

        return await _page(letters_of(settings, store), code, limit + 1, before)

    found = with_store(given, work)
    letters = found[:limit]
    next_before = letters[-1].id if len(found) > limit else None
    if given.as_json:
        output.document(LetterList(letters=[facts_of(each) for each in letters], next_before=next_before))
        return
    if letters and output.on_terminal():
        from penstock.doors.cli.dlq import pictures

        output.draw(pictures.letters(letters, time.time()))
    else:
        output.lines(
            (each.id, each.job_id, each.code, iso_or_none(each.failed_at), each.reason) for each in letters
        )
    if not letters:
        output.talk("no such letters")
    if next_before is not None:
        output.talk(f"there are more: --before {next_before}")


async def _page(letters: Letters, code: str | None, most: int, before: str | None) -> list[Letter]:
    found: list[Letter] = []
    begun = before is None
    async with aclosing(cast("AsyncGenerator[Letter]", letters.walk(code))) as walk:
        async for letter in walk:
            if begun:
                found.append(letter)
            begun = begun or letter.id == before
            if len(found) == most:
                break
    return found


@verb(
    "show",
    examples=("penstock dlq show LETTER", "penstock dlq show LETTER --json | jq -r .message"),
    shape=LetterDetails,
    notes=("A letter is named by its id or by its job's; of several about one job the latest is meant.",),
)
@click.argument("letter", type=text)
@click.pass_obj
def show_letter(given: Given, letter: str) -> None:
    """Show one dead letter with its message, byte for byte."""

    async def work(store: Store, settings: Settings) -> Letter:
        from penstock.wiring.letters import letters_of

        found = await named(letters_of(settings, store), letter)
        if found is None:
            raise Refused(f"there is no letter {letter}", code="ERR_LETTER_UNKNOWN")
        return found

    details = details_of(with_store(given, work))
    if given.as_json:
        output.document(details)
    elif output.on_terminal():
        from penstock.doors.cli import tables

        output.draw(tables.details(details, time.time()))
    else:
        output.facts(details)


async def named(letters: Letters, name: str) -> Letter | None:
    """The letter with this id, or the latest about the job with it."""
    async with aclosing(cast("AsyncGenerator[Letter]", letters.walk())) as walk:
        async for letter in walk:
            if name in (letter.id, letter.job_id):
                return letter
    return None


def facts_of(letter: Letter) -> LetterFacts:
    """A letter without its message."""
    return {
        "id": letter.id,
        "job_id": letter.job_id,
        "code": letter.code,
        "reason": letter.reason,
        "failed_at": iso_or_none(letter.failed_at),
        "queue": letter.lies_in,
        "origin_queue": letter.origin,
        "bytes": len(letter.message),
    }


def details_of(letter: Letter) -> LetterDetails:
    """A letter with it."""
    try:
        words, coded = letter.message.decode(), None
    except UnicodeDecodeError:
        words, coded = None, base64.b64encode(letter.message).decode()
    return {**facts_of(letter), "message": words, "message_base64": coded, "message_key": letter.message_key}

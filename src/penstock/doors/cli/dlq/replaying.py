"""`penstock dlq replay`: have done again what failed, once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.dlq.listing import named
from penstock.doors.cli.dlq.shapes import LetterReplay, Replayed
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.facts import error_facts
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import dry_run, verb
from penstock.doors.cli.session import with_store
from penstock.doors.cli.shapes import SkippedFacts
from penstock.doors.cli.values import text
from penstock.doors.cli.words import plural
from penstock.model.errors import Refused
from penstock.model.letters import Letter, Replay
from penstock.ports.letters import Letters

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store

BEFORE = "before"


@verb(
    "replay",
    examples=(
        "penstock dlq replay LETTER",
        "penstock dlq replay --error ERR_FILE_NOT_FOUND",
        "penstock dlq replay --all --dry-run",
    ),
    shape=Replayed,
    notes=(
        "A job that failed runs again as a new job that names the old one.",
        "A message nobody made a job of goes back to the list it came by, byte for byte.",
        "Replaying a letter a second time does nothing and says so.",
        "Piped, a line is: letter, new job or nothing, how.",
        "It ends with 1 if a letter could not be replayed; the others are.",
    ),
)
@click.argument("letters", nargs=-1, type=text, metavar="[LETTER]...")
@click.option("--all", "every", is_flag=True, help="Every letter.")
@click.option("--error", "code", type=text, help="Every letter with this error code.")
@dry_run
@click.pass_obj
def replay(given: Given, letters: Sequence[str], every: bool, code: str | None, dry_run: bool) -> int:
    """Have done again what dead letters ask for."""
    if bool(letters) == (every or code is not None):
        raise click.UsageError("name letters, or say --all or --error CODE; not both")

    async def work(store: Store, settings: Settings) -> Replayed:
        from penstock.wiring.letters import letters_of

        there = letters_of(settings, store)
        done = Replayed(letters=[], skipped=[], dry_run=dry_run)
        if not letters:
            # Oldest first, as they came; and gathered before the first goes, for each one changes the list.
            for letter in reversed([letter async for letter in there.walk(code)]):
                await _replay(there, letter, done)
        for name in letters:
            await _replay_named(there, name, done)
        return done

    done = with_store(given, work)
    _print(given, done)
    return Exit.VALIDATION if done["skipped"] else Exit.OK


async def _replay_named(letters: Letters, name: str, done: Replayed) -> None:
    letter = await named(letters, name)
    if letter is not None:
        await _replay(letters, letter, done)
    elif (before := await letters.replayed(name)) is not None:
        done["letters"].append(_facts(before))
    else:
        unknown = Refused(f"there is no letter {name}", code="ERR_LETTER_UNKNOWN")
        done["skipped"].append(SkippedFacts(id=name, error=error_facts(unknown)))


async def _replay(letters: Letters, letter: Letter, done: Replayed) -> None:
    if done["dry_run"]:
        done["letters"].append(LetterReplay(id=letter.id, job_id=letter.job_id, new=None, how=None))
        return
    try:
        done["letters"].append(_facts(await letters.replay(letter)))
    except Refused as refused:
        done["skipped"].append(SkippedFacts(id=letter.id, error=error_facts(refused)))


def _facts(replay: Replay) -> LetterReplay:
    return {"id": replay.letter, "job_id": replay.job_id, "new": replay.new, "how": replay.how}


def _print(given: Given, done: Replayed) -> None:
    if given.as_json:
        output.document(done)
        return
    if done["letters"] and output.on_terminal():
        from penstock.doors.cli.dlq import pictures

        output.draw(pictures.replays(done["letters"]))
    else:
        output.lines((each["id"], each["new"], each["how"]) for each in done["letters"])
    for skipped in done["skipped"]:
        output.talk(output.clean(f"skipped {skipped['id']}: {skipped['error']['message']}"))
    fresh = [each for each in done["letters"] if each["how"] != BEFORE]
    output.talk(f"{plural(len(fresh), 'letter')} {'would be ' if done['dry_run'] else ''}replayed")
    if len(fresh) < len(done["letters"]):
        output.talk(
            f"{plural(len(done['letters']) - len(fresh), 'letter')} replayed before; nothing was done again"
        )

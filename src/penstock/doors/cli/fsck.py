"""`penstock fsck`: prove that everything kept agrees, and mend what does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

import click

from penstock.doors.cli import output
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import verb
from penstock.doors.cli.session import with_store
from penstock.doors.cli.words import plural

if TYPE_CHECKING:
    from penstock.model.diagnosis import Disagreement
    from penstock.settings import Settings
    from penstock.wiring.store import Store

LIMIT_MAX = 100_000


class FlawFacts(TypedDict):
    """Something that does not agree; `mended` is null unless a repair was asked for."""

    flaw: str
    about: str
    sentence: str
    document_id: str | None
    mended: bool | None


class Checked(TypedDict):
    """What was found; `clean` says that nothing is left to mend, `complete` that no limit was reached."""

    clean: bool
    complete: bool
    repaired: bool
    deep: bool
    counts: dict[str, int]
    flaws: list[FlawFacts]


@verb(
    "fsck",
    examples=("penstock fsck", "penstock fsck --repair", "penstock fsck --deep --json"),
    shape=Checked,
    notes=(
        "Piped, a line is: flaw, what it is about, mended or not, a sentence.",
        "It ends with 0 if all agrees or everything was mended, else with 2; also while a kind of flaw "
        "reaches `--limit`, since there may be more of it.",
        "Workers may go on meanwhile; documents that must be built anew are submitted as jobs.",
    ),
)
@click.option("--repair", is_flag=True, help="Mend what does not agree.")
@click.option("--deep", is_flag=True, help="Read everything: the database, every word, all stored bytes.")
@click.option(
    "--limit",
    type=click.IntRange(1, LIMIT_MAX),
    default=1000,
    show_default=True,
    metavar="N",
    help="Flaws of one kind that are told and mended in one run.",
)
@click.pass_obj
def command(given: Given, repair: bool, deep: bool, limit: int) -> int:
    """Prove that catalogue, vectors, words, bytes and queue agree."""

    async def work(store: Store, settings: Settings) -> Checked:
        from penstock.wiring.fsck import Audit

        audit = Audit(store, settings, limit=limit)
        flaws = await audit.flaws(deep=deep)
        mended = await audit.mend(flaws) if repair else [None] * len(flaws)
        return _checked(flaws, mended, deep=deep, repair=repair, limit=limit)

    found = with_store(given, work)
    _print(given, found)
    return Exit.OK if found["clean"] else Exit.EXECUTION


def _checked(
    flaws: Sequence[Disagreement], mended: Sequence[bool | None], *, deep: bool, repair: bool, limit: int
) -> Checked:
    counts = Counter(each.flaw.value for each in flaws)
    is_complete = all(count < limit for count in counts.values())
    return Checked(
        clean=all(mended) and is_complete,
        complete=is_complete,
        repaired=repair,
        deep=deep,
        counts=dict(counts),
        flaws=[
            FlawFacts(
                flaw=each.flaw.value,
                about=each.about,
                sentence=each.sentence,
                document_id=each.document,
                mended=is_mended,
            )
            for each, is_mended in zip(flaws, mended, strict=True)
        ],
    )


def _print(given: Given, found: Checked) -> None:
    if given.as_json:
        output.document(found)
        return
    if output.on_terminal():
        for each in found["flaws"]:
            click.echo(f"{_word(each):10} {each['flaw']:22} {output.clean(each['sentence'])}")
    else:
        output.lines((each["flaw"], each["about"], _word(each), each["sentence"]) for each in found["flaws"])
    output.talk(_sum(found))


def _word(each: FlawFacts) -> str:
    return {None: "wrong", True: "mended", False: "not mended"}[each["mended"]]


def _sum(found: Checked) -> str:
    count = len(found["flaws"])
    if not count:
        return "everything agrees"
    if not found["repaired"]:
        told = plural(count, "flaw") if found["complete"] else f"{plural(count, 'flaw')} and perhaps more"
        return f"{told}; to mend: penstock fsck --repair"
    left = sum(not each["mended"] for each in found["flaws"])
    if not left and not found["complete"]:
        return f"{plural(count, 'flaw')} mended, as many as --limit allows; there may be more: run it again"
    if left:
        return f"{plural(count, 'flaw')}, {left:,} not mended: submit those documents again"
    return f"{plural(count, 'flaw')}, all mended; documents that are built anew wait for a worker"

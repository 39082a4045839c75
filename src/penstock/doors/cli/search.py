"""`penstock search`: the passages that speak of a question, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from penstock.doors.answer_facts import found
from penstock.doors.answer_shapes import Found
from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import verb
from penstock.doors.cli.questions import Narrowed, asked, filtering, tell_notes, with_answers
from penstock.model.answers import Confidence, Findings

if TYPE_CHECKING:
    from penstock.answer.answers import Answers

TOP_MAX = 100
NEAREST = "Not found in your documents; these are the nearest passages, and none seems to speak of it."
NOTHING = "Not found in your documents."
WEAK = "The evidence is weak: perhaps none of these is what you look for."


@verb(
    "search",
    examples=(
        'penstock search "where does the cellar key hang"',
        'penstock search "notice period" --rag contracts --path ./contracts/2024 --top 3',
        'penstock search "notice period" --meta year=2024 --json',
    ),
    shape=Found,
    notes=(
        "A question of `-` is read from stdin.",
        "Piped, a line is: rank, score, collection, document id, place, start, end, text.",
        "It ends with 0 whether or not something was found; `found` in the document says which.",
    ),
)
@filtering
@click.option(
    "--top",
    type=click.IntRange(1, TOP_MAX),
    default=10,
    show_default=True,
    metavar="K",
    help="Passages at most.",
)
@click.pass_obj
def command(given: Given, /, top: int, **narrowed: Any) -> None:
    """Find the passages of your documents that speak of a question."""
    wish = Narrowed(**narrowed)
    words, filters = asked(wish.question), wish.filters()

    async def work(answers: Answers) -> Findings:
        return await answers.search(filters, words, top=top)

    show(given, found(with_answers(given, work)))


def show(given: Given, facts: Found) -> None:
    """Print what was found."""
    if given.as_json:
        output.document(facts)
        return
    _tell(facts)
    if output.on_terminal():
        from penstock.doors.cli import answer_tables

        output.draw(*answer_tables.hits(facts["question"], facts["hits"]))
    else:
        output.lines(
            (
                each["rank"],
                each["score"],
                each["collection"],
                each["document_id"],
                each["label"],
                each["start"],
                each["end"],
                "\n".join(span["text"] for span in each["spans"]),
            )
            for each in facts["hits"]
        )


def _tell(facts: Found) -> None:
    """What a person should know before reading on."""
    match facts["confidence"]:
        case Confidence.NONE:
            output.talk(NEAREST if facts["hits"] else NOTHING)
        case Confidence.WEAK:
            output.talk(WEAK)
    tell_notes(facts["notes"])

"""`penstock ask`: an answer from your documents, with the places it comes from."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any

import click

from penstock.doors.answer_facts import answered
from penstock.doors.answer_shapes import Answered
from penstock.doors.cli import output
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import verb
from penstock.doors.cli.questions import Narrowed, asked, filtering, tell_notes, with_answers
from penstock.model.answers import Answer, Delta, Finished
from penstock.model.errors import Broken

if TYPE_CHECKING:
    from penstock.answer.answers import Answers
    from penstock.answer.scoping import Filters


@verb(
    "ask",
    examples=(
        'penstock ask "where does the cellar key hang?"',
        'penstock ask "what is the notice period?" --rag contracts --json',
        "penstock ask - < question.txt",
    ),
    shape=Answered,
    notes=(
        "A question of `-` is read from stdin.",
        "Without a language model (`answerer` in the configuration) the best sentences are quoted.",
        "Its sources follow the answer, one a line: number, place, collection, document id, start, end.",
        "It ends with 0 whether or not something was found; `found` in the document says which.",
    ),
)
@filtering
@click.option("--quote", "only_quote", is_flag=True, help="Quote passages, and ask no language model.")
@click.option("--no-stream", is_flag=True, help="Print the answer when it is complete.")
@click.pass_obj
def command(given: Given, /, only_quote: bool, no_stream: bool, **narrowed: Any) -> None:
    """Answer a question from your documents, and say where the answer stands."""
    wish = Narrowed(**narrowed)
    words, filters = asked(wish.question), wish.filters()
    streams = not (no_stream or given.as_json)

    async def work(answers: Answers) -> Answer:
        return await _answer(answers, filters, words, only_quote=only_quote, streams=streams)

    answer = with_answers(given, work, language_model=not only_quote)
    show(given, answered(answer), is_written=streams)


def show(given: Given, facts: Answered, *, is_written: bool) -> None:
    """Print an answer, its words only where they are not written yet."""
    if given.as_json:
        output.document(facts)
        return
    if not is_written:
        write(facts["text"])
    click.echo()
    tell_notes(facts["notes"])
    _sources(facts)


async def _answer(
    answers: Answers, filters: Filters, words: str, *, only_quote: bool, streams: bool
) -> Answer:
    async with aclosing(answers.ask(filters, words, only_quote=only_quote)) as tellings:
        async for telling in tellings:
            match telling:
                case Delta(text=text) if streams:
                    write(text)
                case Finished(answer=answer):
                    return answer
                case _:
                    pass
    raise Broken("the answer has no end")


def write(text: str) -> None:
    """Words as they come: lines stay lines, other characters that could act on a terminal are written out."""
    click.echo("\n".join(map(output.clean, text.split("\n"))), nl=False)
    output.flush()


def _sources(facts: Answered) -> None:
    if not facts["citations"]:
        return
    click.echo()
    if output.on_terminal():
        from penstock.doors.cli import answer_tables

        output.draw(*answer_tables.sources(facts["citations"]))
        return
    output.lines(
        (
            f"[{each['number']}]",
            each["label"],
            each["collection"],
            each["document_id"],
            each["start"],
            each["end"],
        )
        for each in facts["citations"]
    )

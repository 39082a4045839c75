"""`penstock doctor`: what is wrong with a set-up, and what to do."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

import click

from penstock.doors.cli import output
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.given import CONFIG, Given
from penstock.doors.cli.grammar import verb
from penstock.doors.logs import set_up_logging
from penstock.model.diagnosis import Finding, Verdict

if TYPE_CHECKING:
    from penstock.settings import Settings

STYLES = {Verdict.OK: "green", Verdict.WARNING: "yellow", Verdict.WRONG: "red"}


WORD_WIDTH = max(map(len, Verdict))


class FindingFacts(TypedDict):
    """One thing that was looked at: `ok`, `warning` or `wrong`, a sentence, and what to do."""

    check: str
    verdict: str
    sentence: str
    advice: str


class Examined(TypedDict):
    """Everything that was looked at; `healthy` says that nothing is wrong."""

    healthy: bool
    findings: list[FindingFacts]


@verb(
    "doctor",
    examples=("penstock doctor", "penstock doctor --json"),
    shape=Examined,
    notes=(
        "Piped, a line is: verdict, check, sentence, what to do.",
        "It ends with 0 if nothing is wrong, with 2 if something is, and with 3 if the configuration cannot "
        "be read; warnings change nothing about that.",
        "It makes no data folder and changes no database.",
    ),
)
@click.pass_obj
def command(given: Given) -> int:
    """Say what is wrong with this set-up and what to do."""
    settings = given.settings()
    set_up_logging(settings.observability.log_level if given.log_level else "error")
    named = given.config or os.environ.get(CONFIG)
    found = asyncio.run(_examine(given, settings, None if not named else Path(named)))
    is_healthy = all(each.verdict is not Verdict.WRONG for each in found)
    if given.as_json:
        output.document(Examined(healthy=is_healthy, findings=[_facts(each) for each in found]))
    else:
        output.talk(_sum(found))
    return Exit.OK if is_healthy else Exit.EXECUTION


async def _examine(given: Given, settings: Settings, config: Path | None) -> list[Finding]:
    from penstock.wiring.doctor import examination

    found = []
    async for finding in examination(settings, config):
        found.append(finding)
        if not given.as_json:
            _print(finding)
    return found


def _print(finding: Finding) -> None:
    if not output.on_terminal():
        output.line(finding.verdict, finding.check, finding.sentence, finding.advice)
        return
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(width=WORD_WIDTH)
    grid.add_column(overflow="fold")
    grid.add_row(Text(finding.verdict, style=STYLES[finding.verdict]), Text(output.clean(finding.sentence)))
    if finding.advice:
        grid.add_row("", Text(output.clean(finding.advice), style="dim"))
    output.draw(grid)


def _facts(finding: Finding) -> FindingFacts:
    return FindingFacts(
        check=finding.check,
        verdict=finding.verdict.value,
        sentence=finding.sentence,
        advice=finding.advice,
    )


def _sum(found: list[Finding]) -> str:
    wrong = sum(each.verdict is Verdict.WRONG for each in found)
    warned = sum(each.verdict is Verdict.WARNING for each in found)
    if wrong:
        return f"{wrong} wrong, {warned} to know about"
    return "nothing is wrong" + (f", {warned} to know about" if warned else "")

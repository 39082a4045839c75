"""`penstock run`: the process contract's way to start a role."""

from __future__ import annotations

import click

from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import verb
from penstock.doors.cli.worker import supervise
from penstock.model.errors import Refused


@verb("run", examples=("penstock run --role=worker --config=penstock.yaml", "penstock run --role=all"))
@click.option(
    "--role",
    type=click.Choice(["producer", "worker", "all"]),
    default="all",
    show_default=True,
    help="What to run.",
)
@click.pass_obj
def command(given: Given, role: str) -> int:
    """Run a role of the system until told to stop."""
    settings = given.settings()
    if role == "producer":
        raise Refused("this version has no producer; use --role=worker or all", code="ERR_CONFIGURATION")
    return supervise(settings)

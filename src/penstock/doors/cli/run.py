"""`penstock run`: the process contract's way to start a role."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import Option, verb
from penstock.doors.cli.output import talk
from penstock.doors.cli.values import text
from penstock.doors.cli.worker import supervise
from penstock.doors.logs import set_up_logging

if TYPE_CHECKING:
    from penstock.settings import Settings


@verb("run", examples=("penstock run", "penstock run --role=worker --config=penstock.yaml"))
@click.option(
    "--role",
    type=click.Choice(["producer", "worker", "all"]),
    default="all",
    show_default=True,
    help="What to run.",
)
@click.option(
    "--port", cls=Option, metavar="N", variable="PENSTOCK_HTTP_PORT", help="The port the API listens on."
)
@click.option(
    "--sample",
    type=text,
    metavar="FOLDER",
    help="Where there is no collection yet, make one of this folder, named after it.",
)
@click.pass_obj
def command(given: Given, role: str, port: str | None, sample: str | None) -> int:
    """Run a role of the system until told to stop."""
    settings = given.settings({"http.port": port})
    if role == "producer":
        return produce(settings)
    if role == "worker":
        _take(settings, sample)
        return supervise(settings)
    from penstock.doors.http.listening import bound

    set_up_logging(settings.observability.log_level, strict=settings.profile != "production")
    # First of all: where the address is taken, nothing has been said or made.
    with bound(settings) as listening:
        _take(settings, sample)
        return supervise(settings, produces=True, listening=listening)


def _take(settings: Settings, sample: str | None) -> None:
    """Make the first collection of the folder, if there is to be one."""
    if sample is None:
        return
    from penstock.wiring.sample import take_sample

    made = asyncio.run(take_sample(settings, Path(sample).absolute()))
    if made is not None:
        talk(f"{sample} is being ingested as the collection {made}")


def produce(settings: Settings) -> int:
    """Run the producer alone; the code to end with."""
    from penstock.wiring.producing import run_producer

    set_up_logging(settings.observability.log_level, strict=settings.profile != "production")
    if settings.producer.scan_dir is not None:
        talk(f"producing from {settings.producer.scan_dir}; Ctrl-C ends")
    return run_producer(settings)

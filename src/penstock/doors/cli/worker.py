"""`penstock worker`: run jobs until told to stop."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import Option, verb
from penstock.doors.cli.output import talk
from penstock.doors.cli.values import text
from penstock.doors.logs import set_up_logging

if TYPE_CHECKING:
    from socket import socket

    from penstock.settings import Settings

QUESTION = "when does the job of a killed worker run again?"
"""What a newcomer may ask of docs/, the first collection; no apostrophe, for it is shown within a pair."""


@verb(
    "worker",
    examples=("penstock worker", "penstock worker --count 4 --concurrency 32"),
    notes=(
        "Ctrl-C or SIGTERM ends it: what runs may finish within `worker.grace`, the rest is handed back.",
        "A second one does not wait.",
    ),
)
@click.option("--count", cls=Option, metavar="N", variable="PENSTOCK_WORKER_COUNT", help="Worker processes.")
@click.option(
    "--concurrency",
    cls=Option,
    metavar="N",
    variable="PENSTOCK_WORKER_CONCURRENCY",
    help="Jobs one process runs at once.",
)
@click.option(
    "--handlers",
    type=text,
    metavar="MODULE:NAME",
    help="Handlers of your own: a Handlers value in a module on the path or in this folder.",
)
@click.pass_obj
def command(given: Given, count: str | None, concurrency: str | None, handlers: str | None) -> int:
    """Run jobs until told to stop."""
    flags = {"worker.count": count, "worker.concurrency": concurrency}
    return supervise(given.settings(flags), handlers)


def supervise(
    settings: Settings,
    handlers: str | None = None,
    *,
    produces: bool = False,
    listening: socket | None = None,
) -> int:
    """Run the worker processes the settings ask for, with producer if wanted; the exit code.

    With a socket the API answers there beside them.
    """
    from penstock.wiring.workers import run_supervisor

    set_up_logging(settings.observability.log_level, strict=settings.profile != "production")
    processes = "1 process" if settings.worker.count == 1 else f"{settings.worker.count} processes"
    talk(f"working on {settings.data} with {processes}; Ctrl-C finishes what runs and leaves the rest queued")
    where = "" if settings.data == Path("data") else f" --data {shlex.quote(str(settings.data))}"
    called = _called()
    talk("in another terminal, in this folder:")
    if handlers is None:
        talk(f'  {called} ask{where} "{QUESTION}"')
        talk(f"  {called} ingest submit{where} --rag NAME --path FILE_OR_FOLDER --wait")
        talk(f"  {called} collection list{where}")
    talk(f"  {called} queue status{where} --watch")
    if listening is None:
        return run_supervisor(settings, handlers=handlers, produces=produces)
    from penstock.doors.http.beside import serving_beside

    return run_supervisor(
        settings,
        handlers=handlers,
        produces=produces,
        others=lambda failed: serving_beside(
            settings, listening, lambda address: tell_address(settings, address), failed
        ),
    )


def tell_address(settings: Settings, address: str) -> None:
    """Where the API is, who may ask, and an example to paste."""
    talk(f"the API answers at {address}/api, described by {address}/api/openapi.json")
    if settings.auth.mode == "local":
        talk("  it asks for no token: only this machine is answered")
        shown = ""
    else:
        shown = " -H 'Authorization: Bearer TOKEN'"
    question = f'{{"question": "{QUESTION}"}}'
    talk(f"  curl{shown} {address}/api/query --json '{question}'")


def _called() -> str:
    """The program as it can be called from here: by its bare name only where a shell finds it so."""
    name, path = "penstock", Path(sys.argv[0])
    found = shutil.which(name)
    if path.name != name or not path.is_file() or (found is not None and path.samefile(found)):
        return name
    return shlex.quote(str(path))

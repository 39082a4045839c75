"""`penstock serve`: the API alone, beside workers that run elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import Option, verb
from penstock.doors.cli.worker import tell_address
from penstock.doors.logs import set_up_logging

if TYPE_CHECKING:
    from penstock.settings import Settings


@verb(
    "serve",
    examples=("penstock serve", "penstock serve --port 9000"),
    notes=("Ctrl-C or SIGTERM ends it: answers being written end as interrupted, everything else goes on.",),
)
@click.option("--host", cls=Option, metavar="ADDRESS", variable="PENSTOCK_HTTP_HOST", help="The address.")
@click.option("--port", cls=Option, metavar="N", variable="PENSTOCK_HTTP_PORT", help="The port.")
@click.pass_obj
def command(given: Given, host: str | None, port: str | None) -> int:
    """Answer requests until told to stop; jobs are run by `penstock worker`."""
    from penstock.wiring.loop import run

    settings = given.settings({"http.host": host, "http.port": port})
    set_up_logging(settings.observability.log_level, strict=settings.profile != "production")
    return run(_serve(settings))


async def _serve(settings: Settings) -> int:
    from penstock.doors.http.beside import until_told
    from penstock.doors.http.listening import bound

    with bound(settings) as listening:
        await until_told(settings, listening, lambda address: tell_address(settings, address))
    return 0

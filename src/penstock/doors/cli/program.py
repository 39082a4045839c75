"""The `penstock` command: where it starts, which commands it has, and how it ends."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from penstock.doors.cli.exits import Exit, tell
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import Noun, ReaderGone
from penstock.doors.cli.output import flush, settle_streams, talk
from penstock.doors.streams import finish, silence
from penstock.engines.system.cores import one_core_a_product

COMMANDS = {
    "ingest": ("penstock.doors.cli.ingest", "command"),
    "collection": ("penstock.doors.cli.collection", "command"),
    "search": ("penstock.doors.cli.search", "command"),
    "ask": ("penstock.doors.cli.ask", "command"),
    "queue": ("penstock.doors.cli.queue", "command"),
    "dlq": ("penstock.doors.cli.dlq", "command"),
    "admin": ("penstock.doors.cli.admin", "command"),
    "worker": ("penstock.doors.cli.worker", "command"),
    "run": ("penstock.doors.cli.run", "command"),
    "serve": ("penstock.doors.cli.serve", "command"),
    "doctor": ("penstock.doors.cli.doctor", "command"),
    "fsck": ("penstock.doors.cli.fsck", "command"),
    "migrate": ("penstock.doors.cli.migrate", "command"),
    "config": ("penstock.doors.cli.config", "command"),
    "reference": ("penstock.doors.cli.reference", "command"),
}
"""Every command and where it is; a module is loaded when its command is asked for."""

SENTENCES = {
    "ingest": "Hand in documents and see how far they are.",
    "collection": "Look at collections, make and delete them.",
    "search": "Find the passages of your documents that speak of a question.",
    "ask": "Answer a question from your documents, and say where the answer stands.",
    "queue": "Look at the queue and take it in hand.",
    "dlq": "Look at dead letters, replay or remove them.",
    "admin": "Look into the lists and keys of a queue, empty or measure it.",
    "worker": "Run jobs until told to stop.",
    "run": "Run a role of the system until told to stop.",
    "serve": "Answer requests until told to stop; jobs are run by `penstock worker`.",
    "doctor": "Say what is wrong with this set-up and what to do.",
    "fsck": "Prove that catalogue, vectors, words, bytes and queue agree.",
    "migrate": "Bring in what other programs have queued.",
    "config": "Look at the configuration.",
    "reference": "Print a reference page as Markdown.",
}
"""What each says of itself; a test keeps the two equal."""

EXAMPLES = (
    "penstock worker",
    "penstock collection create notes",
    "penstock ingest submit --rag notes --path report.pdf --wait",
    "penstock ask 'what does the report say?' --rag notes",
)


def _say_version(ctx: click.Context, _param: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from penstock import __version__

        click.echo(f"penstock {__version__}")
        ctx.exit()


program = Noun(
    "penstock",
    help="Documents in, answers out, nothing lost between.",
    examples=EXAMPLES,
    members=COMMANDS,
    sentences=SENTENCES,
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_say_version,
            help="Print the version and end.",
        )
    ],
)


def main() -> NoReturn:
    """Run the command line and end with its code."""
    one_core_a_product()
    code = run(sys.argv[1:])
    finish()
    sys.exit(code)


def run(argv: Sequence[str]) -> int:
    """Run one command; every end of it, good or bad, becomes an exit code here."""
    settle_streams()
    try:
        code = program.main(list(argv), prog_name="penstock", standalone_mode=False, obj=Given())
        flush()
    except (ReaderGone, BrokenPipeError):
        silence(sys.stdout)
        return Exit.OK
    except (KeyboardInterrupt, click.Abort):
        talk("interrupted; what was accepted stays queued, see: penstock queue status")
        return Exit.INTERRUPTED
    except Exception as error:  # told to the person, whatever it is
        return tell(error, as_json="--json" in argv)
    return code if isinstance(code, int) else Exit.OK

"""A program starts with what it needs: heavy packages are loaded by those who use them."""

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import click
import pytest

from penstock.doors.cli.program import COMMANDS, SENTENCES
from tests.house.tree import TOP

OURS = {"penstock", "tests"}
CODEC = {"msgspec", "typing_extensions"}
"""The codec, and what it brings along where it is installed."""


def loaded(code: str, folder: Path) -> set[str]:
    """The packages from outside that a fresh process has loaded after the code."""
    script = f"import json, sys\n{code}\nprint(json.dumps(sorted(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=TOP,
        env={"PENSTOCK_DATA": str(folder / "data"), "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    names = {name.partition(".")[0] for name in json.loads(ran.stdout.splitlines()[-1])}
    return {name for name in names if not name.startswith("_")} - set(sys.stdlib_module_names) - OURS


def command(*words: str) -> str:
    return f"from penstock.doors.cli.program import run\nassert run({list(words)!r}) == 0"


BEGUN = command("queue", "pause")


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        (command("--help"), {"click"}),
        (command("queue", "--help"), {"click", *CODEC}),
        (f"{BEGUN}\n{command('queue', 'status')}", {"click", *CODEC}),
        (command("queue", "submit", "--type", "content", "--payload", '{"content": "a"}'), {"click", *CODEC}),
        ("import penstock.doors.cli.worker, penstock.wiring.workers", {"click", *CODEC}),
        ("import penstock.doors.child, penstock.wiring.pipeline", CODEC),
    ],
    ids=["help", "help of a noun", "queue status", "queue submit", "supervisor", "worker process"],
)
def test_a_start_loads_no_package_it_does_not_use(code: str, allowed: set[str], tmp_path: Path) -> None:
    """No web framework, model, terminal painter, YAML or tracing where nobody asked for it."""
    assert loaded(code, tmp_path) <= allowed


@pytest.mark.parametrize("name", COMMANDS)
def test_the_first_page_says_of_a_command_what_it_says_itself(name: str) -> None:
    """The sentences stand beside the table, so that `penstock --help` loads no command."""
    module, attribute = COMMANDS[name]
    found = getattr(import_module(module), attribute)

    assert isinstance(found, click.Command)
    assert found.help == SENTENCES[name]

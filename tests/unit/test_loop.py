"""The loop of long-running processes."""

import asyncio
import subprocess
import sys

import pytest

from penstock.wiring.loop import run

HELP = """
import contextlib, io, sys
from penstock.doors.cli import main
sys.argv = ["penstock", "--help"]
with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
    main()
print("uvloop" in sys.modules)
"""


async def _whose() -> str:
    return type(asyncio.get_running_loop()).__module__


def test_the_quick_loop_is_taken() -> None:
    """What is run comes to its end on uvloop's."""
    assert run(_whose()).startswith("uvloop")


def test_without_it_asyncios_own_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system without uvloop is served as well."""
    monkeypatch.setitem(sys.modules, "uvloop", None)

    assert run(_whose()).startswith("asyncio")


def test_help_does_not_wait_for_it() -> None:
    """Importing it would be a part of every command's start."""
    told = subprocess.run([sys.executable, "-c", HELP], capture_output=True, text=True, check=True)

    assert told.stdout.split() == ["False"]

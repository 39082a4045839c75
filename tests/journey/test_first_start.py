"""`make run`: what a newcomer starts on an empty folder with the project's docs, and what README promises."""

from __future__ import annotations

import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.house.tree import TOP
from tests.support.command_line import Program
from tests.support.served import Served, serving
from tests.support.stalls import Machine
from tests.support.waiting import until

pytestmark = pytest.mark.timeout(600)
README = (TOP / "README.md").read_text(encoding="utf-8")
MAKEFILE = (TOP / "Makefile").read_text(encoding="utf-8")
MINUTE = 60.0
PATIENCE = 240.0
"""Seconds for what takes twenty on a machine that has time."""


class Installed(Program):
    """The script that installing makes, as `make run` starts it."""

    def command(self, *words: str | Path) -> list[str]:
        return [str(Path(sys.executable).with_name("penstock")), *map(str, words)]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """The program, run in a folder that holds the docs and nothing else."""
    (tmp_path / "docs").symlink_to(TOP / "docs")
    return Installed(tmp_path)


def states(program: Program) -> list[str]:
    """What became of the documents, as the table has it."""
    with closing(sqlite3.connect(f"file:{program.data}/penstock.db?mode=ro", uri=True)) as db:
        return [state for (state,) in db.execute("SELECT state FROM documents WHERE hidden_at IS NULL")]


def printed(served: Served, verb: str) -> list[str]:
    """The command of this verb, among those that were printed for another terminal, as words."""
    found = [line.split() and shlex.split(line) for line in served.lines if f"penstock {verb}" in line]
    assert len(found) == 1, served.lines
    return found[0]


def answers(served: Served, question: str) -> bool:
    """Whether something is found that speaks of it, by what is searchable so far."""
    reply = httpx.post(f"{served.address}/api/query", json={"question": question}, timeout=60)
    return reply.status_code == 200 and bool(reply.json()["citations"])


def test_a_newcomer_asks_within_a_minute(program: Program, machine: Machine) -> None:
    """Start, ingest docs/, ask by the command that was printed, end by Ctrl-C: as README says it."""
    command = re.search(r"@exec \$\(BIN\)/penstock (.+)", MAKEFILE)
    assert command is not None
    words = command[1].split()
    assert "make run    # install into .venv, start on ./data with docs/ as a first collection" in README
    wanted = sorted(path.name for path in (TOP / "docs").rglob("*.md"))

    begun = time.monotonic()
    with serving(program, *words) as served:
        asked = printed(served, "ask")
        until("a first answer is given", lambda: answers(served, asked[-1]), seconds=PATIENCE)
        waited, lost = time.monotonic() - begun, machine.lost(begun)
        until(
            "the docs are ingested",
            lambda: states(program).count("ingested") >= len(wanted),
            seconds=PATIENCE,
        )
        answer = subprocess.run(
            asked, cwd=program.folder, env=program.environment(), capture_output=True, text=True, timeout=120
        )
        reply = httpx.post(f"{served.address}/api/query", json={"question": asked[-1]}, timeout=60)
        served.process.send_signal(signal.SIGINT)
        code = served.ended()

    assert waited < MINUTE + lost
    said = "".join(served.lines)
    assert f"{words[-1]} is being ingested as the collection docs" in said
    assert states(program) == ["ingested"] * len(wanted)
    # The question README tells to ask is the one that is printed, and it is answered from the docs.
    assert f'.venv/bin/penstock ask "{asked[-1]}"' in README
    assert answer.returncode == 0, answer.stderr
    assert "runs again by itself, within 10 seconds" in answer.stdout.partition("[1]")[0]
    assert re.search(r"\[1\].*\.md", answer.stdout, re.DOTALL)
    assert reply.status_code == 200
    assert reply.json()["citations"]
    for verb in ("ingest submit", "collection list", "queue status"):
        assert printed(served, verb)
    assert "it asks for no token" in said
    assert code == 0, said
    assert not [line for line in served.lines if '"level": "error"' in line or "Traceback" in line]


def test_a_second_start_leaves_the_collection_alone(program: Program) -> None:
    """What was ingested stays; nothing is ingested again, and the questions go on being answered."""
    (program.folder / "docs").unlink()
    (program.folder / "docs").mkdir()
    (program.folder / "docs" / "keys.md").write_text("# Keys\n\nThe cellar key hangs behind the clock.\n")
    words = ("run", "--sample", "docs")
    with serving(program, *words) as first:
        until("it is ingested", lambda: states(program) == ["ingested"], seconds=PATIENCE)
        first.process.send_signal(signal.SIGINT)
        assert first.ended() == 0, "".join(first.lines)
    jobs = program.rows("queue_id")

    with serving(program, *words) as second:
        answer = program("ask", "where does the cellar key hang?")

    assert "is being ingested" not in "".join(second.lines)
    assert "behind the clock" in answer.out
    assert program.rows("queue_id") == jobs

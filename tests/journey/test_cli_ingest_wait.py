"""`penstock ingest submit --wait` beside a real worker: how it ends, and what is told on the way."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import PATIENCE, Program


@pytest.fixture
def working(program: Program) -> Iterator[Program]:
    """The program with a worker that runs until the test has ended."""
    with (program.folder / "worker.log").open("w") as log:
        import subprocess

        worker = subprocess.Popen(
            program.command("worker"),
            cwd=program.folder,
            env=program.environment(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
        try:
            assert program("collection", "create", "notes").code == 0
            yield program
        finally:
            worker.terminate()
            worker.wait(PATIENCE)


def a_folder(program: Program) -> Path:
    folder = program.folder / "docs"
    folder.mkdir()
    for name in ("one.md", "two.txt"):
        (folder / name).write_text(f"# {name}\n\nWater turns the turbine.\n", encoding="utf-8")
    return folder


def test_waiting_follows_documents_to_their_end(working: Program) -> None:
    """0 when all are searchable, 2 when one failed, which is told with its code; then all is mended."""
    folder = a_folder(working)
    submit = ("ingest", "submit", "--rag", "notes", "--wait", "--timeout", "50s")

    good = working(*submit, "--path", folder / "one.md")
    (folder / "late.md").touch()
    bad = working(*submit, "--path", folder, "--json")

    assert good.code == 0, good.err
    assert "1 done, 0 failed of 1 job" in good.err
    record = working.json("ingest", "status", "--job", good.lines[0])
    assert (record["status"], record["document_state"], record["chunks_created"]) == ("done", "ingested", 1)
    assert [stage["status"] for stage in record["stages"]] == ["success", "success"]
    assert bad.code == 2, bad.err
    told = json.loads(bad.out)["wait"]
    assert (told["end"], told["failed"]) == ("ended", 1)
    (failure,) = told["failures"]
    assert (failure["error"]["code"], failure["name"]) == ("ERR_FILE_EMPTY", str(folder / "late.md"))

    (folder / "late.md").write_text("written to the end", encoding="utf-8")
    (again,) = working.json("ingest", "retry", "--failed")["documents"]
    followed = working("ingest", "status", "--job", again["job_id"], "--follow")
    assert followed.code == 0, followed.out
    rebuilt = working("ingest", "reindex", "--rag", "notes", "--wait", "--timeout", "50s")
    assert rebuilt.code == 0, rebuilt.err
    assert "answers from its new index" in rebuilt.err
    assert working("fsck", "--deep").code == 0
    assert working(*submit, "--path", folder).code == 0  # the folder has not seen the mended file yet
    idle = working(*submit, "--path", folder)
    assert (idle.code, "nothing to do" in idle.err) == (0, True), idle.err


def test_what_a_folder_kept_back_is_told_at_the_end(working: Program) -> None:
    """What could not be read is told with path and why beside what was ingested, and the code stays 0."""
    folder = a_folder(working)
    os.mkfifo(folder / "pipe")
    submit = ("ingest", "submit", "--rag", "notes", "--wait", "--timeout", "50s", "--path", folder)

    ran = working(*submit)
    told = working.json(*submit)

    assert (ran.code, "2 done, 0 failed" in ran.err) == (0, True), ran.err
    assert f"left out: {folder}/pipe (special)\n" in ran.err
    assert told["overlooked"] == {"total": 1, "named": [f"{folder}/pipe (special)"]}


def test_waiting_for_a_submit_that_reindexes_waits_for_the_new_index_too(working: Program) -> None:
    """When the command is back the collection answers from the index it asked for, and says so."""
    folder = a_folder(working)
    submit = ("ingest", "submit", "--rag", "notes", "--reindex", "--wait", "--timeout", "50s")
    working(*submit[:4], "--wait", "--path", folder / "one.md")

    ran = working(*submit, "--path", folder / "two.txt")
    shown = working.json("collection", "show", "notes")
    told = working.json(*submit, "--path", folder / "one.md")

    assert (ran.code, "notes answers from its new index" in ran.err) == (0, True), ran.err
    assert (shown["building"], shown["documents"]["ingested"]) == (False, 2)
    assert (told["rebuilt"]["end"], told["rebuilt"]["done"], told["rebuilt"]["total"]) == ("ended", 2, 2)

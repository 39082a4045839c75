"""How the real program ends when something is wrong: one exit code per kind, one sentence, no traceback."""

import json
import sqlite3
from contextlib import closing

import pytest

from tests.support.command_line import Program, Ran
from tests.support.jobs import a_job

FILE = ("queue", "submit", "--type", "file", "--payload")


def told(ran: Ran) -> str:
    """The code in `error: message (CODE)`, checked to be the only thing that is told."""
    errors = [line for line in ran.err.splitlines() if not line.startswith(("  ", "note: "))]
    assert len(errors) == 1, ran.err
    assert errors[0].startswith("error: ")
    assert ran.out == ""
    return errors[0].rpartition("(")[2].removesuffix(")")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["queue", "show", "nobody"], "ERR_JOB_UNKNOWN"),
        (["queue", "explain", "nobody"], "ERR_JOB_UNKNOWN"),
        (["queue", "cancel", "nobody"], "ERR_JOB_UNKNOWN"),
        (["queue", "retry", "nobody"], "ERR_JOB_UNKNOWN"),
        (["queue", "list", "--before", "nobody"], "ERR_JOB_UNKNOWN"),
        (["queue", "list", "--type", "poem"], "ERR_ITEM_TYPE_UNKNOWN"),
        (["queue", "list", "--limit", "0"], "ERR_REFUSED"),
        (["queue", "show", b"\xff".decode(errors="surrogateescape")], "ERR_REFUSED"),
        (["queue", "retry"], "ERR_REFUSED"),
        (["queue", "pause", "--tenant", "a", "--type", "file"], "ERR_REFUSED"),
        (["queue", "status", "--interval", "soon"], "ERR_REFUSED"),
        (["queue", "lsit"], "ERR_REFUSED"),
        (["queue", "list", "--sate", "failed"], "ERR_REFUSED"),
        ([*FILE, "{"], "ERR_PAYLOAD_INVALID"),
        ([*FILE, "[]"], "ERR_PAYLOAD_INVALID"),
        ([*FILE, '{"file_path": "/a", "colour": "red"}'], "ERR_PAYLOAD_INVALID"),
        ([*FILE, '{"file_path": "/a\\u0000b"}'], "ERR_PATH_INVALID"),
        ([*FILE, '{"file_path": "/a"}', "--priority", "11"], "ERR_PRIORITY_INVALID"),
        ([*FILE, '{"file_path": "/a"}', "--op", "scan"], "ERR_OPERATION_INVALID"),
        ([*FILE, '{"file_path": "/a"}', "--id", "no spaces"], "ERR_JOB_ID_INVALID"),
        ([*FILE, '{"file_path": "/a"}', "--metadata", "[]"], "ERR_METADATA_INVALID"),
        ([*FILE, '{"file_path": "/a"}', "--at", "tomorrow"], "ERR_REFUSED"),
        (["queue", "submit", "--type", "poem", "--payload", "{}"], "ERR_ITEM_TYPE_UNKNOWN"),
        (["queue", "submit", "--payload", '{"file_path": "/a"}'], "ERR_ITEM_TYPE_UNKNOWN"),
        (["queue", "submit", "--type", "file"], "ERR_REFUSED"),
    ],
)
def test_a_wrong_request_ends_with_1(program: Program, words: list[str], code: str) -> None:
    """The caller must change the request."""
    program.begin()

    ran = program(*words)

    assert (ran.code, told(ran)) == (1, code)


def test_large_metadata_is_refused_and_nothing_is_stored(program: Program) -> None:
    """A megabyte of metadata is over the limit; the error says what to do."""
    line = json.dumps({"payload": {"file_path": "/a"}, "metadata": {"k": "x" * (1 << 20)}})

    ran = program("queue", "submit", "--type", "file", "-", stdin=line)

    assert (ran.code, told(ran)) == (1, "ERR_METADATA_TOO_LARGE")
    assert "  Raise limits.metadata_bytes." in ran.err.splitlines()
    assert program.rows() == []


@pytest.mark.parametrize(
    ("words", "key"),
    [
        (["--log-level", "loud", "queue", "status"], "observability.log_level"),
        (["--data", "", "queue", "status"], "data"),
        (["worker", "--count", "0"], "worker.count"),
        (["worker", "--concurrency", "many"], "worker.concurrency"),
    ],
)
def test_a_wrong_setting_ends_with_3_and_is_named(program: Program, words: list[str], key: str) -> None:
    """An option that is a setting is checked like one."""
    ran = program(*words)

    assert (ran.code, told(ran)) == (3, "ERR_CONFIGURATION")
    assert f"  {key} (" in ran.err


def test_every_unknown_key_is_named(program: Program) -> None:
    """All faults of a configuration are told together, with the line and what was probably meant."""
    file = program.folder / "penstock.yaml"
    file.write_text("worker:\n  cuont: 2\n", encoding="utf-8")

    ran = program("queue", "status", "--config", file, env={"PENSTOCK_WORKER_LEESE": "5m"})

    assert (ran.code, told(ran)) == (3, "ERR_CONFIGURATION")
    assert "worker.cuont" in ran.err
    assert "did you mean worker.count?" in ran.err
    assert "PENSTOCK_WORKER_LEESE" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["queue", "status"],
        ["worker"],
    ],
)
def test_an_engine_that_is_not_there_ends_with_3(program: Program, words: list[str]) -> None:
    """A configuration that names what this version does not have is wrong, whatever the command."""
    ran = program(*words, env={"PENSTOCK_DATABASE": "postgresql://db.example/penstock"})

    assert ran.code == 3
    assert "(ERR_CONFIGURATION)" in ran.err
    assert "Traceback" not in ran.err


def test_a_producer_needs_a_folder(program: Program) -> None:
    """Which key is missing is said plainly."""
    ran = program("run", "--role=producer")

    assert (ran.code, told(ran)) == (3, "ERR_CONFIGURATION")
    assert "producer.scan_dir" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["ask", "what"],
        ["search", "what"],
        ["queue", "status"],
        ["queue", "show", "nobody"],
        ["queue", "resume"],
        ["ingest", "list"],
        ["ingest", "submit", "--rag", "notes", "--text", "words"],
        ["ingest", "submit", "--rag", "notes", "--text", "words", "--dry-run"],
        ["collection", "list"],
        ["collection", "show", "notes"],
        ["dlq", "list"],
        ["admin", "stats"],
        ["fsck"],
    ],
    ids=" ".join,
)
def test_where_there_is_no_data_nothing_is_made(program: Program, words: list[str]) -> None:
    """Looking into a wrong folder leaves it as it was, and says which one it was and what to do."""
    ran = program(*words)

    assert (ran.code, ran.out, told(ran)) == (1, "", "ERR_STORE_MISSING")
    assert f"there is no data in {program.data}" in ran.err
    assert "  Name the right folder with --data." in ran.err.splitlines()
    assert not program.data.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["collection", "create", "notes"],
        ["queue", "submit", "--type", "content", "--payload", '{"content": "words"}'],
        ["queue", "pause"],
    ],
    ids=" ".join,
)
def test_what_begins_makes_the_folder_and_its_rehearsal_does_not(program: Program, words: list[str]) -> None:
    """A dry run answers as on an empty store, and leaves none."""
    rehearsed = program(*words, "--dry-run")
    assert (rehearsed.code, program.data.exists()) == (0, False)

    begun = program(*words)
    assert (begun.code, program.data.exists()) == (0, True)


@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_data_folder_that_cannot_be_made_ends_with_4(program: Program, place: str) -> None:
    """A file in the way of the folder is told with its path and what to do."""
    (program.folder / "file").write_text("not a folder", encoding="utf-8")

    ran = program("queue", "pause", "--data", program.folder / place)

    assert (ran.code, told(ran)) == (4, "ERR_STORE_READ_ONLY")
    assert place in ran.err
    assert "  Choose another with --data." in ran.err.splitlines()
    assert (program.folder / "file").read_text(encoding="utf-8") == "not a folder"


def test_a_damaged_database_ends_with_2(program: Program) -> None:
    """What is no database is left as it is."""
    program.data.mkdir()
    (program.data / "penstock.db").write_bytes(b"this is no database" * 100)

    ran = program("queue", "status")

    assert (ran.code, told(ran)) == (2, "ERR_STORE_CORRUPT")
    assert (program.data / "penstock.db").read_bytes().startswith(b"this is no database")


def test_a_database_of_a_newer_program_ends_with_1(program: Program) -> None:
    """A schema from the future is refused, not changed."""
    program.submit(a_job())
    with closing(sqlite3.connect(program.data / "penstock.db")) as db:
        db.execute("PRAGMA user_version = 999")

    ran = program("queue", "status")

    assert (ran.code, told(ran)) == (1, "ERR_STORE_TOO_NEW")


def test_a_locked_database_ends_with_4(program: Program) -> None:
    """Another program's open transaction is waited for as long as the settings say."""
    program.submit(a_job())
    with closing(sqlite3.connect(program.data / "penstock.db", isolation_level=None)) as db:
        db.execute("BEGIN IMMEDIATE")
        ran = program(*FILE, '{"file_path": "/a"}', env={"PENSTOCK_SQLITE_BUSY_TIMEOUT": "200ms"})

    assert (ran.code, told(ran)) == (4, "ERR_STORE_BUSY")
    assert len(program.rows()) == 1


def test_errors_are_objects_with_json(program: Program) -> None:
    """A program reads the code, a person's words and what to do from stderr."""
    program.begin()

    ran = program("queue", "list", "--state", "lost", "--json")
    unknown = program("queue", "show", "nobody", "--json")

    assert (ran.code, ran.out, ran.error["code"]) == (1, "", "ERR_REFUSED")
    assert ran.error["suggestions"] == ["See: penstock queue list --help"]
    assert set(unknown.error) == {"code", "message", "suggestions"}


def test_a_traceback_is_shown_only_while_debugging(program: Program) -> None:
    """PENSTOCK_DEBUG=1 adds where it came from and changes nothing else."""
    program.begin()

    ran = program("queue", "show", "nobody", env={"PENSTOCK_DEBUG": "1"})
    plain = program("queue", "show", "nobody")

    assert (ran.code, plain.code) == (1, 1)
    assert "Traceback" in ran.err
    assert "Traceback" not in plain.err
    assert ran.err.endswith(plain.err)
    assert plain.err.startswith("error: there is no job nobody (ERR_JOB_UNKNOWN)")

"""The real program on a terminal and in a pipe: tables, watching, Ctrl-C, a reader that goes away."""

import json
import os
import signal
import subprocess
from contextlib import suppress

import pytest

from penstock.doors.cli.shapes import Explained, Status
from tests.support.command_line import PATIENCE, Program, Terminal
from tests.support.documents import deviations
from tests.support.jobs import a_job, a_note, an_error

WATCH = ("queue", "status", "--watch", "--interval", "50ms")


def test_a_list_is_a_table_on_a_terminal(program: Program) -> None:
    """Whole ids and states, the end of a path that does not fit, and no cell broken into lines."""
    path = "/documents/a/rather/long/path/to/some/thing/of/interest/report.pdf"
    (failed,) = program.end(a_job(path), error=an_error("ERR_TIMEOUT"))
    (note,) = program.submit(a_note())

    ran = program.on_terminal("queue", "list", columns=80)

    lines = ran.out.splitlines()
    assert ran.code == 0
    assert lines[0].split() == ["JOB", "STATE", "ABOUT", "ERROR", "AGE"]
    assert [line.split()[:2] for line in lines[1:]] == [[note, "ready"], [failed, "failed"]]
    assert "report.pdf" in lines[2]
    assert max(map(len, lines)) <= 80


def test_letters_are_a_table_on_a_terminal(program: Program) -> None:
    """With its id whole and the start of its reason; shown alone, a letter is a fact a line."""
    (job,) = program.end(
        a_job("/documents/report.pdf"), error=an_error("ERR_TIMEOUT", "it took \x1b[2J long")
    )

    listed = program.on_terminal("dlq", "list", columns=80)
    shown = program.on_terminal("dlq", "show", job, columns=80)
    replayed = program.on_terminal("dlq", "replay", job, columns=80)

    assert [ran.code for ran in (listed, shown, replayed)] == [0, 0, 0]
    for ran in (listed, shown, replayed):
        assert "\t" not in ran.out
    head, line = listed.out.splitlines()
    assert head.split() == ["LETTER", "ERROR", "REASON", "FAILED"]
    assert line.split()[:4] == [job, "ERR_TIMEOUT", "it", "took"]
    assert ["code", "ERR_TIMEOUT"] in [each.split() for each in shown.out.splitlines()]
    assert replayed.out.splitlines()[0].split() == ["LETTER", "NEW", "JOB", "HOW"]
    assert program("dlq", "list").cells[0][:3] == [job, job, "ERR_TIMEOUT"]


def test_colours_are_for_terminals(program: Program) -> None:
    """A terminal sees colours; a pipe sees none."""
    program.submit(a_job())

    terminal = Terminal(program.command("queue", "list"), program.environment(), program.folder, 100)
    terminal.wait()

    assert "\x1b[36mready" in terminal.raw
    assert "\x1b" not in program("queue", "list").out


def test_nothing_in_a_document_steers_the_terminal(program: Program) -> None:
    """Escape sequences in names and errors are written out, square brackets are no markup."""
    (job,) = program.end(a_job("/documents/[bold]\x1b[2J.txt"), error=an_error(message="\x1b]0;title\x07"))

    for words in (["queue", "show", job], ["queue", "explain", job], ["queue", "list"]):
        terminal = Terminal(program.command(*words), program.environment(), program.folder, 200)
        assert terminal.wait() == 0
        assert "\x1b[2J" not in terminal.raw
        assert "\x1b]0" not in terminal.raw
    assert r"[bold]\x1b[2J.txt" in program.on_terminal("queue", "list", columns=200).out


def test_status_on_a_terminal_says_that_nobody_works(program: Program) -> None:
    """The picture holds the counts and, plainly, what is missing."""
    program.submit(a_job())

    ran = program.on_terminal("queue", "status")

    assert ran.out.splitlines()[0].split()[:2] == ["ready", "1"]
    assert "No worker is alive" in ran.out


def test_watching_a_terminal_redraws_and_ends_with_ctrl_c(program: Program) -> None:
    """A submit from elsewhere shows up in place; Ctrl-C ends it well, the cursor comes back."""
    program.submit(a_job())
    terminal = Terminal(program.command(*WATCH), program.environment(), program.folder, 100)
    terminal.read_until(lambda text: "ready" in text)

    program.submit(a_job())
    terminal.read_until(lambda text: text.rpartition("ready")[2].split()[:1] == ["2"])
    terminal.interrupt()

    assert terminal.wait() == 0
    assert "\x1b[1A" in terminal.raw, "it redraws in place"
    assert terminal.raw.rstrip().endswith("\x1b[?25h"), "the cursor is shown again"


@pytest.mark.parametrize("form", ["text", "json"])
def test_watching_in_a_pipe_prints_a_line_per_change(program: Program, form: str) -> None:
    """As long as nothing changes nothing is printed; each line is whole when it comes."""
    program.submit(a_job())
    watching = program.start(*WATCH, *(["--json"] if form == "json" else []))
    assert watching.stdout is not None
    first = watching.stdout.readline()

    program.submit(a_job())
    second = watching.stdout.readline()
    watching.send_signal(signal.SIGINT)
    rest, _ = watching.communicate(timeout=PATIENCE)

    assert (watching.returncode, rest) == (0, "")
    if form == "json":
        documents = [json.loads(line) for line in (first, second)]
        assert [deviations(each, Status) for each in documents] == [[], []]
        assert [each["counts"]["ready"] for each in documents] == [1, 2]
    else:
        assert (" ready=1 " in first, " ready=2 " in second) == (True, True)


@pytest.mark.parametrize("word", ["status", "list"])
def test_watching_ends_with_its_reader_though_nothing_changes(program: Program, word: str) -> None:
    """`penstock queue status --watch | head -1` comes back."""
    program.submit(a_job())
    with program.start("queue", word, "--watch", "--interval", "50ms") as watching:
        assert watching.stdout is not None
        assert watching.stdout.readline()

        watching.stdout.close()

        try:
            assert watching.wait(timeout=PATIENCE) == 0
        finally:
            watching.kill()


def test_a_list_that_is_watched_prints_what_changes(program: Program) -> None:
    """A job that is new has its line, one that has changed has it again, all others have none."""
    (first,) = program.submit(a_job())
    watching = program.start("queue", "list", "--watch", "--interval", "50ms")
    assert watching.stdout is not None
    lines = [watching.stdout.readline()]

    (second,) = program.submit(a_job())
    lines.append(watching.stdout.readline())
    program("queue", "cancel", first)
    lines.append(watching.stdout.readline())
    watching.send_signal(signal.SIGINT)
    rest, _ = watching.communicate(timeout=PATIENCE)

    assert (watching.returncode, rest) == (0, "")
    seen = [tuple(line.split("\t")[:2]) for line in lines]
    assert seen == [(first, "ready"), (second, "ready"), (first, "cancelled")]


def test_an_explanation_that_is_watched_ends_with_its_job(program: Program) -> None:
    """Each sentence is told once, the last one says how the job ended."""
    (job,) = program.submit(a_job())
    watching = program.start("queue", "explain", job, "--watch", "--interval", "50ms", "--json")
    assert watching.stdout is not None
    first = json.loads(watching.stdout.readline())

    program("queue", "cancel", job)
    rest, _ = watching.communicate(timeout=PATIENCE)

    last = json.loads(rest)
    assert watching.returncode == 0
    assert [deviations(each, Explained) for each in (first, last)] == [[], []]
    assert "No worker is alive" in first["sentence"]
    assert "cancelled" in last["sentence"]


def test_a_reader_that_goes_away_ends_the_program_quietly(program: Program) -> None:
    """`penstock … | head` says nothing about a broken pipe."""
    program.submit(a_job())
    watching = program.start(*WATCH)
    assert watching.stdout is not None
    watching.stdout.readline()
    watching.stdout.close()

    program.submit(a_job())

    assert watching.wait(PATIENCE) == 0
    assert watching.stderr is not None
    assert watching.stderr.read() == ""
    watching.stderr.close()


def test_bulk_submit_goes_on_when_nobody_reads_the_ids(program: Program) -> None:
    """The jobs are wanted even if their ids are not."""
    lines = "".join(f'{{"file_path": "/documents/{number}.txt"}}\n' for number in range(4))
    process = subprocess.Popen(
        program.command("queue", "submit", "--type", "file", "-"),
        env=program.environment({"PENSTOCK_LIMITS_BULK": "2"}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    process.stdout.close()

    process.stdin.write(lines.encode())
    process.stdin.close()

    assert process.wait(PATIENCE) == 0
    assert len(program.rows()) == 4


def test_ctrl_c_leaves_what_was_accepted_and_says_so(program: Program) -> None:
    """A bulk submit that is stopped keeps the portions it has printed."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        program.command("queue", "submit", "--type", "file", "-"),
        env=program.environment({"PENSTOCK_LIMITS_BULK": "1"}),
        stdin=reader,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(reader)
    os.write(writer, b'{"file_path": "/documents/1.txt"}\n{"file_path": "/documents/2.txt"}\n')
    assert process.stdout is not None
    ids = [process.stdout.readline().strip() for _ in range(2)]

    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    with suppress(OSError):
        os.close(writer)

    assert process.returncode == 130
    assert "what was accepted stays queued" in err
    assert [row[0] for row in program.rows()] == ids


def test_output_survives_any_locale(program: Program) -> None:
    """A name the locale cannot write is escaped, not a crash."""
    program.submit(a_job("/documents/résumé→.txt"))

    ran = program("queue", "list", env={"PYTHONIOENCODING": "latin-1"})

    assert ran.code == 0
    assert r"\u2192.txt" in ran.out


@pytest.mark.parametrize("typed", ["\x04", "n\n"], ids=["end of input", "no"])
def test_a_deletion_that_was_not_confirmed_says_that_nothing_was_deleted(
    program: Program, typed: str
) -> None:
    """Ending the input and saying no are the same answer to the question."""
    program("collection", "create", "drafts")
    terminal = Terminal(
        program.command("collection", "delete", "drafts"), program.environment(), program.folder, 100
    )
    terminal.read_until(lambda text: "[y/N]" in text)

    terminal.type(typed)

    assert terminal.wait() == 130
    assert "nothing was deleted; drafts is as it was" in terminal.text
    assert "queued" not in terminal.text
    assert "drafts" in program("collection", "list").out

"""Streams that cannot be written: talk is only talk, but an answer nobody got is a failure."""

import subprocess
from collections.abc import Iterator
from typing import IO

import pytest

from tests.support.command_line import PATIENCE, Program
from tests.support.jobs import a_note

NOTE = ("queue", "submit", "--type", "content", "--payload", '{"content": "a note"}')


@pytest.fixture
def full() -> Iterator[IO[bytes]]:
    """A disk without room for another byte."""
    with open("/dev/full", "wb") as disk:
        yield disk


@pytest.fixture(params=["", "1"], ids=["buffered", "unbuffered"])
def unbuffered(request: pytest.FixtureRequest) -> dict[str, str]:
    """What Python keeps back meets the full disk only at the very end."""
    return {"PYTHONUNBUFFERED": str(request.param)}


def run(
    program: Program,
    *words: str,
    env: dict[str, str],
    out: int | IO[bytes] = subprocess.PIPE,
    err: int | IO[bytes] = subprocess.PIPE,
) -> tuple[int, str]:
    """The exit code, and what reached the streams that can be read."""
    ran = subprocess.run(
        program.command(*words),
        cwd=program.folder,
        env=program.environment(env),
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        timeout=PATIENCE,
        check=False,
    )
    return ran.returncode, ((ran.stdout or b"") + (ran.stderr or b"")).decode()


def test_talk_that_cannot_be_written_is_no_failure(
    program: Program, full: IO[bytes], unbuffered: dict[str, str]
) -> None:
    """The id was printed, so the submit went well, whatever became of the words beside it."""
    code, said = run(program, *NOTE, env=unbuffered, err=full)

    assert code == 0
    assert [(said.strip(), "pending")] == program.rows("queue_id, status")


def test_an_answer_that_cannot_be_written_is_a_failure_and_the_job_is_kept(
    program: Program, full: IO[bytes], unbuffered: dict[str, str]
) -> None:
    """Nobody got the id, so it must not look as if all were well; what was accepted stays accepted."""
    code, said = run(program, *NOTE, env=unbuffered, out=full)

    assert code == 2
    assert "1 job submitted: 1 created" in said
    assert [status for (status,) in program.rows("status")] == ["pending"]


@pytest.mark.parametrize("words", [NOTE, (*NOTE, "--json"), ("queue", "list")])
def test_an_answer_that_nobody_can_be_told_about_is_a_failure(
    program: Program, full: IO[bytes], unbuffered: dict[str, str], words: tuple[str, ...]
) -> None:
    """With both streams full the exit code is all that is left, and it is the right one."""
    program.submit(a_note())

    assert run(program, *words, env=unbuffered, out=full, err=full) == (2, "")


def test_a_refusal_that_cannot_be_written_keeps_its_exit_code(
    program: Program, full: IO[bytes], unbuffered: dict[str, str]
) -> None:
    """Also while debugging, when there is a traceback to write."""
    for debug in ("0", "1"):
        chosen = {**unbuffered, "PENSTOCK_DEBUG": debug}
        assert run(program, "queue", "show", "nobody", env=chosen, err=full) == (1, "")

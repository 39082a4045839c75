"""`penstock dlq` on the letters of a real Redis, seen by a bare client, and on failed jobs of a database."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.model.errors import ErrorReport
from penstock.model.outcomes import Failed
from penstock.settings import RedisServer
from tests.support.jobs import a_job
from tests.support.near_program import NearProgram
from tests.support.redis_program import DEAD, QUEUE, RedisProgram

MISSING = ErrorReport(code="ERR_FILE_NOT_FOUND", message="there is no such file")
TORN = b'{torn \x00 "text"'
NO_TEXT = b"\xff\xfe{}"


@pytest.fixture
def yard(tmp_path: Path, redis: RedisServer) -> Iterator[RedisProgram]:
    made = RedisProgram(tmp_path, redis)
    yield made
    made.bare.close()


def test_a_refused_message_is_shown_and_goes_back_byte_for_byte(yard: RedisProgram) -> None:
    """Its bytes stand in the list they came by, once, however often it is replayed."""
    yard.push(TORN, f"{QUEUE}:high")
    yard.push(NO_TEXT)
    yard.worked()

    letters = yard.json("dlq", "list")["letters"]
    torn = next(each for each in letters if each["origin_queue"] == f"{QUEUE}:high")
    shown = [yard.json("dlq", "show", each["id"]) for each in letters]
    first = yard.json("dlq", "replay", torn["id"])
    again = yard("dlq", "replay", torn["id"])

    assert {each["code"] for each in letters} == {"ERR_MESSAGE_INVALID"}
    assert {each["message"] for each in shown} == {TORN.decode(), None}
    assert {base64.b64decode(each["message_base64"] or "") for each in shown} == {b"", NO_TEXT}
    assert [each["how"] for each in first["letters"]] == ["pushed"]
    assert (again.code, again.cells) == (0, [[torn["id"], "", "before"]])
    assert "nothing was done again" in again.err
    assert yard.bare.call("LRANGE", f"{QUEUE}:high", 0, -1) == [TORN]
    assert yard.bare.call("LLEN", DEAD) == 1


def test_a_message_too_large_for_its_letter_goes_back_whole(yard: RedisProgram) -> None:
    """Its bytes lie under a key that `show` names; once they have expired, a replay is refused."""
    large = yard.push(yard.message(1, note="a" * (9 << 20)))
    yard.worked()

    (letter,) = yard.json("dlq", "list")["letters"]
    key = yard.json("dlq", "show", letter["id"])["message_key"]
    held = yard.bare.call("GET", key)
    first = yard.json("dlq", "replay", letter["id"])
    back = yard.bare.call("LRANGE", QUEUE, 0, -1)
    yard.worked()
    (again,) = yard.json("dlq", "list")["letters"]
    yard.bare.call("DEL", key)
    refused = yard("dlq", "replay", again["id"])

    assert letter["code"] == "ERR_PAYLOAD_TOO_LARGE"
    assert held == large
    assert [each["how"] for each in first["letters"]] == ["pushed"]
    assert back == [large]
    assert refused.code != 0
    assert key in refused.err
    assert (yard.bare.call("LLEN", QUEUE), yard.bare.call("LLEN", DEAD)) == (0, 1)


def test_everything_that_failed_with_one_error_runs_again_once(yard: RedisProgram) -> None:
    """Each as a new job that names the old one; other letters stay."""
    jobs = [str(yard.message(number)["job_id"]) for number in range(3)]
    for number in range(3):
        yard.push(yard.message(number))
    yard.push(TORN)
    assert sorted(yard.worked(Failed(MISSING))) == jobs

    letters = yard.json("dlq", "list", "--error", MISSING.code)["letters"]
    rehearsed = yard.json("dlq", "replay", "--error", MISSING.code, "--dry-run")
    first = yard.json("dlq", "replay", "--error", MISSING.code)
    second = yard.json("dlq", "replay", "--error", MISSING.code)
    named = yard.json("dlq", "replay", jobs[0], letters[0]["id"])

    assert sorted(each["job_id"] for each in letters) == jobs
    assert [each["how"] for each in rehearsed["letters"]] == [None] * 3
    assert sorted(each["job_id"] for each in first["letters"]) == jobs
    assert [each["how"] for each in first["letters"]] == ["created"] * 3
    assert second["letters"] == []
    assert [each["how"] for each in named["letters"]] == ["before"] * 2
    new = {each["new"]: each["job_id"] for each in first["letters"]}
    assert {named["letters"][0]["new"]} <= set(new)
    assert {yard.json("queue", "show", each)["replay_of"] for each in new} == set(jobs)
    assert {yard.shown(each)["status"] for each in new} == {"queued"}
    assert yard.bare.call("LLEN", DEAD) == 1


def test_a_letter_of_another_make_and_another_list_is_a_letter(tmp_path: Path, redis: RedisServer) -> None:
    """A bare message in the documented list is found though another list is configured."""
    yard = RedisProgram(tmp_path, redis, worker={"dead_letter_list": "jobs:dead"})
    lone = yard.push(yard.message(1), DEAD)
    yard.push(TORN)
    yard.worked()

    letters = yard.json("dlq", "list")["letters"]
    said = yard.json("dlq", "replay", "--all")

    assert [(each["queue"], each["code"]) for each in letters] == [
        ("jobs:dead", "ERR_MESSAGE_INVALID"),
        (DEAD, None),
    ]
    assert [each["how"] for each in said["letters"]] == ["pushed", "pushed"]
    assert sorted(yard.bare.call("LRANGE", QUEUE, 0, -1)) == sorted([TORN, lone])
    yard.bare.close()


@pytest.mark.parametrize("command", [("dlq", "purge"), ("admin", "purge-dlq")], ids=["dlq", "admin"])
def test_letters_are_removed_only_when_that_is_meant(yard: RedisProgram, command: tuple[str, str]) -> None:
    """Without --yes they are counted and the command ends with 1; the jobs behind them stay."""
    yard.push(yard.message(1))
    yard.push(TORN)
    (job,) = yard.worked(Failed(MISSING))

    refused = yard(*command)
    assert (refused.code, refused.cells) == (1, [["would_remove", "2"]])
    assert "--yes" in refused.err
    assert yard.bare.call("LLEN", DEAD) == 2
    assert yard(*command, "--dry-run").code == 0
    assert yard(*command, "--yes").cells == [["removed", "2"]]
    assert yard.bare.call("EXISTS", DEAD) == 0
    assert yard.json("queue", "show", job)["state"] == "failed"


def test_only_old_letters_are_removed(yard: RedisProgram) -> None:
    """`--older-than` is measured by when each failed."""
    old = {"message": "{}", "code": "ERR_X", "reason": "x", "failed_at": "2020-01-01T00:00:00.000Z"}
    yard.bare.call("RPUSH", DEAD, json.dumps(old, separators=(",", ":")))
    yard.push(TORN)
    yard.worked()

    assert yard("dlq", "purge", "--older-than", "1d", "--yes").cells == [["removed", "1"]]
    assert yard.bare.call("LLEN", DEAD) == 1


def test_failed_jobs_of_a_database_are_letters_too(tmp_path: Path) -> None:
    """Listed, shown with their payload, replayed once and removed, with the same words."""
    program = NearProgram(tmp_path)
    jobs = program.end(a_job("/tmp/a.txt"), a_job("/tmp/b.txt"), error=MISSING)

    listed = program.json("dlq", "list", "--limit", "1")
    shown = program.json("dlq", "show", jobs[0])
    first = program.json("dlq", "replay", "--error", MISSING.code)
    again = program.json("dlq", "replay", *jobs)
    unknown = program("dlq", "replay", "nobody")

    assert [each["id"] for each in listed["letters"]] == [jobs[1]]
    assert listed["next_before"] == jobs[1]
    assert json.loads(shown["message"])["file_path"] == "/tmp/a.txt"
    assert [each["job_id"] for each in first["letters"]] == jobs
    assert [each["how"] for each in again["letters"]] == ["before", "before"]
    assert [each["new"] for each in again["letters"]] == [each["new"] for each in first["letters"]]
    assert unknown.code == 1
    assert program("dlq", "purge").code == 1
    assert program("dlq", "purge", "--yes").cells == [["removed", "2"]]

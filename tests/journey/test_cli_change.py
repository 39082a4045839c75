"""Changing the queue with the real program: submit, retry, cancel, pause, resume, clean, dead letters."""

import getpass
import json
import sqlite3
import time
from contextlib import closing
from typing import Any

from penstock.doors.cli.shapes import Cancelled, Held, Removed, Retried, Submitted
from penstock.model.jobs import WorkerId
from penstock.wiring.store import Store
from tests.support.command_line import Program
from tests.support.documents import deviations
from tests.support.jobs import a_delete, a_job, an_error

FAILED = an_error("ERR_TIMEOUT", "it ran too long")
FILE = ("queue", "submit", "--type", "file", "--payload", '{"file_path": "/documents/a.txt"}')


def age(program: Program, job_id: str, days: int) -> None:
    """Let a job have ended so long ago."""
    then = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(time.time() - days * 86_400))
    with closing(sqlite3.connect(program.data / "penstock.db")) as db, db:
        db.execute(
            "UPDATE unified_queue SET created_at = ?, updated_at = ? WHERE queue_id = ?", (then, then, job_id)
        )


def test_submit_prints_the_id_of_a_stored_job(program: Program) -> None:
    """The id on stdout is a row of the documented table, with the defaults of a local user."""
    ran = program(*FILE, "--priority", "high")

    (row,) = program.rows("queue_id, item_type, op, tenant_id, collection, priority, status, max_retries")
    assert (ran.code, ran.out) == (0, f"{row[0]}\n")
    assert row[1:] == ("file", "ingest", "local", "default", 9, "pending", 3)
    assert ran.err == "1 job submitted: 1 created\n"


def test_submit_takes_every_option(program: Program) -> None:
    """Id, tenant, collection, operation, time and metadata reach the row."""
    words = ["--id", "mine", "--tenant", "acme", "--collection", "letters", "--op", "delete"]
    program(*FILE, *words, "--at", "2030-01-31T08:00:00", "--metadata", '{"k": 1}')

    columns = "queue_id, tenant_id, collection, op, next_run_at, metadata"
    assert program.rows(columns) == [
        ("mine", "acme", "letters", "delete", "2030-01-31T08:00:00.000000Z", '{"k":1}')
    ]


def test_submitting_an_id_again_makes_no_second_job(program: Program) -> None:
    """A lost reply is repaired by saying the same again."""
    documents = [program.json(*FILE, "--id", "mine") for _ in range(2)]

    assert [deviations(each, Submitted) for each in documents] == [[], []]
    assert [each["jobs"] for each in documents] == [
        [{"job_id": "mine", "how": "created"}],
        [{"job_id": "mine", "how": "existing"}],
    ]
    assert len(program.rows()) == 1


def test_an_operation_that_is_the_only_one_need_not_be_named(program: Program) -> None:
    """A rename is an update, whoever asks."""
    program("queue", "submit", "--type", "rename", "--payload", '{"old_path": "/a", "new_path": "/b"}')

    assert program.rows("item_type, op") == [("rename", "update")]


def test_lines_on_stdin_are_payloads_or_whole_jobs(program: Program) -> None:
    """Bulk takes one object a line; what a line leaves out, the options say."""
    lines = [
        {"file_path": "/documents/1.txt"},
        {"payload": {"content": "note"}, "type": "content", "tenant": "acme", "priority": 9, "id": "two"},
        {"payload": {"file_path": "/documents/3.txt"}, "op": "delete", "at": "+1h"},
    ]
    stdin = "\n\n".join(json.dumps(line) for line in lines)

    ran = program("queue", "submit", "--type", "file", "--collection", "c", "-", stdin=stdin)

    rows = program.rows("queue_id, item_type, op, tenant_id, collection, priority, next_run_at IS NOT NULL")
    assert ran.code == 0, ran.err
    assert ran.lines == [row[0] for row in rows]
    assert [row[1:] for row in rows] == [
        ("file", "ingest", "local", "c", 5, 0),
        ("content", "ingest", "acme", "c", 9, 0),
        ("file", "delete", "local", "c", 5, 1),
    ]
    assert rows[1][0] == "two"


def test_a_bad_line_names_itself_and_its_portion_leaves_nothing(program: Program) -> None:
    """Portions before it are accepted and told; the one that holds it is not."""
    good = [json.dumps({"file_path": f"/documents/{number}.txt"}) for number in range(3)]
    stdin = "\n".join([*good, '{"file_path": "relative.txt"}'])

    ran = program(
        "queue", "submit", "--type", "file", "-", "--json", stdin=stdin, env={"PENSTOCK_LIMITS_BULK": "2"}
    )

    assert ran.code == 1
    assert ran.error["code"] == "ERR_PATH_INVALID"
    assert ran.error["message"].startswith("line 4: ")
    assert [each["job_id"] for each in json.loads(ran.out)["jobs"]] == [row[0] for row in program.rows()]
    assert len(program.rows()) == 2


def test_retry_replays_ended_jobs_and_names_both(program: Program) -> None:
    """A line is the old id and the new one; the new job names the old."""
    (old,) = program.end(a_job(), error=FAILED)

    ran = program("queue", "retry", old)

    assert ran.code == 0
    assert [cells[0] for cells in ran.cells] == [old]
    assert program.rows("queue_id, status, replay_of")[1] == (ran.cells[0][1], "pending", old)


def test_retry_of_all_leaves_out_what_was_meant_to_end_or_runs_again(program: Program) -> None:
    """Cancelled and superseded jobs stay ended, a second call replays nothing, --error names any code."""
    (failed,) = program.end(a_job(), error=FAILED)
    (cancelled,) = program.submit(a_job())
    program.submit(a_job("/documents/gone.txt"), a_delete("/documents/gone.txt"))
    program("queue", "cancel", cancelled)

    first, second = (program.json("queue", "retry", "--all-failed") for _ in range(2))
    named = program.json("queue", "retry", "--all-failed", "--error", "ERR_CANCELLED")

    assert deviations(first, Retried) == []
    assert [each["old"] for each in first["jobs"]] == [failed]
    assert second["jobs"] == []
    assert [each["old"] for each in named["jobs"]] == [cancelled]


def test_a_job_that_cannot_run_again_holds_back_no_other(program: Program) -> None:
    """A payload spoilt by hand is skipped with its reason."""
    spoilt, good = program.end(a_job(), a_job(), error=FAILED)
    with closing(sqlite3.connect(program.data / "penstock.db")) as db, db:
        db.execute("UPDATE unified_queue SET payload_json = '{}' WHERE queue_id = ?", (spoilt,))

    done = program.json("queue", "dlq", "retry", "--all")

    assert [each["old"] for each in done["jobs"]] == [good]
    assert [(each["id"], each["error"]["code"]) for each in done["skipped"]] == [
        (spoilt, "ERR_PAYLOAD_INVALID")
    ]


def test_retry_refuses_jobs_that_have_not_ended(program: Program) -> None:
    """Named jobs run again all or none."""
    (failed,) = program.end(a_job(), error=FAILED)
    (waiting,) = program.submit(a_job())

    ran = program("queue", "retry", failed, waiting, "--json")

    assert (ran.code, ran.error["code"]) == (1, "ERR_JOB_UNFINISHED")
    assert len(program.rows()) == 2


def test_cancel_ends_waiting_jobs_and_tells_running_ones(program: Program) -> None:
    """Each job is told apart: cancelled, told to stop, or ended before."""
    (done,) = program.end(a_job())
    running, waiting = a_job(priority=9), a_job()

    async def work(store: Store) -> None:
        await store.queue.submit([running, waiting])
        await store.queue.claim(WorkerId("busy"), 1)

    program.in_store(work)

    document = program.json("queue", "cancel", done, running.id, waiting.id)

    assert deviations(document, Cancelled) == []
    assert [(each["cancelled"], each["state"]) for each in document["jobs"]] == [
        (False, "done"),
        (True, "running"),
        (True, "failed"),
    ]
    assert program("queue", "list", "--state", "failed").cells[0][1] == "cancelled"


def test_pause_remembers_who_and_resume_lifts_it(program: Program) -> None:
    """A pause is lifted by the words that made it; doing either twice says so."""
    paused, again = (program.json("queue", "pause", "--tenant", "acme") for _ in range(2))
    resumed, nothing = (program.json("queue", "resume", "--tenant", "acme") for _ in range(2))

    assert deviations(paused, Held) == deviations(resumed, Held) == []
    assert paused["by"].startswith(f"{getpass.getuser()}@")
    assert [each["was_paused"] for each in (paused, again, resumed, nothing)] == [False, True, True, False]


def test_a_pause_holds_what_it_names(program: Program) -> None:
    """Everything, a collection or a type can be held back beside a tenant."""
    for words in ([], ["--collection", "notes"], ["--type", "file"]):
        assert program("queue", "pause", *words).code == 0

    pauses = program.json("queue", "status")["pauses"]
    resumed = program("queue", "resume", "--tenant", "acme")

    assert {(each["scope"], each["name"]) for each in pauses} == {
        ("all", ""),
        ("collection", "notes"),
        ("type", "file"),
    }
    assert resumed.err == "tenant acme was not paused; what is: everything, collection notes, type file\n"


def test_clean_removes_only_what_is_old_and_only_when_told(program: Program) -> None:
    """Without --yes the jobs are counted and the request refused; with it the old ones go."""
    old_done, _ = program.end(a_job(), a_job())
    (old_failed,) = program.end(a_job(), error=FAILED)
    age(program, old_done, days=8)
    age(program, old_failed, days=8)

    counted = program("queue", "clean")
    removed = program.json("queue", "clean", "--yes", "--failed-older-than", "1d")

    assert (counted.code, counted.out) == (1, "would_remove\t1\n")
    assert "say --yes" in counted.err
    assert deviations(removed, Removed) == []
    assert (removed["removed"], removed["dry_run"]) == (2, False)
    assert len(program.rows()) == 1


def test_dead_letters_are_listed_shown_retried_and_purged(program: Program) -> None:
    """The failed jobs by the name other queues give them."""
    (failed,) = program.end(a_job(), error=FAILED)
    (done,) = program.end(a_job())

    assert [cells[0] for cells in program("queue", "dlq", "list").cells] == [failed]
    assert program.json("queue", "dlq", "show", failed)["error"]["code"] == "ERR_TIMEOUT"
    assert program("queue", "dlq", "retry", done).code == 1
    assert program("queue", "dlq", "purge").code == 1
    assert program.json("queue", "dlq", "purge", "--yes")["removed"] == 1
    assert [row[0] for row in program.rows()] == [done]


def everything(program: Program) -> dict[str, list[Any]]:
    """The rows of every table that holds state."""
    tables = ("unified_queue", "queue_pauses", "queue_aliases", "queue_batches")
    with closing(sqlite3.connect(program.data / "penstock.db")) as db:
        return {table: db.execute(f"SELECT * FROM {table}").fetchall() for table in tables}  # noqa: S608


def test_dry_runs_change_nothing(program: Program) -> None:
    """Every change can be rehearsed: it says what would happen, succeeds, and leaves every row as it was."""
    (failed,) = program.end(a_job(), error=FAILED)
    (waiting,) = program.submit(a_job("/documents/a.txt", tenant="local", collection="default"))
    program("queue", "pause", "--tenant", "held")
    before = everything(program)

    submitted = program.json(*FILE, "--dry-run")
    retried = program.json("queue", "retry", "--all-failed", "--dry-run")
    cancelled = program.json("queue", "cancel", waiting, "--dry-run")
    paused = program.json("queue", "pause", "--dry-run")
    resumed = program.json("queue", "resume", "--tenant", "held", "--dry-run")
    cleaned = program.json("queue", "clean", "--failed-older-than", "0s", "--yes", "--dry-run")
    purged = program.json("queue", "dlq", "purge", "--dry-run")

    assert submitted["jobs"] == [{"job_id": waiting, "how": "coalesced"}]
    assert retried["jobs"] == [{"old": failed, "new": None, "how": None}]
    assert cancelled["jobs"][0]["cancelled"]
    assert resumed["was_paused"]
    assert (cleaned["removed"], purged["removed"]) == (1, 1)
    documents = (submitted, retried, cancelled, paused, resumed, cleaned, purged)
    assert [each["dry_run"] for each in documents] == [True] * 7
    assert everything(program) == before

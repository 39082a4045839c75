"""What must hold after every fault, read by raw SQL and from the marks handlers left."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping

from tests.support.jobs import a_job
from tests.support.processes import Change, Plant, Row

ENDED = ("done", "failed")


def assert_all_is_well(
    plant: Plant, accepted: Collection[str], *, failed: Mapping[str, str] | None = None, free_runs: int = 0
) -> None:
    """Every accepted job ended once, as it should, and nothing is left of the way there.

    `failed` names the jobs that must have failed, and with which code; all others must be done. `free_runs`
    is how often a job may have been started without spending a retry.
    """
    jobs = {row["queue_id"]: row for row in plant.rows("SELECT * FROM unified_queue")}
    assert set(jobs) == set(accepted)
    assert {job: row["status"] for job, row in jobs.items() if row["status"] not in ENDED} == {}
    assert {job: row["error_code"] for job, row in jobs.items() if row["status"] == "failed"} == (
        failed or {}
    )
    assert [job for job, row in jobs.items() if row["status"] == "failed" and not row["error_message"]] == []
    assert [job for job, row in jobs.items() if not _is_at_rest(row)] == []
    _assert_one_end_each(plant, jobs)
    _assert_ended_by_the_attempt_that_held_it(plant, jobs)
    _assert_attempts_within_limit(plant, jobs, free_runs)
    assert plant.rows("PRAGMA integrity_check") == [{"integrity_check": "ok"}]


def _is_at_rest(row: Row) -> bool:
    held = ("lease_until", "worker_id", "next_run_at", "behind", "cancel_code")
    return row["finished_at"] is not None and all(row[column] is None for column in held)


def _assert_one_end_each(plant: Plant, jobs: Collection[str]) -> None:
    """A job's changes follow one another, end once, and nothing comes after the end."""
    told: defaultdict[str, list[Change]] = defaultdict(list)
    for change in plant.changes():
        told[change.job].append(change)
    for job in jobs:
        changes = told[job]
        states = ["pending", *(change.new for change in changes)]
        assert [change.old for change in changes] == states[:-1], job
        assert [state in ENDED for state in states] == [False] * (len(states) - 1) + [True], job


def _assert_ended_by_the_attempt_that_held_it(plant: Plant, jobs: Collection[str]) -> None:
    """The token under which a job became done is that of an attempt that came to its end, and the last."""
    started: defaultdict[str, set[int]] = defaultdict(set)
    finished = set()
    for mark in plant.marks():
        if mark.what == "start":
            started[mark.job].add(mark.token)
        elif mark.what in ("end", "finish"):
            finished.add((mark.job, mark.token))
    done = {change.job: change.token for change in plant.changes() if change.new == "done"}
    assert [job for job, token in done.items() if token != max(started[job])] == []
    assert [job for job, token in done.items() if (job, token) not in finished] == []


def _assert_attempts_within_limit(plant: Plant, jobs: Mapping[str, Row], free_runs: int) -> None:
    runs = Counter(mark.job for mark in plant.marks("start"))
    assert {job: n for job, n in runs.items() if n > 1 + jobs[job]["max_retries"] + free_runs} == {}
    assert [job for job, row in jobs.items() if row["retry_count"] > row["max_retries"]] == []


def assert_nothing_is_left(plant: Plant) -> None:
    """Once all have ended: no process, and after the next ring no socket of a dead one."""
    assert plant.processes() == []
    plant.submit([a_job()])
    assert plant.bells() == []

"""Looking at the queue with the real program: status, list, show, explain, the configuration."""

import json
from pathlib import Path

from penstock.doors.cli.shapes import Explained, JobDetails, JobList, Keys, Page, Status
from penstock.model.jobs import JobId, WorkerId
from penstock.model.standing import PauseScope
from penstock.wiring.store import Store
from tests.support.command_line import Program
from tests.support.documents import deviations
from tests.support.jobs import a_job, a_note, a_rename, a_tenant_delete, an_error

FAILED = an_error("ERR_TIMEOUT", "it ran too long")


def with_a_worker(program: Program) -> JobId:
    """A job that a living worker runs."""
    job = a_job("/documents/running.txt")

    async def work(store: Store) -> None:
        await store.queue.beat(WorkerId("busy"), concurrency=4)
        await store.queue.submit([job])
        await store.queue.claim(WorkerId("busy"), 1)

    program.in_store(work)
    return job.id


def test_status_of_an_empty_queue_says_that_nobody_works(program: Program) -> None:
    """Counts go to stdout, a line each; that no worker is alive is said to the person."""
    program.begin()

    ran = program("queue", "status")

    assert ran.code == 0
    assert ["ready", "0"] in ran.cells
    assert ["workers_alive", "0"] in ran.cells
    assert "No worker is alive" in ran.err


def test_status_document_names_counts_workers_pauses_and_the_oldest(program: Program) -> None:
    """Everything an operator asks for first is in one document of the promised shape."""
    running = with_a_worker(program)
    first, _ = program.submit(a_job(), a_job(priority=9))
    program.submit(a_job(tenant="held"))
    program.in_store(lambda store: store.desk.pause(PauseScope.TENANT, "held", by="ann@desk"))

    status = program.json("queue", "status")

    assert deviations(status, Status) == []
    assert (status["counts"]["ready"], status["counts"]["paused"], status["counts"]["running"]) == (2, 1, 1)
    assert status["workers_alive"] == 1
    assert [(each["id"], each["running"]) for each in status["workers"]] == [("busy", 1)]
    assert [job["id"] for job in status["running"]] == [running]
    assert [(each["name"], each["by"]) for each in status["pauses"]] == [("held", "ann@desk")]
    assert status["oldest_ready"]["id"] == first


def test_list_shows_the_newest_first_and_pages_on(program: Program) -> None:
    """A cut page says how to get the next one, and the pages together show every job once."""
    ids = program.submit(a_job(), a_job(), a_job())

    page = program.json("queue", "list", "--limit", "2")
    rest = program.json("queue", "list", "--limit", "2", "--before", page["next_before"])

    assert deviations(page, JobList) == []
    assert [job["id"] for job in (*page["jobs"], *rest["jobs"])] == ids[::-1]
    assert rest["next_before"] is None


def test_list_piped_is_one_line_of_tabs_per_job(program: Program) -> None:
    """Cells are parted by tabs and nothing in a name can break the line or steer the terminal."""
    (job,) = program.submit(a_job("/documents/odd\tname\n\x1b[31m.txt", tenant="ac me"))

    ran = program("queue", "list")

    assert [cells[:7] for cells in ran.cells] == [[job, "ready", "5", "file", "ingest", "ac me", "notes"]]
    assert ran.cells[0][9] == r"/documents/odd\tname\n\x1b[31m.txt"


def test_list_finds_jobs_by_the_state_people_are_shown(program: Program) -> None:
    """Each shown state lists exactly its jobs, also those that share a core state."""
    expected = {
        "done": program.end(a_note()),
        "failed": program.end(a_job(), error=FAILED),
        "running": [with_a_worker(program)],
        "delayed": program.submit(a_job(run_at=4e9)),
        "ready": program.submit(a_job("/documents/same.txt")),
        "waiting": program.submit(a_rename("/documents/same.txt")),
        "paused": program.submit(a_job(tenant="held")),
    }
    program.in_store(lambda store: store.desk.pause(PauseScope.TENANT, "held"))

    found = {state: program.json("queue", "list", "--state", state)["jobs"] for state in expected}

    assert {state: [job["id"] for job in jobs] for state, jobs in found.items()} == expected
    assert {state: {job["state"] for job in jobs} for state, jobs in found.items()} == {
        state: {state} for state in expected
    }


def test_list_and_status_agree_on_what_waits_for_a_tenants_deletion(program: Program) -> None:
    """A job that comes after the deletion of its tenant is waiting in the list as it is in the counts."""
    deletion, behind = program.submit(a_tenant_delete(), a_job())

    listed = program.json("queue", "list", "--state", "waiting")["jobs"]
    counts = program.json("queue", "status")["counts"]

    assert [job["id"] for job in listed] == [behind]
    assert (counts["waiting"], counts["ready"]) == (1, 1)
    assert [job["id"] for job in program.json("queue", "list", "--state", "ready")["jobs"]] == [deletion]


def test_list_chooses_by_tenant_collection_type_and_error(program: Program) -> None:
    """Every choice narrows the list."""
    (wanted,) = program.end(a_job(tenant="acme", collection="letters"), error=FAILED)
    program.end(a_job(tenant="acme", collection="letters"), error=an_error("ERR_POISON"))
    program.submit(a_note(tenant="acme", collection="letters"), a_job(tenant="globex", collection="letters"))

    choice = ["--tenant", "acme", "--collection", "letters", "--type", "file", "--error", "ERR_TIMEOUT"]
    found = program.json("queue", "list", *choice)["jobs"]

    assert [job["id"] for job in found] == [wanted]


def test_show_tells_everything_about_a_job(program: Program) -> None:
    """Payload, metadata and error with suggestions are there, piped and as a document."""
    (job,) = program.end(a_note("a secret text", metadata={"k": [1]}), error=FAILED)

    document, ran = program.json("queue", "show", job), program("queue", "show", job)

    assert deviations(document, JobDetails) == []
    assert document["payload"]["content"] == "a secret text"
    assert document["metadata"] == {"k": [1]}
    assert document["error"]["code"] == "ERR_TIMEOUT"
    assert "Raise worker.timeouts" in document["error"]["suggestions"][0]
    assert ["state", "failed"] in ran.cells
    assert {name: json.loads(value) for name, value in ran.cells if name == "metadata"} == {
        "metadata": {"k": [1]}
    }


def test_explain_says_a_sentence_and_its_facts(program: Program) -> None:
    """Why a job is not done is a sentence for people and facts for programs."""
    (job,) = program.submit(a_job())

    ran, document = program("queue", "explain", job), program.json("queue", "explain", job)

    assert ran.out == "No worker is alive; start one with: penstock worker.\n"
    assert deviations(document, Explained) == []
    assert document["sentence"] + "\n" == ran.out
    assert (document["facts"]["job"]["id"], document["facts"]["workers_alive"]) == (job, 0)


def test_a_joined_id_leads_to_the_job_it_joined(program: Program) -> None:
    """The id of a submit that was coalesced shows the job that stands for it."""
    (first,) = program.submit(a_job("/documents/same.txt"))
    second = a_job("/documents/same.txt")
    program.submit(second)

    assert program.json("queue", "show", second.id)["id"] == first


def test_options_of_every_command_work_before_and_after_it(program: Program) -> None:
    """Where an option stands makes no difference, and the last word wins."""
    other = program.folder / "other"
    assert program("queue", "pause", "--data", other).code == 0
    places: list[tuple[str | Path, ...]] = [
        ("--json", "--data", other, "queue", "status"),
        ("queue", "--json", "--data", other, "status"),
        ("queue", "status", "--data", other, "--json"),
        ("--data", program.data, "queue", "status", "--data", other, "--json"),
    ]

    assert [program(*words).said()["counts"]["ready"] for words in places] == [0, 0, 0, 0]
    assert not program.data.exists()


def test_config_shows_the_tree_in_force_without_secrets(program: Program) -> None:
    """File, environment and options are merged; what is shown can be read back; passwords are masked."""
    file = program.folder / "penstock.yaml"
    file.write_text("worker: {count: 3}\nredis: {password: hunter2}\n", encoding="utf-8")
    env = {"PENSTOCK_CONFIG": str(file), "PENSTOCK_WORKER_CONCURRENCY": "5"}

    ran = program("config", "show", "--json", env=env)
    shown = program("config", "show", env=env)

    tree = ran.said()
    assert (tree["worker"]["count"], tree["worker"]["concurrency"]) == (3, 5)
    assert tree["data"] == str(program.data)
    assert "hunter2" not in ran.out + shown.out
    assert "  concurrency: 5\n" in shown.out


def test_reference_pages_and_keys_are_printed(program: Program) -> None:
    """Every page is Markdown, every key a row of the document."""
    page, keys = program.json("reference", "errors"), program.json("config", "reference")

    assert deviations(page, Page) == []
    assert page["text"].startswith("# Error codes")
    assert deviations(keys, Keys) == []
    assert "worker.count" in {each["key"] for each in keys["keys"]}
    assert program("config", "reference").out.startswith("# Configuration")


def test_version_and_help_need_no_data(program: Program) -> None:
    """Asking what the program is touches nothing."""
    version, help_, alone = program("--version"), program("queue", "list", "--help"), program("queue")

    assert version.out.startswith("penstock ")
    assert help_.code == 0
    assert help_.out.index("newest first") < help_.out.index("Examples:") < help_.out.index("Options:")
    assert "[env: PENSTOCK_DATA]" in help_.out
    assert (alone.code, alone.out) == (1, "")
    assert "Commands:" in alone.err
    assert not program.data.exists()

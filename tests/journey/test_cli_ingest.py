"""`penstock ingest` without a worker: what is handed in, what is refused, what is shown."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from penstock.doors.cli.ingest.shapes import (
    DocumentList,
    Handed,
    Reindexed,
    RemovedDocuments,
    RetriedDocuments,
    StatusRecord,
)
from penstock.engines.disk import DiskMover
from penstock.intake.admission import Admission, Order
from penstock.intake.incoming import SourceFolders
from penstock.intake.whereabouts import Whereabouts
from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.errors import ErrorClass, ErrorReport
from penstock.model.jobs import TenantId, WorkerId
from penstock.model.outcomes import DONE, Failed
from penstock.wiring.store import Store
from tests.support.command_line import PATIENCE, Program, Terminal
from tests.support.documents import deviations
from tests.support.ingested import a_collection, failed, ingested
from tests.support.jobs import a_job

DAMAGED = ErrorReport(code="ERR_PDF_INVALID", message="it is no PDF", kind=ErrorClass.PERMANENT)
SUBMIT = ("ingest", "submit", "--rag", "notes")


@pytest.fixture
def folder(program: Program) -> Path:
    """Some files to hand in, and a collection for them."""
    folder = program.folder / "docs"
    (folder / "deep").mkdir(parents=True)
    for name in ("a.md", "b.md", "c.txt", "deep/d.md"):
        (folder / name).write_text(f"this is {name}", encoding="utf-8")
    program.in_store(a_collection)
    return folder


def priorities(program: Program) -> list[tuple[str, int]]:
    return [(str(kind), int(priority)) for kind, priority in program.rows("item_type, priority")]


def test_files_are_handed_in_and_known_at_once(program: Program, folder: Path) -> None:
    """Ids go to stdout, a line each; the documents are there, pending, before any worker comes."""
    ran = program(*SUBMIT, "--path", folder / "a.md", folder / "c.txt")

    assert ran.code == 0
    assert [row[0] for row in program.rows()] == ran.lines
    assert "ingest status --job" in ran.err
    listed = program.json("ingest", "list", "--rag", "notes")
    assert deviations(listed, DocumentList) == []
    assert [(each["name"], each["state"]) for each in listed["documents"]] == [
        ("a.md", "pending"),
        ("c.txt", "pending"),
    ]


def test_each_way_in_has_its_priority(program: Program, folder: Path) -> None:
    """A person's file comes before folders, folders before addresses; who says a priority gets it."""
    handed = program.json(
        *SUBMIT, folder / "a.md", folder, "--text", "a note", "--url", "https://example.org/guide"
    )
    program(*SUBMIT, folder / "b.md", "--priority", "low")

    assert deviations(handed, Handed) == []
    assert [(each["kind"], each["priority"]) for each in handed["items"]] == [
        ("file", 9),
        ("folder", 3),
        ("content", 9),
        ("library", 1),
    ]
    assert sorted(priorities(program)) == sorted(
        [("file", 9), ("folder", 3), ("content", 9), ("library", 1), ("file", 1)]
    )


def test_nothing_is_handed_in_if_anything_is_wrong(program: Program, folder: Path) -> None:
    """All faults are told together, with the code of the first, and the queue stays empty."""
    (folder / "empty.txt").touch()

    ran = program(*SUBMIT, folder / "a.md", folder / "empty.txt", folder / "nope.md", "--json")

    assert (ran.code, ran.error["code"]) == (1, "ERR_FILE_EMPTY")
    assert "nope.md" in ran.error["message"]
    assert program.rows() == []


def test_each_unfit_file_has_its_code(program: Program, folder: Path) -> None:
    """Missing, empty, too large, no ordinary file, no match: each is refused by its own code."""
    (folder / "empty").touch()
    os.mkfifo(folder / "pipe")
    unfit = {
        folder / "missing": "ERR_FILE_NOT_FOUND",
        folder / "empty": "ERR_FILE_EMPTY",
        folder / "pipe": "ERR_FILE_NOT_REGULAR",
        folder / "*.docx": "ERR_FILE_NOT_FOUND",
        folder / "a.md" / "b": "ERR_FILE_NOT_FOUND",
    }

    told = {path: program(*SUBMIT, path, "--json").error["code"] for path in unfit}
    limited = program(*SUBMIT, folder / "a.md", "--json", env={"PENSTOCK_LIMITS_FILE_BYTES": "5"})

    assert told == unfit
    assert limited.error["code"] == "ERR_FILE_TOO_LARGE"
    assert program.rows() == []


def test_a_collection_may_take_less_than_the_program(program: Program, folder: Path) -> None:
    """The narrower limit counts."""
    file = program.folder / "penstock.yaml"
    file.write_text("collections: {small: {limits: {file_bytes: 4}}}", encoding="utf-8")

    ran = program("ingest", "submit", "--rag", "small", folder / "a.md", "--config", file, "--json")

    assert ran.error["code"] == "ERR_FILE_TOO_LARGE"


def test_a_plan_changes_nothing(program: Program, folder: Path) -> None:
    """A dry run expands globs, counts folders and submits nothing."""
    plan = program.json(*SUBMIT, f"{folder}/*.md", folder, "--pattern", "*.md", "--dry-run")

    assert [(each["kind"], Path(each["name"]).name, each["files"]) for each in plan["items"]] == [
        ("file", "a.md", None),
        ("file", "b.md", None),
        ("folder", "docs", 3),
    ]
    assert program.rows() == []


def test_a_plan_tells_what_cannot_be_taken(program: Program, folder: Path) -> None:
    """Of folders and projects, on stderr and in the document, with path and why; it is no failure."""
    os.mkfifo(folder / "deep" / "pipe")
    left_out = f"{folder}/deep/pipe (special)"

    for word, kind in (("--path", "folder"), ("--project", "project")):
        ran = program(*SUBMIT, word, folder, "--dry-run")
        plan = program.json(*SUBMIT, word, folder, "--dry-run")

        assert ran.code == 0
        assert f"left out: {left_out}\n" in ran.err
        assert [(each["kind"], each["files"]) for each in plan["items"]] == [(kind, 4)]
        assert plan["overlooked"] == {"total": 1, "named": [left_out]}


def test_a_folder_is_asked_for_as_it_was_said(program: Program, folder: Path) -> None:
    """Patterns, ignore patterns and depth reach the job."""
    program(*SUBMIT, folder, "--pattern", "*.md", "--ignore", "b*", "--depth", "0")

    ((payload,),) = program.rows("payload_json")
    assert json.loads(payload) == {
        "folder_path": str(folder),
        "recursive": False,
        "recursive_depth": 0,
        "patterns": ["*.md"],
        "ignore_patterns": ["b*"],
    }


def test_text_comes_by_stdin(program: Program, folder: Path) -> None:
    """A pipe is a document with a name; what is no text is refused."""
    good = program(*SUBMIT, "--path", "-", "--name", "today", stdin="it rains")
    bad = program(*SUBMIT, "--path", "-", "--json", stdin=b"\xff\xfe\x00")
    none = program(*SUBMIT, "--path", "-", "--json", stdin="  \n")

    assert good.code == 0
    assert program.json("ingest", "list")["documents"][0]["name"] == "today"
    assert (bad.error["code"], none.error["code"]) == ("ERR_TEXT_ENCODING", "ERR_FILE_EMPTY")


@pytest.mark.parametrize(
    ("begins", "kind"),
    [
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "a PDF"),
        (b"%PDF-1.4\n1 0 obj", "a PDF"),
        (b"PK\x03\x04\x14\x00\x06\x00", "an Office document"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0d", "a PNG picture"),
    ],
)
def test_a_file_on_stdin_is_told_to_be_named(
    program: Program, folder: Path, begins: bytes, kind: str
) -> None:
    """Stdin takes text: what is plainly another file is called so, and nobody is told to save it as UTF-8."""
    ran = program(*SUBMIT, "--path", "-", stdin=begins)

    assert ran.code == 1
    assert f"stdin takes text, and this is {kind}" in ran.err
    assert "name its path" in ran.err
    assert "UTF-8" not in ran.err
    assert program.rows() == []


def test_metadata_and_options_are_kept_with_the_job(program: Program, folder: Path) -> None:
    """Pairs become the document's metadata; a pair that is none is refused."""
    program(*SUBMIT, folder / "a.md", "--meta", "team=blue", "--meta", "year=2026", "--skip-validation")
    bad = program(*SUBMIT, folder / "b.md", "--meta", "team")

    ((metadata,),) = program.rows("metadata")
    assert json.loads(metadata)["document"] == {"team": "blue", "year": 2026}
    assert json.loads(metadata)["options"] == {"skip_validation": True}
    assert bad.code == 1


def test_waiting_without_a_worker_ends_with_the_time(program: Program, folder: Path) -> None:
    """The person is told that nobody works; the code says that time was over; the job stays queued."""
    ran = program(*SUBMIT, folder / "a.md", "--wait", "--timeout", "300ms")
    document = program(*SUBMIT, folder / "b.md", "--wait", "--timeout", "300ms", "--json")

    assert ran.code == document.code == 5
    assert "No worker is alive" in ran.err
    assert "stays queued" in ran.err
    found = json.loads(document.out)
    assert deviations(found, Handed) == []
    assert (found["wait"]["end"], found["wait"]["total"]) == ("timeout", 1)
    assert [row[1] for row in program.rows()] == ["pending", "pending"]
    assert priorities(program) == [("file", 10), ("file", 10)]


def test_ctrl_c_leaves_the_work_queued(program: Program, folder: Path) -> None:
    """On a terminal there is a bar; Ctrl-C says how to go on and loses nothing."""
    command = program.command(*SUBMIT, folder / "a.md", "--wait")
    terminal = Terminal(command, program.environment(), program.folder, 80)
    terminal.read_until(lambda text: "0 of 1" in text)

    terminal.interrupt()

    assert terminal.wait() == 130
    ((job, status),) = program.rows("queue_id, status")
    assert status == "pending"
    assert f"penstock ingest status --job {job} --follow" in terminal.text


def test_ctrl_c_says_how_many_files_are_left(program: Program, folder: Path) -> None:
    """A folder counts as its files: of three that were found one has ended."""
    command = program.command(*SUBMIT, folder, "--wait")
    terminal = Terminal(command, program.environment(), program.folder, 80)
    terminal.read_until(lambda text: "0 of 1" in text)
    ((job,),) = program.rows("queue_id")

    async def find(store: Store) -> None:
        batch = await store.batches.open_batch(job)
        await store.queue.submit([a_job(f"/docs/{number}.md") for number in range(3)], batch=batch)
        leases = await store.queue.claim(WorkerId("by-hand"), 1)
        await store.queue.settle([(lease, DONE) for lease in leases])

    program.in_store(find)
    terminal.read_until(lambda text: "1 of 3" in text)
    terminal.interrupt()

    assert terminal.wait() == 130
    assert "interrupted; 2 jobs of 3 stay queued or run on; to follow it:" in terminal.text
    assert f"penstock ingest status --job {job} --follow" in terminal.text


def test_ctrl_c_says_that_the_rebuild_goes_on(program: Program, folder: Path) -> None:
    """Where only the new index was still waited for, the way to see how far it is, is told."""
    program.in_store(lambda store: ingested(store, program.data, folder / "b.md", ["b"]))
    command = program.command(*SUBMIT, folder / "a.md", "--reindex", "--wait")
    terminal = Terminal(command, program.environment(), program.folder, 100)
    terminal.read_until(lambda text: "0 of 1" in text)

    async def end(store: Store) -> None:
        leases = await store.queue.claim(WorkerId("by-hand"), 1)
        await store.queue.settle([(lease, DONE) for lease in leases])

    program.in_store(end)
    terminal.read_until(lambda text: "documents rebuilt" in text)
    terminal.interrupt()

    assert terminal.wait() == 130
    assert "the rebuild of notes goes on, see: penstock collection show notes" in terminal.text


def test_the_status_of_a_waiting_job_says_why(program: Program, folder: Path) -> None:
    """The documented record is there from the first moment, with the reason it waits."""
    (job,) = program(*SUBMIT, folder / "a.md").lines

    record = program.json("ingest", "status", "--job", job)

    assert deviations(record, StatusRecord) == []
    assert (record["status"], record["filename"], record["rag_id"]) == ("queued", "a.md", "notes")
    assert record["document_state"] == "pending"
    assert [stage["stage"] for stage in record["stages"]] == ["parse"]
    assert "No worker is alive" in record["why"]


def test_the_status_of_ended_jobs_tells_what_came_of_them(program: Program, folder: Path) -> None:
    """A done one tells what it made; a failed one its error, type, code and what to do."""

    async def fill(store: Store) -> None:
        await ingested(store, program.data, folder / "a.md", ["one two", "three"])
        await failed(store, folder / "b.md", DAMAGED)

    program.in_store(fill)
    done, bad = (program.json("ingest", "status", "--job", row[0]) for row in program.rows())

    assert (done["status"], done["chunks_created"], done["tokens_used"]) == ("done", 2, 3)
    assert (bad["status"], bad["error_code"], bad["error_type"]) == (
        "failed",
        "ERR_PDF_INVALID",
        "ParseError",
    )
    assert bad["suggestions"]
    followed = program("ingest", "status", "--job", bad["job_id"], "--follow")
    assert (followed.code, followed.lines) == (2, ["failed document=error ERR_PDF_INVALID"])
    assert "it is no PDF" in program.on_terminal("ingest", "status", "--job", bad["job_id"]).out


@pytest.mark.parametrize(("children", "state"), [(0, None), (1, "done"), (2, "running")])
def test_a_folder_that_failed_shows_no_batch_that_never_ends(
    program: Program, folder: Path, children: int, state: str | None
) -> None:
    """Nobody seals its batch any more: it is as far as its children are, and none where there are none."""
    (job,) = program(*SUBMIT, folder).lines
    error = ErrorReport(code="ERR_FOLDER_EMPTY", message="it is empty", kind=ErrorClass.PERMANENT)

    async def fail(store: Store) -> None:
        (parent,) = await store.queue.claim(WorkerId("by-hand"), 1)
        batch = await store.batches.open_batch(job)
        for number in range(children):
            await store.queue.submit([a_job(f"/docs/{number}.md")], batch=batch)
        await store.queue.settle([(parent, Failed(error))])
        for lease in await store.queue.claim(WorkerId("by-hand"), 1):
            await store.queue.settle([(lease, DONE)])

    program.in_store(fail)

    record = program.json("ingest", "status", "--job", job)

    assert record["status"] == "failed"
    assert (record["batch"] and record["batch"]["state"]) == state
    assert deviations(record, StatusRecord) == []


def test_a_status_is_for_eyes_too(program: Program, folder: Path) -> None:
    """What a look at a folder found is told in words on a terminal, and piped by its name; never as JSON."""
    (job,) = program(*SUBMIT, folder).lines
    counts = {"found": 4, "new": 3, "changed": 1, "unchanged": 0, "gone": 0, "overlooked": 1}
    report = {"root": str(folder), **counts, "examples": {"overlooked": [f"{folder}/pipe (special)"]}}

    async def end(store: Store) -> None:
        (parent,) = await store.queue.claim(WorkerId("by-hand"), 1)
        await store.write(lambda tx: tx.kept.keep_report(parent.job_id, json.dumps(report)))
        await store.batches.seal_batch(await store.batches.open_batch(job))
        await store.queue.settle([(parent, DONE)])

    program.in_store(end)

    piped = program("ingest", "status", "--job", job)
    drawn = program.on_terminal("ingest", "status", "--job", job, columns=80)

    assert ["found.new", "3"] in piped.cells
    assert ["found.examples.overlooked.1", f"{folder}/pipe (special)"] in piped.cells
    assert ["batch.state", "done"] in piped.cells
    assert "4 files: 3 new, 1 changed, 0 unchanged, 0 gone" in drawn.out
    assert "pipe (special)" in "".join(line.strip() for line in drawn.out.splitlines())
    assert "{" not in piped.out + drawn.out
    assert max(map(len, drawn.out.splitlines())) <= 80


def test_a_list_pages_on(program: Program, folder: Path) -> None:
    """Pages follow each other by identity and show every document once."""
    program(*SUBMIT, folder / "a.md", folder / "b.md", folder / "c.txt")

    page = program.json("ingest", "list", "--limit", "2")
    rest = program.json("ingest", "list", "--limit", "2", "--after", page["next_after"])

    names = [each["name"] for each in (*page["documents"], *rest["documents"])]
    assert names == ["a.md", "b.md", "c.txt"]
    assert rest["next_after"] is None
    assert program.json("ingest", "list", "--state", "error")["documents"] == []


def test_failed_documents_are_tried_again_once(program: Program, folder: Path) -> None:
    """All of them, or those of a code; saying it twice does it once."""

    async def fill(store: Store) -> None:
        await failed(store, folder / "a.md", DAMAGED)
        await failed(store, folder / "b.md", ErrorReport(code="ERR_ENCRYPTED", message="locked"))

    program.in_store(fill)
    told = program.json("ingest", "retry", "--failed", "--code", "ERR_ENCRYPTED", "--dry-run")
    first = program.json("ingest", "retry", "--failed", "--code", "ERR_ENCRYPTED")
    again = program.json("ingest", "retry", "--failed", "--code", "ERR_ENCRYPTED")
    drawn = program.on_terminal("ingest", "retry", "--failed", "--rag", "notes", "--dry-run").out.splitlines()
    rest = program.json("ingest", "retry", "--failed", "--rag", "notes")

    assert deviations(first, RetriedDocuments) == []
    assert [each["name"] for each in told["documents"]] == ["b.md"]
    assert [each["name"] for each in first["documents"]] == ["b.md"]
    assert again["documents"] == []
    assert [line.split() for line in drawn[:2]] == [
        ["DOCUMENT", "NAME", "ERROR"],
        [rest["documents"][0]["document_id"], "a.md", "ERR_PDF_INVALID"],
    ]
    assert [each["name"] for each in rest["documents"]] == ["a.md"]
    assert program("ingest", "retry").code == 1


def test_an_error_code_that_does_not_exist_is_refused(program: Program, folder: Path) -> None:
    """With the nearest there is; one of a user's own handlers is known where a document has it."""
    retry = ("ingest", "retry", "--failed", "--dry-run", "--code")

    async def fill(store: Store) -> None:
        await failed(store, folder / "a.md", ErrorReport(code="ERR_OF_OUR_OWN", message="ours"))

    program.in_store(fill)
    wrong = program(*retry, "ERR_PDF_INVALD")
    listed = program("queue", "list", "--error", "ERR_PDF_INVALD")

    assert wrong.code == 1
    assert "there is no error code 'ERR_PDF_INVALD'; did you mean ERR_PDF_INVALID?" in wrong.err
    assert (listed.code, "did you mean ERR_PDF_INVALID?" in listed.err) == (0, True)
    assert program.json(*retry, "ERR_PDF_INVALID")["documents"] == []
    (ours,) = program.json(*retry, "ERR_OF_OUR_OWN")["documents"]
    assert ours["code"] == "ERR_OF_OUR_OWN"
    assert "lists all there are" in program(*retry, "NONSENSE-9").err


def test_documents_are_deleted_by_path_folder_and_id(program: Program, folder: Path) -> None:
    """A folder's path means all below it; what is not there is refused and nothing is deleted."""

    async def fill(store: Store) -> None:
        for name in ("a.md", "b.md", "deep/d.md"):
            await ingested(store, program.data, folder / name, [name])

    program.in_store(fill)
    told = program.json("ingest", "delete", "--rag", "notes", "--path", folder, "--dry-run")
    wrong = program("ingest", "delete", "--rag", "notes", "--path", folder / "a.md", "--path", "x", "--json")
    done = program.json("ingest", "delete", "--rag", "notes", "--path", folder / "a.md")

    assert len(told["documents"]) == 3
    assert wrong.error["code"] == "ERR_DOCUMENT_UNKNOWN"
    assert deviations(done, RemovedDocuments) == []
    assert [row[0] for row in program.rows("op")].count("delete") == 1


def test_a_deleted_document_is_out_of_sight_before_any_worker_comes(program: Program, folder: Path) -> None:
    """What is deleted is found no more when the command has ended."""

    async def fill(store: Store) -> None:
        for name in ("a.md", "b.md"):
            await ingested(store, program.data, folder / name, [name])

    program.in_store(fill)
    program.json("ingest", "delete", "--rag", "notes", "--path", folder / "a.md")

    assert [each["name"] for each in program.json("ingest", "list", "--rag", "notes")["documents"]] == [
        "b.md"
    ]


@pytest.mark.parametrize("whole", [False, True], ids=["file", "folder"])
def test_a_document_of_a_project_is_deleted_as_its_own(program: Program, folder: Path, whole: bool) -> None:
    """Another tenant of the workspace has it: the job is that tenant's, and the document goes."""

    async def fill(store: Store) -> None:
        order = Order(tenant=TenantId("project"), collection="notes", priority=5)
        await Admission(store).files(order, [str(folder / "a.md"), str(folder / "b.md")])

    program.in_store(fill)
    named = folder if whole else folder / "a.md"
    done = program.json("ingest", "delete", "--rag", "notes", "--path", named)

    left = [each["name"] for each in program.json("ingest", "list", "--rag", "notes")["documents"]]
    assert left == ([] if whole else ["b.md"])
    assert len(done["documents"]) == 2 - len(left)
    deletes = {tenant for op, tenant in program.rows("op, tenant_id") if op == "delete"}
    assert deletes == {"project"}


@pytest.mark.parametrize("name", ["cats.md", "cats (2).md"], ids=["its name", "the next free one"])
def test_a_dropped_file_is_named_by_where_it_lies(program: Program, folder: Path, name: str) -> None:
    """What search shows of a file that was moved can be given to search and delete again."""
    own = program.data / "sources" / "notes"
    for part in ("incoming", "processed"):
        (own / part).mkdir(parents=True)
    for each in ("cats.md", "dogs.md"):
        (own / "incoming" / each).write_text(f"{each} sleep all day", encoding="utf-8")

    async def fill(store: Store) -> None:
        for each in ("cats.md", "dogs.md"):
            await ingested(store, program.data, own / "incoming" / each, [f"{each} sleep all day"])

    program.in_store(fill)
    if name != "cats.md":
        (own / "processed" / "cats.md").write_text("another one", encoding="utf-8")
    (own / "incoming" / "cats.md").rename(own / "processed" / name)
    (own / "incoming" / "dogs.md").rename(own / "processed" / "dogs.md")
    found = program.json("search", "sleep all day", "--path", own / "processed" / name)
    done = program.json("ingest", "delete", "--rag", "notes", "--path", own / "processed" / name)

    assert [hit["identity"] for hit in found["hits"]] == [str(own / "processed" / name)]
    assert [each["name"] for each in done["documents"]] == [str(own / "incoming" / "cats.md")]
    assert [each["name"] for each in program.json("ingest", "list", "--rag", "notes")["documents"]] == [
        "dogs.md"
    ]


def test_dropped_files_are_named_by_the_folder_they_lie_in(program: Program, folder: Path) -> None:
    """`processed` means what search shows there: not what waits to be moved, nor what was taken away."""
    own = program.data / "sources" / "notes"
    incoming, processed = own / "incoming", own / "processed"
    for each in (incoming / "deep", processed):
        each.mkdir(parents=True)
    dropped = [incoming / name for name in ("cats.md", "deep/cats.md", "dogs.md", "gone.md", "new.md")]
    texts = [f"The {kind} sleeps all day." for kind in ("cat", "kitten", "dog", "goose", "newt")]
    for file, words in zip(dropped, texts, strict=True):
        file.write_text(words, encoding="utf-8")

    async def fill(store: Store) -> None:
        for file, words in zip(dropped, texts, strict=True):
            await ingested(store, program.data, file, [words])

    program.in_store(fill)
    for file, name in zip(dropped, ("cats.md", "cats (2).md", "dogs.md"), strict=False):
        file.rename(processed / name)
    dropped[3].unlink()

    found = program.json("search", "sleep all day", "--path", f"{processed}/")
    asked = program.json("ask", "who sleeps all day?", "--path", processed, "--quote")
    planned = program.json("ingest", "delete", "--rag", "notes", "--path", processed, "--dry-run")

    shown = {str(processed / name) for name in ("cats.md", "cats (2).md", "dogs.md")}
    assert {hit["identity"] for hit in found["hits"]} == shown
    assert {each["identity"] for each in asked["citations"]} <= shown
    assert asked["citations"]
    assert {each["name"] for each in planned["documents"]} == {str(file) for file in dropped[:3]}


def test_files_alike_by_name_are_told_apart_by_their_bytes(program: Program, folder: Path) -> None:
    """Of two documents of a name only the one whose file lies there is meant, and one of a long name is."""
    own = program.data / "sources" / "notes"
    incoming, processed = own / "incoming", own / "processed"
    for each in (incoming / "deep", processed):
        each.mkdir(parents=True)
    long = "b" * 245 + ".md"
    dropped = [incoming / name for name in ("cats.md", "deep/cats.md", long)]
    texts = [f"The {kind} sleeps all day." for kind in ("cat", "kitten", "bear")]
    for file, words in zip(dropped, texts, strict=True):
        file.write_text(words, encoding="utf-8")

    async def fill(store: Store) -> None:
        for file, words in zip(dropped, texts, strict=True):
            await ingested(store, program.data, file, [words])

    program.in_store(fill)
    dropped[0].unlink()
    shown = [processed / "cats (2).md", processed / DiskMover().fitting(long)]
    for file, where in zip(dropped[1:], shown, strict=True):
        file.rename(where)

    delete = ("ingest", "delete", "--rag", "notes", "--dry-run", "--path")
    planned = program.json(*delete, processed)
    alone = [program.json(*delete, where)["documents"] for where in shown]

    assert {one["name"] for one in planned["documents"]} == {str(file) for file in dropped[1:]}
    assert [[one["name"] for one in documents] for documents in alone] == [[str(f)] for f in dropped[1:]]


def test_a_path_that_can_be_none_means_no_dropped_file(program: Program, folder: Path) -> None:
    """Looked for in a folder of ours like any other, it finds nothing and breaks nothing."""
    found = asyncio.run(
        Whereabouts(SourceFolders(root=folder), DiskMover()).documents_at(
            Nobodys(),  # type: ignore[arg-type]
            LOCAL_WORKSPACE,
            f"{folder}/a\0b/processed",
        )
    )

    assert found == []


class Nobodys:
    """A catalogue without collections."""

    async def collection(self, *_: object) -> None:
        return None


def test_a_link_to_a_folder_means_the_folder(program: Program, folder: Path) -> None:
    """As one to a file means the file: a dry run and a submit say the same, and the job can read it."""
    link = program.folder / "link"
    link.symlink_to(folder)

    told = program.json(*SUBMIT, "--path", link, "--dry-run")
    program.json(*SUBMIT, "--path", link)

    assert told["dry_run"] is True
    (payload,) = [json.loads(str(row[0])) for row in program.rows("payload_json")]
    assert payload["folder_path"] == str(folder)


def test_a_submit_that_reindexes_follows_the_policy_too(program: Program, folder: Path) -> None:
    """What is there stays by `skip` and `append`, which is said; the answer tells what is done."""

    async def fill(store: Store) -> None:
        await ingested(store, program.data, folder / "a.md", ["a"])

    program.in_store(fill)
    file = program.folder / "penstock.yaml"
    words = (*SUBMIT, "--path", folder / "b.md", "--reindex", "--config", file)
    told: dict[str, list[bool]] = {}
    for policy in ("skip", "append", "recreate"):
        file.write_text(f"collections: {{notes: {{recreation_policy: {policy}}}}}", encoding="utf-8")
        planned = program.json(*words, "--dry-run")
        ran = program(*words, "--json")
        shown = program.json("collection", "show", "notes")
        told[policy] = [planned["reindexing"], ran.said()["reindexing"], bool(shown["building"])]
        assert (f"by its recreation_policy, {policy}, what notes has stays" in ran.err) is (
            policy != "recreate"
        )

    assert told == {"skip": [False] * 3, "append": [False] * 3, "recreate": [True] * 3}


def test_a_submit_that_reindexes_says_where_to_see_the_rebuild(program: Program, folder: Path) -> None:
    """Its own jobs end long before the collection answers from its new index."""
    submit = (*SUBMIT, "--path", folder / "b.md", "--reindex")

    assert "to see how far: penstock collection show notes" in program(*submit).err
    assert "rebuilt" not in program(*submit, "--quiet").err


def test_a_plan_that_reindexes_says_what_would_be_built(program: Program, folder: Path) -> None:
    """In words, as many documents as `reindex` would say; nothing where the policy is against it."""
    file = program.folder / "penstock.yaml"
    file.write_text("collections: {notes: {recreation_policy: append}}", encoding="utf-8")
    program(*SUBMIT, "--path", folder / "a.md")
    plan = (*SUBMIT, "--path", folder / "b.md", "--reindex", "--dry-run")

    told, kept = program(*plan), program(*plan, "--config", file)

    sentence = "1 document of notes would be built anew beside the index that answers\n"
    assert sentence in told.err
    assert sentence in program("ingest", "reindex", "--rag", "notes", "--dry-run").err
    assert ("built anew beside" in kept.err, "nothing is built anew" in kept.err) == (False, True)


def test_time_that_is_over_leaves_the_rebuild_going(program: Program, folder: Path) -> None:
    """One `--timeout` bounds the documents and the rebuild, and each is said to go on."""
    submit = (*SUBMIT, "--reindex", "--wait", "--timeout", "300ms")

    ran = program(*submit, "--path", folder / "b.md")
    told = program(*submit, "--path", folder / "b.md", "--json")

    assert ran.code == told.code == 5
    assert "the rebuild of notes goes on" in ran.err
    found = json.loads(told.out)
    assert deviations(found, Handed) == []
    assert (found["wait"]["end"], found["rebuilt"]["end"]) == ("timeout", "timeout")


def test_a_rebuild_that_is_given_up_is_told_to_whoever_waits(program: Program, folder: Path) -> None:
    """All documents went well, and yet it ends with 2, as the reindex itself would."""
    with program.start(*SUBMIT, folder / "a.md", "--reindex", "--wait") as waiting:
        assert waiting.stdout is not None
        waiting.stdout.readline()

        async def give_up(store: Store) -> None:
            shelf = await store.catalogue.collection(LOCAL_WORKSPACE, "notes")
            assert shelf is not None
            await store.write(lambda tx: tx.shelves.abandon(shelf.id))
            leases = await store.queue.claim(WorkerId("by-hand"), 1)
            await store.queue.settle([(lease, DONE) for lease in leases])

        program.in_store(give_up)
        _, err = waiting.communicate(timeout=PATIENCE)

    assert waiting.returncode == 2, err
    assert "notes goes on answering from its old index" in err


def test_reindexing_follows_its_policy(program: Program, folder: Path) -> None:
    """`skip` leaves what is there, `append` needs sources, `recreate` opens the index beside."""

    async def fill(store: Store) -> None:
        await ingested(store, program.data, folder / "a.md", ["a"])

    program.in_store(fill)
    file = program.folder / "penstock.yaml"
    file.write_text(f"collections: {{notes: {{sources: [{{path: {folder}}}]}}}}", encoding="utf-8")
    reindex = ("ingest", "reindex", "--rag", "notes")

    skipped = program.json(*reindex, "--policy", "skip")
    refused = program(*reindex, "--policy", "append", "--json")
    appended = program.json(*reindex, "--policy", "append", "--config", file)
    begun = program.json(*reindex)

    assert deviations(begun, Reindexed) == []
    file.write_text("collections: {notes: {recreation_policy: skip}}", encoding="utf-8")
    configured = program.json(*reindex, "--config", file)
    file.write_text("collections: {notes: {recreation_policy: clear}}", encoding="utf-8")
    wrong = program(*reindex, "--config", file)
    assert (configured["policy"], configured["action"]) == ("skip", "nothing")
    assert wrong.code == 3
    assert "collections.notes.recreation_policy" in wrong.err
    assert (skipped["action"], refused.error["code"]) == ("nothing", "ERR_CONFIGURATION")
    assert (appended["action"], len(appended["jobs"])) == ("submit", 1)
    assert (begun["action"], begun["documents"]) == ("rebuild", 1)
    shown = program.json("collection", "show", "notes")
    assert shown["building_progress"] == {"recipe": shown["recipe"], "done": 0, "total": 1}
    assert program("fsck").code == 0

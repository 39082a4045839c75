"""From files to what readers find, with the real program: every item type, and what users suffer.

One worker serves all tests of this module; each has a collection of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator

import pytest

from penstock.model.projects import tenant_of_project
from tests.support.files.packages import docx, paragraph
from tests.support.papers import Desk, Papers
from tests.support.processes import Plant

pytestmark = pytest.mark.xdist_group("documents")

CATS = "# Cats\n\nCats sleep for sixteen hours a day.\n"
DOGS = "# Dogs\n\nDogs sleep for twelve hours a day.\n"


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Papers]:
    """A running worker on a data folder."""
    plant = Plant(tmp_path_factory.mktemp("papers"))
    plant.make()
    try:
        found = Papers(plant)
        found.worker()
        yield found
    finally:
        left = plant.close()
    assert left == [], "processes were left over"


@pytest.fixture
def desk(papers: Papers, request: pytest.FixtureRequest) -> Desk:
    """A collection and a folder of the test's own."""
    return papers.desk(request.node.name)


def test_the_same_bytes_twice_are_one_document_and_one_set_of_vectors(desk: Desk) -> None:
    """Duplicates: handing a file in again changes nothing, and answers with the same document."""
    path = desk.write("cats.md", CATS)
    desk.ingest(path)
    before = desk.rows("SELECT document_id, updated_at FROM documents d")
    vectors = desk.papers.embeddings()

    desk.ingest(path)

    assert [row["document_id"] for row in desk.rows("SELECT document_id FROM documents d")] == [
        row["document_id"] for row in before
    ]
    assert desk.papers.embeddings() == vectors
    assert desk.versions() == {"cats.md": 1}


def test_the_same_bytes_at_two_paths_are_two_documents_that_share(desk: Desk) -> None:
    """Equal bytes at another path are another document with the same blob, parse and vectors."""
    desk.ingest(desk.write("a/cats.md", CATS + "Shared.\n"))
    vectors, blobs = desk.papers.embeddings(), desk.papers.blobs()

    desk.ingest(desk.write("b/cats.md", CATS + "Shared.\n"))

    assert len(desk.rows("SELECT 1 FROM documents d")) == 2
    assert desk.papers.embeddings() == vectors
    assert desk.papers.blobs() == blobs


def test_an_edited_paragraph_embeds_few_chunks_again(desk: Desk) -> None:
    """Duplicates: of a hundred chunks with one edited, only what changed is embedded."""
    parts = [f"## Part {n}\n\n" + f"Sentence number {n} speaks of cats and boxes. " * 24 for n in range(100)]
    path = desk.write("long.md", "\n\n".join(parts))
    desk.ingest(path)
    chunks = desk.chunks()["long.md"]
    keys = desk.embedding_ids()

    parts[50] = parts[50].replace("boxes", "bags", 1)
    path.write_text("\n\n".join(parts), encoding="utf-8")
    desk.ingest(path)

    assert chunks >= 100
    assert len(desk.embedding_ids() - keys) <= 3
    assert "bags" in desk.text("long.md")


def test_a_deleted_document_vanishes_at_once_and_leaves_nothing(desk: Desk) -> None:
    """Orphans: after a delete no answer has it, and no row, word, vector or byte of it is left."""
    path = desk.write("secret.md", "# Plan\n\nThe zanzibar canary sings at noon.\n")
    desk.ingest(path)
    assert "zanzibar" in desk.search("zanzibar canary")

    desk.papers.run("ingest", "delete", "--rag", desk.collection, "--path", str(path))
    desk.wait_until_paid()

    assert "zanzibar" not in desk.search("zanzibar canary")
    assert desk.states() == {}
    assert desk.rows("SELECT 1 FROM documents d") == []
    assert path.exists()


def test_a_moved_file_keeps_its_vectors(desk: Desk) -> None:
    """Move: a rename is metadata alone."""
    old = desk.write("old.md", CATS + "Moved.\n")
    desk.ingest(old)
    vectors, version = (
        desk.embedding_ids(),
        desk.rows("SELECT v.version_id FROM documents d JOIN versions v ON v.document = d.number"),
    )
    new = old.rename(old.with_name("new.md"))

    desk.job("rename", "update", {"old_path": str(old), "new_path": str(new)})

    assert desk.states() == {"new.md": "ingested"}
    assert desk.embedding_ids() == vectors
    assert (
        desk.rows("SELECT v.version_id FROM documents d JOIN versions v ON v.document = d.number") == version
    )


def test_a_renamed_folder_moves_every_document(desk: Desk) -> None:
    """Move: a folder's rename fans out to one child each, and nothing is embedded."""
    for n in range(3):
        desk.write(f"old/{n}.md", CATS + f"Number {n}.\n")
    desk.ingest(desk.folder / "old")
    vectors = desk.embedding_ids()
    (desk.folder / "old").rename(desk.folder / "new")

    desk.job(
        "rename", "update",
        {"old_path": str(desk.folder / "old"), "new_path": str(desk.folder / "new"), "is_folder": True},
    )  # fmt: skip
    desk.wait_until_idle()

    assert sorted(row["identity"] for row in desk.rows("SELECT identity FROM documents d")) == [
        str(desk.folder / "new" / f"{n}.md") for n in range(3)
    ]
    assert desk.embedding_ids() == vectors


def test_a_folder_is_kept_in_step(desk: Desk) -> None:
    """A folder's ingest takes what is new or changed, deletes what is gone, and leaves the rest alone."""
    for name in ("same", "changed", "gone"):
        desk.write(f"in/{name}.md", CATS + f"This is {name}.\n")
    desk.write("in/.gitignore", "*.log\n")
    desk.write("in/noise.log", "noise")
    desk.ingest(desk.folder / "in")
    assert set(desk.states()) == {"same.md", "changed.md", "gone.md"}
    same = desk.rows("SELECT updated_at FROM documents d WHERE name = 'same.md'")

    desk.write("in/changed.md", DOGS)
    desk.write("in/new.md", DOGS + "New.\n")
    (desk.folder / "in/gone.md").unlink()
    scan = desk.job("folder", "scan", {"folder_path": str(desk.folder / "in")})
    report = json.loads(desk.papers.run("ingest", "status", "--job", scan, "--json"))["found"]
    assert (report["new"], report["changed"], report["unchanged"], report["gone"]) == (1, 1, 1, 1)
    assert set(desk.states()) == {"same.md", "changed.md", "gone.md"}, "a scan changes nothing"
    desk.ingest(desk.folder / "in")

    assert desk.states() == dict.fromkeys(("same.md", "changed.md", "new.md"), "ingested")
    assert "Dogs" in desk.text("changed.md")
    assert desk.rows("SELECT updated_at FROM documents d WHERE name = 'same.md'") == same


def test_a_folder_without_its_disk_deletes_nothing(desk: Desk) -> None:
    """An empty place documents were taken from is told as such; they answer until somebody deletes them."""
    path = desk.write("disk/cats.md", CATS)
    desk.ingest(path.parent)
    path.unlink()

    job = desk.job("folder", "ingest", {"folder_path": str(path.parent)})

    assert desk.ended(job) == ("failed", "ERR_FOLDER_EMPTY")
    assert desk.states() == {"cats.md": "ingested"}


def test_a_folder_whose_files_the_patterns_leave_out_is_not_empty(desk: Desk) -> None:
    """A file that is there, though not looked for, shows that the disk is; what is gone is deleted."""
    kept, gone = desk.write("left/cats.md", CATS), desk.write("left/dogs.md", DOGS)
    desk.ingest(kept.parent)
    gone.unlink()

    job = desk.job("folder", "ingest", {"folder_path": str(kept.parent), "patterns": ["*.rst"]})
    desk.wait_until_idle()

    assert desk.ended(job) == ("done", None)
    assert desk.states() == {"cats.md": "ingested"}


def test_a_deleted_folder_deletes_its_documents_alone(desk: Desk) -> None:
    """A folder's delete reaches everything under it and nothing beside it."""
    desk.write("in/one.md", CATS + "One.\n")
    desk.write("in/deep/two.md", CATS + "Two.\n")
    desk.write("in2/three.md", CATS + "Three.\n")
    desk.ingest(desk.folder / "in", desk.folder / "in2")

    desk.job("folder", "delete", {"folder_path": str(desk.folder / "in")})
    desk.wait_until_idle()

    assert desk.states() == {"three.md": "ingested"}


def test_a_project_is_what_git_tracks(desk: Desk) -> None:
    """A project takes tracked and unignored files, under its branch."""
    root = desk.folder / "project"
    desk.write("project/README.md", CATS)
    desk.write("project/.gitignore", "build/\n")
    desk.write("project/build/out.md", DOGS)
    git = ["git", "-C", str(root), "-c", "user.name=n", "-c", "user.email=n@example.org"]
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(root)], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "first"], check=True)

    desk.job("project", "ingest", {"project_root": str(root)})
    desk.wait_until_idle()

    assert desk.states() == {"README.md": "ingested"}
    assert desk.rows("SELECT branch FROM documents d") == [{"branch": "trunk"}]


def test_a_project_on_another_branch_is_of_that_branch(desk: Desk) -> None:
    """Edited or not, what is found after a checkout stands under its branch; nothing is built twice."""
    root = desk.folder / "project"
    git = ["git", "-C", str(root), "-c", "user.name=n", "-c", "user.email=n@example.org"]
    desk.write("project/same.md", CATS + "Same.\n")
    desk.write("project/edited.md", CATS + "Edited.\n")
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(root)], check=True)
    desk.job("project", "ingest", {"project_root": str(root)})
    desk.wait_until_idle()
    (same,) = desk.rows("SELECT number FROM documents d WHERE name = 'same.md'")

    subprocess.run([*git, "checkout", "-q", "-b", "feature"], check=True)
    desk.write("project/edited.md", DOGS + "Edited.\n")
    desk.job("project", "ingest", {"project_root": str(root)})
    desk.wait_until_idle()

    assert {row["name"]: row["branch"] for row in desk.rows("SELECT name, branch FROM documents d")} == {
        "same.md": "feature",
        "edited.md": "feature",
    }
    assert "Dogs" in desk.text("edited.md")
    assert desk.versions()["same.md"] == 1
    assert desk.rows("SELECT number FROM documents d WHERE name = 'same.md'") == [same]


def test_a_project_is_a_tenant_of_its_own(desk: Desk) -> None:
    """It is searched and listed with the workspace's other documents, and deleted without them."""
    root = desk.folder / "project"
    desk.write("project/README.md", "# Tool\n\nThe tool turns quartz into glass.\n")
    desk.ingest(desk.write("beside.md", "# Beside\n\nQuartz is a mineral.\n"))
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    subprocess.run(
        ["git", "-C", str(root), "remote", "add", "origin", "git@example.org:ann/tool.git"], check=True
    )

    desk.papers.run(
        "ingest", "submit", "--rag", desk.collection, "--project", str(root), "--wait", "--timeout", "90s"
    )

    tenant = tenant_of_project(str(root), "https://example.org/ann/tool")
    owners = {row["name"]: row["tenant_id"] for row in desk.rows("SELECT name, tenant_id FROM documents d")}
    assert owners == {"README.md": tenant, "beside.md": "local"}
    assert "turns quartz into glass" in desk.search("quartz")
    assert "README.md" in desk.papers.run("ingest", "list", "--rag", desk.collection)

    desk.job("delete_tenant", "delete", {"tenant_id_to_delete": tenant}, tenant=tenant)
    assert desk.states() == {"beside.md": "ingested"}


def test_a_text_is_a_document(desk: Desk) -> None:
    """A note is ingested, found by its words and its tag, and deleted by its text."""
    note = {
        "content": "Remember that the axolotl regrows its limbs.",
        "main_tag": "animals", "full_tag": "animals/water",
    }  # fmt: skip
    desk.job("content", "ingest", note)
    assert "axolotl" in desk.search("axolotl limbs")
    assert "axolotl" in desk.search("axolotl limbs", "--meta", "full_tag=animals/water")
    desk.job("content", "update", {**note, "full_tag": "animals/caves"})
    assert "axolotl" not in desk.search("axolotl limbs", "--meta", "full_tag=animals/water")
    assert "axolotl" in desk.search("axolotl limbs", "--meta", "full_tag=animals/caves")

    desk.job("content", "delete", note)

    assert "axolotl" not in desk.search("axolotl limbs")


def test_a_library_from_a_folder(desk: Desk) -> None:
    """A library's folder becomes documents that carry its name."""
    desk.write("lib/usage.md", "# Usage\n\nCall frobnicate() twice.\n")

    desk.job("library", "ingest", {
        "library_name": "frob", "library_version": "1.2", "source_path": str(desk.folder / "lib"),
    })  # fmt: skip
    desk.wait_until_idle()

    (row,) = desk.rows("SELECT metadata_json FROM documents d")
    assert json.loads(row["metadata_json"]) == {"library": "frob", "library_version": "1.2"}


@pytest.mark.parametrize("named", [True, False], ids=["sourced", "named"])
@pytest.mark.parametrize("whole", [True, False], ids=["folder", "file"])
def test_a_library_is_deleted(desk: Desk, whole: bool, named: bool) -> None:
    """By name and version, with its source or without, as a folder or as one file; another version stays."""
    desk.write("lib/usage.md", "# Usage\n\nCall frobnicate() twice.\n")
    desk.write("next/usage.md", "# Usage\n\nCall frobnicate() three times.\n")
    source, other = desk.folder / "lib", desk.folder / "next"
    if not whole:
        source, other = source / "usage.md", other / "usage.md"
    frob = {"library_name": "frob", "library_version": "1.2"}
    desk.job("library", "ingest", {**frob, "source_path": str(source)})
    desk.job("library", "ingest", {**frob, "library_version": "1.3", "source_path": str(other)})
    desk.wait_until_idle()
    assert len(desk.rows("SELECT 1 FROM documents d")) == 2

    gone = desk.job("library", "delete", {**frob, **({"source_path": str(source)} if named else {})})
    desk.wait_until_idle()

    assert desk.ended(gone) == ("done", None)
    assert "twice" not in desk.search("call frobnicate")
    assert "three times" in desk.search("call frobnicate")
    assert len(desk.rows("SELECT 1 FROM documents d")) == 1


def test_a_private_address_is_never_fetched(desk: Desk) -> None:
    """A library's URL that leads into the house fails with its code and is not retried."""
    job = desk.job(
        "library",
        "ingest",
        {"library_name": "x", "library_version": "1", "source_url": "http://127.0.0.1:1/"},
    )
    assert desk.ended(job) == ("failed", "ERR_URL_FORBIDDEN")


def test_a_tenant_is_deleted_whole(desk: Desk) -> None:
    """delete_tenant hides everything of the tenant in every collection; the same name starts empty."""
    path = desk.write("cats.md", CATS + "Tenant.\n")
    desk.job("file", "ingest", {"file_path": str(path)}, tenant="tenant-x")
    assert set(desk.states()) == {"cats.md"}

    desk.job("delete_tenant", "delete", {"tenant_id_to_delete": "tenant-x"}, tenant="tenant-x")
    assert desk.states() == {}

    desk.job("file", "ingest", {"file_path": str(path)}, tenant="tenant-x")
    assert set(desk.states()) == {"cats.md"}


def test_a_missing_file_fails_and_the_last_good_version_answers(desk: Desk) -> None:
    """An explicit ingest of a file that is gone fails with its code; readers keep what they had."""
    path = desk.write("cats.md", CATS + "Last good.\n")
    desk.ingest(path)
    path.unlink()

    job = desk.job("file", "ingest", {"file_path": str(path)})

    assert desk.ended(job) == ("failed", "ERR_FILE_NOT_FOUND")
    assert "Last good" in desk.search("sixteen hours")
    assert desk.states() == {"cats.md": "error"}


@pytest.mark.parametrize(
    ("name", "data", "code"),
    [
        ("empty.txt", b"", "ERR_FILE_EMPTY"),
        ("broken.pdf", b"%PDF-1.7\nthis is no pdf", "ERR_PDF_INVALID"),
        ("picture.pdf", b"\x89PNG\r\n\x1a\n" + bytes(100), "ERR_TYPE_MISMATCH"),
        ("blanks.txt", b" \n\t\n" * 10, "ERR_NO_TEXT"),
    ],
)
def test_a_bad_file_costs_one_failed_document(desk: Desk, name: str, data: bytes, code: str) -> None:
    """One bad file: failed at once with its own code and suggestions; its neighbour is ingested."""
    bad = desk.folder / name
    bad.write_bytes(data)
    good = desk.write("good.md", CATS + "Neighbour.\n")

    jobs = [desk.job("file", "ingest", {"file_path": str(path)}) for path in (bad, good)]

    assert [desk.ended(job) for job in jobs] == [("failed", code), ("done", None)]
    assert desk.states() == {name: "error", "good.md": "ingested"}
    told = json.loads(desk.papers.run("ingest", "status", "--job", jobs[0], "--json"))
    assert (told["status"], told["error_code"], told["retry_count"]) == ("failed", code, 0)
    assert told["suggestions"]


def test_nobody_is_advised_to_skip_the_validation_he_skipped(desk: Desk) -> None:
    """Where nothing can be read even so, the error says that; without it, skipping is worth a try."""
    torn = {"torn.pdf": b"%PDF-1.7\nthis is no pdf", "torn.docx": docx(paragraph("Words."))[:-60]}
    for name, data in torn.items():
        (desk.folder / name).write_bytes(data)
    files = str(desk.folder / "torn.*")
    submit = ("ingest", "submit", "--rag", desk.collection, "--path", files, "--wait", "--json")

    strict, lenient = (
        json.loads(desk.papers.run(*submit, *more, code=2)) for more in ((), ("--skip-validation",))
    )

    wait = [[each["error"] for each in told["wait"]["failures"]] for told in (strict, lenient)]
    assert {error["code"] for error in wait[0]} == {"ERR_PDF_INVALID", "ERR_DOCX_INVALID"}
    assert [error["code"] for error in wait[1]] == ["ERR_UNSALVAGEABLE"] * 2
    assert all("--skip-validation" in " ".join(error["suggestions"]) for error in wait[0])
    said = [desk.papers.run("ingest", "status", "--job", item["job_id"]) for item in lenient["items"]]
    assert len(said) == len(torn)
    assert all("cannot be read as" in each and "--skip-validation" not in each for each in said)
    assert "--skip-validation" not in json.dumps(wait[1])


def test_a_collection_is_rebuilt_beside_and_swapped(desk: Desk) -> None:
    """Recipe change: the old index answers until the new one is whole, and nothing is embedded twice."""
    desk.ingest(desk.write("cats.md", CATS + "Rebuild.\n"), desk.write("dogs.md", DOGS + "Rebuild.\n"))
    vectors = desk.embedding_ids()
    (before,) = desk.rows(
        "SELECT DISTINCT c.generation FROM documents d JOIN collections c USING (collection_id)"
    )

    desk.papers.run("ingest", "reindex", "--rag", desk.collection, "--wait", "--timeout", "60s")

    (after,) = desk.rows(
        "SELECT DISTINCT c.generation FROM documents d JOIN collections c USING (collection_id)"
    )
    assert after != before
    assert desk.states() == {"cats.md": "ingested", "dogs.md": "ingested"}
    assert desk.embedding_ids() == vectors
    assert "sixteen" in desk.search("how long do cats sleep")


def test_dropped_files_are_taken_in_and_moved(desk: Desk) -> None:
    """Incoming: a good file ends in processed with its record, a bad one in failed with its own."""
    incoming = desk.papers.plant.data / "sources" / desk.collection / "incoming"
    desk.papers.plant.wait_until(incoming.is_dir, "the incoming folder is there")
    (incoming / "good.md.part").write_text(CATS + "Dropped.\n", encoding="utf-8")
    (incoming / "good.md.part").rename(incoming / "good.md")
    (incoming / "bad.pdf").write_bytes(b"%PDF-1.7\nno")

    processed, failed = incoming.parent / "processed", incoming.parent / "failed"
    desk.papers.plant.wait_until((processed / "good.md.meta.json").exists, "the good one is processed")
    desk.papers.plant.wait_until((failed / "bad.pdf.error.json").exists, "the bad one has failed")

    assert list(incoming.iterdir()) == []
    assert (processed / "good.md").read_text(encoding="utf-8") == CATS + "Dropped.\n"
    meta = json.loads((processed / "good.md.meta.json").read_text(encoding="utf-8"))
    assert (meta["status"], meta["rag_id"], meta["filename"]) == ("done", desk.collection, "good.md")
    assert meta["chunks_created"] == meta["embeddings_generated"] >= 1
    told = [(stage["stage"], stage["status"]) for stage in meta["stages"]]
    assert told == [("parse", "success"), ("ingest", "success")]
    error = json.loads((failed / "bad.pdf.error.json").read_text(encoding="utf-8"))
    assert list(error) == [
        "job_id", "rag_id", "filename", "status", "submitted_at", "started_at", "failed_at", "error",
        "error_type", "error_code", "retry_count", "max_retries", "suggestions", "traceback",
    ]  # fmt: skip
    assert (error["error_code"], error["error_type"]) == ("ERR_PDF_INVALID", "ParseError")


def test_a_row_written_by_hand_becomes_a_document(desk: Desk) -> None:
    """A raw SQL insert of the documented columns is processed like any other job."""
    path = desk.write("raw.md", CATS + "By hand.\n")
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    desk.papers.plant.execute(
        "INSERT INTO unified_queue (queue_id, item_type, op, tenant_id, collection, priority, status,"
        " created_at, updated_at, idempotency_key, payload_json)"
        " VALUES ('by-hand', 'file', 'ingest', 'local', ?, 5, 'pending', ?, ?, ?, ?)",
        desk.collection, now, now, f"file:{desk.collection}:0123456789abcdef",
        json.dumps({"file_path": str(path)}),
    )  # fmt: skip

    desk.papers.plant.wait_until(lambda: desk.ended("by-hand")[0] != "pending", "it is claimed")
    desk.wait_until_idle()

    assert desk.ended("by-hand") == ("done", None)
    assert desk.states() == {"raw.md": "ingested"}


RAW_ROWS = {
    "file": ("ingest", {"file_path": "/nowhere/at/all.md"}, "ERR_FILE_NOT_FOUND"),
    "library": (
        "ingest",
        {"library_name": "x", "library_version": "1", "source_path": "/nowhere/at/all.md"},
        "ERR_FILE_NOT_FOUND",
    ),
    "folder": ("scan", {"folder_path": "/nowhere/at/all"}, "ERR_FOLDER_NOT_FOUND"),
    "project": ("ingest", {"project_root": "/nowhere/at/all"}, "ERR_FOLDER_NOT_FOUND"),
    "rename": ("update", {"old_path": "/nowhere/a.md", "new_path": "/nowhere/b.md"}, "ERR_DOCUMENT_UNKNOWN"),
    "content": ("ingest", {"contents": "a wrong key"}, "ERR_PAYLOAD_INVALID"),
}
"""Rows about nothing that is there, and how each ends."""


def test_rows_written_by_hand_about_nothing_end_with_a_reason(desk: Desk) -> None:
    """They have no document to tell it; the job says it, in its row and to whoever asks for its status."""
    plant, now = desk.papers.plant, time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    for item_type, (op, payload, _) in RAW_ROWS.items():
        plant.execute(
            "INSERT INTO unified_queue (queue_id, item_type, op, tenant_id, collection, priority, status,"
            " created_at, updated_at, idempotency_key, payload_json)"
            " VALUES (?, ?, ?, 'local', ?, 5, 'pending', ?, ?, ?, ?)",
            f"nothing-{item_type}", item_type, op, desk.collection, now, now,
            f"{item_type}:{desk.collection}:fedcba9876543210", json.dumps(payload),
        )  # fmt: skip
    desk.wait_until_idle()

    ends = {item_type: desk.ended(f"nothing-{item_type}") for item_type in RAW_ROWS}
    assert ends == {item_type: ("failed", code) for item_type, (_, _, code) in RAW_ROWS.items()}
    told = json.loads(desk.papers.run("ingest", "status", "--job", "nothing-file", "--json"))
    assert (told["status"], told["error_code"], told["document_id"]) == ("failed", "ERR_FILE_NOT_FOUND", None)
    assert told["error"]
    assert told["suggestions"]
    assert desk.states() == {}


def test_stages_can_be_read_by_their_documented_names(desk: Desk) -> None:
    """parse_jobs and ingest_jobs show each step of a document with its state."""
    desk.ingest(desk.write("cats.md", CATS + "Stages.\n"))
    (document,) = desk.rows("SELECT document_id FROM documents d")
    for view in ("parse_jobs", "ingest_jobs"):
        (row,) = desk.papers.plant.rows(
            f"SELECT status, retry_count, error_message FROM {view} WHERE document_id = ?",  # noqa: S608
            document["document_id"],
        )
        assert row == {"status": "success", "retry_count": 0, "error_message": None}


def test_cancel_while_a_document_is_read(desk: Desk) -> None:
    """Cancel: a document in the middle of its embedding ends, and can be deleted; how soon, see there."""
    words = " ".join(f"word{n % 977} about cats and boxes number {n}." for n in range(60_000))
    path = desk.write("huge.txt", words)
    job = desk.papers.run("ingest", "submit", "--rag", desk.collection, "--path", str(path)).strip()
    desk.papers.plant.wait_until(lambda: desk.ended(job)[0] == "in_progress", "it runs")
    desk.papers.plant.wait_until(
        lambda: desk.rows("SELECT 1 FROM documents d WHERE state = 'parsed'") != [], "it is being embedded"
    )

    desk.papers.run("queue", "cancel", job, code=0)
    desk.papers.plant.wait_until(lambda: desk.ended(job)[0] == "failed", "it has ended")

    assert desk.ended(job) == ("failed", "ERR_CANCELLED")
    assert desk.states() == {"huge.txt": "error"}
    desk.papers.run("ingest", "delete", "--rag", desk.collection, "--path", str(path))
    desk.wait_until_paid()
    assert desk.states() == {}


def test_every_citation_lies_in_its_document(desk: Desk) -> None:
    """Citations: a passage is exactly the stored text's span."""
    text = "# Cats\n\n" + "\n\n".join(f"Paragraph {n} says that cat {n} sleeps." for n in range(200))
    desk.ingest(desk.write("cats.md", text))

    found = json.loads(desk.papers.run("search", "cat 77 sleeps", "--rag", desk.collection, "--json"))

    spans = [span for hit in found["hits"] for span in hit["spans"]]
    assert spans
    assert [span["text"] for span in spans] == [text[span["start"] : span["end"]] for span in spans]


def test_a_users_folder_is_only_read(desk: Desk) -> None:
    """Ingesting never writes to, moves or touches a user's own files."""
    path = desk.write("own/cats.md", CATS + "Read only.\n")
    before = os.stat(path), sorted(str(each) for each in desk.folder.rglob("*"))

    desk.ingest(desk.folder / "own")

    after = os.stat(path), sorted(str(each) for each in desk.folder.rglob("*"))
    assert (before[0].st_mtime_ns, before[0].st_ino, before[1]) == (
        after[0].st_mtime_ns, after[0].st_ino, after[1],
    )  # fmt: skip


def test_fsck_and_doctor_are_content(papers: Papers) -> None:
    """After all of the above, everything agrees with everything."""
    papers.plant.wait_until(
        lambda: not papers.plant.unfinished() and not papers.plant.rows("SELECT * FROM debts"),
        "all is done and paid",
        seconds=90,
    )
    papers.run("fsck")

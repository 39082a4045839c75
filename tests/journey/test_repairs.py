"""What `penstock fsck --repair` calls mended is mended once a worker has run: nothing is found afterwards.

One worker serves all tests of this module; each has a collection of its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.support.papers import Desk, Papers
from tests.support.processes import a_plant

pytestmark = pytest.mark.xdist_group("repairs")

CATS = "# Cats\n\nCats sleep for sixteen hours a day.\n"


@pytest.fixture(scope="module")
def papers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Papers]:
    """A running worker on a data folder."""
    with a_plant(tmp_path_factory.mktemp("repairs")) as plant:
        found = Papers(plant)
        found.worker()
        yield found


@pytest.fixture
def desk(papers: Papers, request: pytest.FixtureRequest) -> Desk:
    """A collection and a folder of the test's own."""
    return papers.desk(request.node.name)


def break_chunks(desk: Desk) -> None:
    """Take away what readers would find, behind everybody's back."""
    for row in desk.rows("SELECT version_id FROM documents d JOIN versions v ON v.document = d.number"):
        desk.papers.plant.execute("DELETE FROM chunks WHERE version_id = ?", row["version_id"])


def flaws(desk: Desk, *words: str, code: int) -> set[str]:
    """What fsck finds, by kind."""
    told = json.loads(desk.papers.run("fsck", "--json", *words, code=code))
    return {each["flaw"] for each in told["flaws"]}


def repair(desk: Desk) -> set[str]:
    """Mend, let the worker do its part, and look again: the flaws that were told, all of them gone."""
    told = flaws(desk, "--repair", code=0)
    desk.wait_until_paid()
    assert flaws(desk, code=0) == set()
    return told


def test_a_document_that_came_by_incoming_is_built_from_what_is_kept(desk: Desk) -> None:
    """Its file was moved long ago; the bytes that were captured are all the repair needs."""
    incoming = desk.papers.plant.data / "sources" / desk.collection / "incoming"
    desk.papers.plant.wait_until(incoming.is_dir, "the incoming folder is there")
    (incoming / "cats.md.part").write_text(CATS, encoding="utf-8")
    (incoming / "cats.md.part").rename(incoming / "cats.md")
    desk.papers.plant.wait_until((incoming.parent / "processed" / "cats.md").exists, "it is processed")
    desk.wait_until_paid()
    break_chunks(desk)

    assert "version_chunks" in repair(desk)

    assert desk.states() == {"cats.md": "ingested"}
    assert "sixteen hours" in desk.search("how long do cats sleep")
    assert (incoming.parent / "processed" / "cats.md").exists()


def complaint(desk: Desk, *words: str) -> dict[str, str]:
    """The error a command ends with, as programs read it."""
    plant = desk.papers.plant
    ran = subprocess.run(
        [sys.executable, "-m", "penstock", *words, "--json"],
        cwd=plant.folder, env=plant.environment(), capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert ran.returncode == 2, ran.stdout + ran.stderr
    found: dict[str, str] = json.loads(ran.stderr)["error"]
    return found


def test_an_index_that_is_gone_is_told_by_whoever_needs_it_and_put_back(desk: Desk) -> None:
    """Nobody reads that nothing was found or that there is no such collection; once mended, all is found."""
    path = desk.write("cats.md", CATS + "Without an index.\n")
    desk.ingest(path)
    named = ("--rag", desk.collection)
    desk.papers.plant.execute(
        "DELETE FROM generations WHERE generation_id = (SELECT generation FROM collections WHERE name = ?)",
        desk.collection,
    )

    for words in (
        ("search", "cats", *named),
        ("search", "cats"),
        ("ask", "how long do cats sleep", *named),
        ("ingest", "submit", *named, "--path", str(path)),
        ("ingest", "reindex", *named),
        ("collection", "create", desk.collection),
    ):
        told = complaint(desk, *words)
        assert (told["code"], "penstock fsck --repair" in told["message"]) == ("ERR_INDEX_MISSING", True)
    assert f"The index of {desk.collection} is not there" in desk.papers.run("doctor", code=2)
    assert desk.collection in desk.papers.run("collection", "list")
    job = desk.papers.run(
        "queue", "submit", "--type", "file", "--op", "update", "--collection", desk.collection,
        "--payload", json.dumps({"file_path": str(path)}),
    ).split()[0]  # fmt: skip
    desk.papers.plant.wait_until(lambda: desk.ended(job)[1] is not None, "it has met the flaw", seconds=60)
    assert desk.ended(job)[1] == "ERR_INDEX_MISSING"

    assert "collection_index" in repair(desk)

    assert desk.states() == {"cats.md": "ingested"}
    assert "sixteen hours" in desk.search("how long do cats sleep")


def test_a_file_its_owner_removed_is_built_from_what_is_kept(desk: Desk) -> None:
    """A repair mends what is searched; that a file is gone is not its business."""
    path = desk.write("cats.md", CATS)
    desk.ingest(path)
    path.unlink()
    break_chunks(desk)

    assert "version_chunks" in repair(desk)

    assert desk.states() == {"cats.md": "ingested"}
    assert "sixteen hours" in desk.search("how long do cats sleep")


@pytest.mark.parametrize("left", ["everything", "no file", "no job"])
def test_a_library_is_built_anew_from_equal_bytes(desk: Desk, left: str) -> None:
    """Also once its file, or the job that told where it lies, is gone."""
    path = desk.write("manual.md", CATS + f"With {left}.\n")
    frob = {"library_name": "frob", "library_version": "1:2", "source_path": str(path)}
    job = desk.job("library", "ingest", frob)
    if left != "everything":
        path.unlink()
    if left == "no job":
        desk.papers.plant.execute("DELETE FROM unified_queue WHERE queue_id = ?", job)
    break_chunks(desk)

    assert "version_chunks" in repair(desk)

    assert desk.states() == {"manual.md": "ingested"}
    assert "sixteen hours" in desk.search("how long do cats sleep")


def test_a_version_without_its_document_holds_up_no_rebuild(desk: Desk) -> None:
    """Whoever removed a row by hand still gets the collection built anew; what was left is found and goes."""
    desk.ingest(desk.write("cats.md", CATS), desk.write("lost.md", CATS + "Lost.\n"))
    desk.papers.plant.execute(
        "DELETE FROM documents WHERE name = 'lost.md' AND identity LIKE ?", f"{desk.folder}/%"
    )

    assert "version_orphans" in flaws(desk, code=2)
    desk.papers.run("ingest", "reindex", "--rag", desk.collection, "--wait", "--timeout", "60s")
    desk.wait_until_paid()
    assert flaws(desk, code=0) == set()
    assert desk.states() == {"cats.md": "ingested"}


def test_a_collection_that_lost_its_index_is_built_anew(desk: Desk) -> None:
    """Its documents are found before, while and after a worker has rebuilt it."""
    desk.ingest(desk.write("cats.md", CATS), desk.write("tea.md", "# Tea\n\nTea is hot.\n"))
    desk.papers.plant.execute(
        "DELETE FROM generations "
        "WHERE collection_id = (SELECT collection_id FROM collections WHERE name = ?)",
        desk.collection,
    )

    assert flaws(desk, "--repair", code=0) == {"collection_index"}
    assert "sixteen hours" in desk.search("how long do cats sleep")
    desk.wait_until_paid()

    assert flaws(desk, "--deep", code=0) == set()
    assert desk.states() == {"cats.md": "ingested", "tea.md": "ingested"}
    assert "sixteen hours" in desk.search("how long do cats sleep")
    (row,) = desk.papers.plant.rows(
        "SELECT building, generation FROM collections WHERE name = ?", desk.collection
    )
    assert row["building"] is None


def test_chunks_that_lie_are_built_anew(desk: Desk) -> None:
    """A text changed by hand, and a vector that is none, are after the repair as they were."""
    desk.ingest(desk.write("cats.md", CATS + "Not dogs.\n"), desk.write("tea.md", "# Tea\n\nTea is hot.\n"))
    for text, change in (
        ("sixteen", "UPDATE chunks SET text = 'Cats never sleep.' WHERE chunk_id = ?"),
        (
            "Tea is hot",
            "UPDATE embeddings SET vector = zeroblob(length(vector)) "
            "WHERE embedding_id = (SELECT embedding_id FROM chunks WHERE chunk_id = ?)",
        ),
    ):
        (row,) = desk.papers.plant.rows(
            "SELECT max(chunk_id) AS chunk_id FROM chunks WHERE text LIKE ?", f"%{text}%"
        )
        desk.papers.plant.execute(change, row["chunk_id"])

    assert flaws(desk, "--deep", "--repair", code=0) == {"chunk_texts", "words"}
    desk.wait_until_paid()

    assert flaws(desk, "--deep", code=0) == set()
    assert "sixteen hours" in desk.search("how long do cats sleep")
    assert "Tea is hot" in desk.search("how warm is tea")


@pytest.mark.parametrize(
    ("row", "flaw"), [("documents", "version_orphans"), ("collections", "document_orphans")]
)
def test_what_belongs_to_nothing_is_purged(desk: Desk, row: str, flaw: str) -> None:
    """A version without its document, and a document without its collection, go and leave nothing."""
    desk.ingest(desk.write("cats.md", CATS + f"Without its row in {row}.\n"))
    (mine,) = desk.rows(
        "SELECT version_id, blob, collection_id FROM documents d JOIN versions v ON v.document = d.number"
    )
    desk.papers.plant.execute(f"DELETE FROM {row} WHERE collection_id = ?", mine["collection_id"])  # noqa: S608

    assert flaw in repair(desk)

    plant = desk.papers.plant
    assert plant.rows("SELECT 1 FROM versions WHERE version_id = ?", mine["version_id"]) == []
    assert plant.rows("SELECT 1 FROM chunks WHERE version_id = ?", mine["version_id"]) == []
    assert mine["blob"] not in desk.papers.blobs()

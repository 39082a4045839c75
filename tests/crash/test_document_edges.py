"""kill -9 exactly before and after every durable edge of a document's way; after a restart all is well."""

import signal
from typing import Any

import pytest

from tests.support.doomed import Doom
from tests.support.papers import NearPapers, Papers
from tests.support.processes import Plant

KILLED = -signal.SIGKILL
FIRST = "# Cats\n\nCats sleep for sixteen hours a day.\n\n# Dogs\n\nDogs sleep for twelve.\n"
SECOND = FIRST.replace("twelve", "eleven")
LONG = FIRST + "".join(
    f"\n# Cat {number}\n\n" + f"Cat {number} sleeps on a mat. " * 30 for number in range(20)
)
"""Embedded in more than one batch, of which the last is kept together with the flip."""


def in_the_campaign(*edges: str) -> list[Any]:
    """Edges that another test here dies at already: `make crash` dies at them here too."""
    return [pytest.param(edge, marks=pytest.mark.crash_full) for edge in edges]


both_sides = pytest.mark.parametrize("after", [False, True], ids=["before", "after"])


@pytest.fixture
def papers(plant: Plant) -> Papers:
    return NearPapers(plant)


@both_sides
@pytest.mark.parametrize(
    "edge",
    ["claim", "begin", "keep parse", "describe", "keep vectors", "add chunks", "publish", "settle"],
)
def test_a_first_ingest_killed_at_an_edge(papers: Papers, edge: str, after: bool) -> None:
    """Whatever was kept is found again, and readers see one whole version."""
    papers.submit(papers.write("cats.md", LONG if edge == "keep vectors" else FIRST))

    assert papers.doomed(Doom(edge=edge, after=after)).wait(60) == KILLED
    seen = papers.visible()
    papers.settle()

    # A short document's chunks are written together with its flip.
    published = edge == "settle" or (edge in ("add chunks", "publish") and after)
    assert seen == (papers.visible() if published else {})
    papers.assert_all_is_well(["cats.md"])
    assert "sixteen" in papers.visible()["cats.md"]


@both_sides
@pytest.mark.parametrize(
    "edge", [*in_the_campaign("begin", "keep vectors"), "publish", "take debts", "purge", "pay"]
)
def test_an_update_killed_at_an_edge(papers: Papers, edge: str, after: bool) -> None:
    """Readers see the old version or the new one, whole; in the end the new one alone, nothing of the old."""
    path = papers.write("cats.md", FIRST)
    papers.submit(path)
    papers.settle()
    old = papers.visible()
    path.write_text(SECOND, encoding="utf-8")
    papers.submit(path)

    assert papers.doomed(Doom(edge=edge, after=after)).wait(60) == KILLED
    seen = papers.visible()
    papers.settle()

    new = papers.visible()
    assert "eleven" in new["cats.md"]
    assert "twelve" not in new["cats.md"]
    assert seen in (old, new)
    papers.assert_all_is_well(["cats.md"])


@both_sides
@pytest.mark.parametrize("edge", ["hide", *in_the_campaign("purge", "pay")])
def test_a_delete_killed_at_an_edge(papers: Papers, edge: str, after: bool) -> None:
    """A deleted document is gone from every answer at the commit, and nothing of its bytes is left."""
    path = papers.write("cats.md", FIRST)
    papers.write("dogs.md", SECOND)
    papers.submit(path, papers.folder / "dogs.md")
    papers.settle()
    papers.run(  # `ingest delete` hides the document itself
        "queue", "submit", "--type", "file", "--op", "delete", "--collection", "papers",
        "--payload", f'{{"file_path": "{path}"}}',
    )  # fmt: skip

    assert papers.doomed(Doom(edge=edge, after=after)).wait(60) == KILLED
    hidden = "cats.md" not in papers.visible()
    papers.settle()

    assert hidden == (edge != "hide" or after)
    papers.assert_all_is_well(["dogs.md"])


@both_sides
def test_a_rename_killed_at_its_edge(papers: Papers, after: bool) -> None:
    """A rename happens once, and no vector is made for it."""
    path = papers.write("cats.md", FIRST)
    papers.submit(path)
    papers.settle()
    vectors = papers.embeddings()
    new = papers.folder / "tigers.md"
    papers.run(
        "queue", "submit", "--type", "rename", "--op", "update", "--collection", "papers",
        "--payload", f'{{"old_path": "{path}", "new_path": "{new}"}}',
    )  # fmt: skip

    assert papers.doomed(Doom(edge="rename", after=after)).wait(60) == KILLED
    papers.settle()

    papers.assert_all_is_well(["tigers.md"])
    assert papers.embeddings() == vectors


@both_sides
@pytest.mark.parametrize("edge", ["open batch", "admit", "report", "seal batch"])
def test_a_folder_killed_at_an_edge(papers: Papers, edge: str, after: bool) -> None:
    """Every file of the folder becomes one document and one child, however often the look is begun."""
    for number in range(3):
        papers.write(f"folder/{number}.md", FIRST.replace("Cats", f"Cats number {number}"))
    (job,) = papers.submit(papers.folder / "folder")

    assert papers.doomed(Doom(edge=edge, after=after)).wait(60) == KILLED
    papers.settle()

    papers.assert_all_is_well(["0.md", "1.md", "2.md"])
    (batch,) = papers.plant.rows(
        "SELECT total, done, failed, sealed FROM queue_batches WHERE batch_id = ?", job
    )
    assert batch == {"total": 3, "done": 3, "failed": 0, "sealed": 1}


@both_sides
@pytest.mark.parametrize("edge", ["publish", "point"])
def test_a_rebuild_killed_at_an_edge(papers: Papers, edge: str, after: bool) -> None:
    """The old index answers until the new one is whole; then the new one alone, nothing else is left."""
    path = papers.write("cats.md", FIRST)
    papers.submit(path)
    papers.settle()
    old = papers.visible()
    papers.run("ingest", "reindex", "--rag", "papers")

    assert papers.doomed(Doom(edge=edge, after=after)).wait(60) == KILLED
    seen = papers.visible()
    papers.settle()

    assert seen == old == papers.visible()
    papers.assert_all_is_well(["cats.md"])
    assert papers.plant.rows("SELECT count(*) AS n FROM generations") == [{"n": 1}]

"""Recipe change: another way to split, written into the configuration, is told, built beside, and swapped."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.papers import Desk, Papers
from tests.support.processes import Plant

pytestmark = pytest.mark.timeout(400)
TEXT = "# Cats\n\n" + " ".join(f"Cat number {n} sleeps for {n % 24} hours." for n in range(200))


class Declared(Desk):
    """A collection that only the configuration makes."""

    def __init__(self, papers: Papers, collection: str) -> None:
        self.papers = papers
        self.collection = collection
        self.folder = papers.folder


def declare(file: Path, chunk_tokens: int) -> None:
    file.write_text(f"collections: {{notes: {{recipe: {{chunk_tokens: {chunk_tokens}}}}}}}", encoding="utf-8")


def recipe_verdicts(papers: Papers) -> list[str]:
    """What the doctor says about recipes."""
    found = json.loads(papers.run("doctor", "--json"))["findings"]
    return [each["verdict"] for each in found if each["check"] == "recipe"]


def test_another_recipe_is_built_beside_while_the_old_one_answers(plant: Plant) -> None:
    """Nothing is deleted and made again: old answers until the new index is whole, resumable on the way."""
    papers, config = Papers(plant), plant.folder / "penstock.yaml"
    declare(config, 200)
    plant.choose(config=str(config))
    worker = papers.worker()
    desk = Declared(papers, "notes")
    path = papers.write("cats.md", TEXT)
    desk.ingest(path)
    before = desk.chunks()["cats.md"]
    healthy = recipe_verdicts(papers)

    declare(config, 64)
    told = recipe_verdicts(papers)
    unchanged = desk.chunks()["cats.md"]
    papers.run("queue", "pause", "--collection", "notes")
    papers.run("ingest", "reindex", "--rag", "notes")
    plant.wait_until(lambda: plant.unfinished() > 0, "the rebuild has begun", worker)
    meanwhile = desk.search("how long does cat number 77 sleep")
    worker.kill_tree()  # in the middle of it
    worker = papers.worker()
    papers.run("queue", "resume", "--collection", "notes")
    papers.rest(worker, 120)

    assert "warning" not in healthy
    assert "warning" in told
    assert unchanged == before
    assert "Cat number 77 sleeps" in meanwhile
    assert desk.chunks()["cats.md"] > 2 * before
    assert "Cat number 77 sleeps" in desk.search("how long does cat number 77 sleep")
    assert "warning" not in recipe_verdicts(papers)
    assert worker.stop() == 0
    papers.assert_all_is_well(["cats.md"])

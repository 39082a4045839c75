"""A data folder that lies in the very folder whose documents are taken in, as `./data` mostly does."""

import json
from pathlib import Path

import pytest

from tests.support.papers import COLLECTION, Papers
from tests.support.processes import Plant

LYNX = "# Lynxes\n\nLynxes have tufts on their ears.\n"


@pytest.fixture
def papers(plant: Plant) -> Papers:
    """A collection, and a folder of the user's beside the data."""
    return Papers(plant)


def taken(plant: Plant) -> list[str]:
    """Every path a job was ever made for, below the plant's folder."""
    rows = plant.rows("SELECT json_extract(payload_json, '$.file_path') AS path FROM unified_queue")
    return sorted(str(Path(row["path"]).relative_to(plant.folder)) for row in rows if row["path"])


def test_the_program_is_never_fed_to_itself(papers: Papers) -> None:
    """Handed in again and again, the folder around it holds the user's files; what was deleted stays away."""
    plant = papers.plant
    note = papers.write("lynx.md", LYNX)
    worker = papers.worker()

    for _ in range(2):
        papers.run("ingest", "submit", "--rag", COLLECTION, "--path", str(plant.folder), "--wait", "--quiet")
    inside = [path for path in taken(plant) if path.startswith(f"{plant.data.name}/")]
    papers.run("ingest", "delete", "--rag", COLLECTION, "--path", str(note))
    papers.rest(worker)
    found = json.loads(papers.run("search", "lynxes tufts", "--rag", COLLECTION, "--json"))

    assert plant.data.parent == plant.folder
    assert inside == []
    assert "tufts" not in json.dumps(found["hits"])
    assert worker.stop() == 0


def test_a_watched_folder_around_the_data_comes_to_rest(papers: Papers) -> None:
    """What the worker writes is no news of the user's."""
    plant = papers.plant
    config = plant.folder / "penstock.yaml"
    source = f"{{path: {plant.folder}, ignore_patterns: ['*.log', '*.yaml']}}"
    config.write_text(f"collections: {{near: {{sources: [{source}]}}}}\n", encoding="utf-8")
    plant.choose(config=str(config))
    papers.write("lynx.md", LYNX)
    worker = papers.worker()
    plant.wait_until(lambda: "lynx.md" in papers.states(), "it is found", worker)
    papers.write("owl.md", "# Owls\n\nOwls hear a mouse under snow.\n")
    plant.wait_until(lambda: papers.states().get("owl.md") == "ingested", "the next one is in", worker)

    assert [path for path in taken(plant) if path.startswith(f"{plant.data.name}/")] == []
    assert worker.stop() == 0


def test_what_the_program_keeps_is_refused_by_name(papers: Papers) -> None:
    """Also when somebody names it, or a link to it: one document fails, and says why."""
    worker = papers.worker()
    link = papers.folder / "innocent.txt"
    link.symlink_to(papers.plant.data / "penstock.db")
    papers.submit(papers.plant.data / "penstock.db", link)
    papers.rest(worker)

    rows = papers.plant.rows("SELECT error_code FROM unified_queue WHERE item_type = 'file'")
    assert {row["error_code"] for row in rows} == {"ERR_FILE_KEPT_BY_US"}
    assert worker.stop() == 0


def dropped(papers: Papers, collection: str) -> None:
    """One file that is taken in and one that fails, both moved away from where they were dropped."""
    incoming = papers.plant.data / "sources" / collection / "incoming"
    (incoming / "dropped.md").write_text(LYNX, encoding="utf-8")
    (incoming / "broken.pdf").write_bytes(b"%PDF-1.7 and no more")
    papers.plant.wait_until(
        lambda: (
            (papers.states().get("dropped.md"), papers.states().get("broken.pdf")) == ("ingested", "error")
            and not list(incoming.iterdir())
        ),
        "both were taken and moved",
    )


def test_what_was_dropped_stays_when_the_folder_around_it_is_handed_in(papers: Papers) -> None:
    """We moved it away ourselves: it is not gone, neither below the data folder nor below incoming alone.

    The worker's log lies in the folder as well, and is a document like others.
    """
    plant = papers.plant
    worker = papers.worker()
    dropped(papers, COLLECTION)
    papers.write("owl.md", "# Owls\n\nOwls hear a mouse under snow.\n")
    before = papers.states()

    for folder in (plant.folder, plant.data / "sources" / COLLECTION / "incoming"):
        papers.run("ingest", "submit", "--rag", COLLECTION, "--path", str(folder), "--wait", "--quiet")
    papers.rest(worker)

    states = {name: state for name, state in papers.states().items() if not name.endswith(".log")}
    assert states == before | {"owl.md": "ingested"}
    assert plant.rows("SELECT * FROM unified_queue WHERE item_type = 'delete_document'") == []
    assert worker.stop() == 0


def test_a_dropped_file_is_no_sign_that_the_disk_is_there(papers: Papers) -> None:
    """A user's folder that is empty for once deletes nothing, whatever else was dropped below it."""
    plant = papers.plant
    worker = papers.worker()
    dropped(papers, COLLECTION)
    papers.write("owl.md", "# Owls\n\nOwls hear a mouse under snow.\n")
    submit = ("ingest", "submit", "--rag", COLLECTION, "--path", str(plant.folder), "--pattern", "*.md")
    papers.run(*submit, "--wait", "--quiet")
    assert papers.states()["owl.md"] == "ingested"

    papers.folder.rename(plant.folder.parent / "unmounted")
    papers.run(*submit)
    papers.rest(worker)

    failed = plant.rows(
        "SELECT error_code FROM unified_queue WHERE status = 'failed' AND item_type = 'folder'"
    )
    assert [row["error_code"] for row in failed] == ["ERR_FOLDER_EMPTY"]
    assert {"owl.md": "ingested", "dropped.md": "ingested"}.items() <= papers.states().items()
    assert worker.stop() == 0


def test_what_was_dropped_stays_when_the_folder_around_it_is_watched_anew(papers: Papers) -> None:
    """A worker that starts compares with what is known, and misses nothing it has moved itself."""
    plant = papers.plant
    config = plant.folder / "penstock.yaml"
    source = f"{{path: {plant.folder}, patterns: ['*.md']}}"
    config.write_text(f"collections: {{near: {{sources: [{source}]}}}}\n", encoding="utf-8")
    plant.choose(config=str(config))
    papers.write("owl.md", "# Owls\n\nOwls hear a mouse under snow.\n")
    worker = papers.worker()
    plant.wait_until(lambda: papers.states().get("owl.md") == "ingested", "the user's is in", worker)
    dropped(papers, "near")
    assert worker.stop() == 0

    worker = papers.worker()
    papers.write("late.md", "# Late\n\nThe last one.\n")
    plant.wait_until(lambda: papers.states().get("late.md") == "ingested", "it watches again", worker)
    papers.rest(worker)

    assert plant.rows("SELECT * FROM unified_queue WHERE item_type = 'delete_document'") == []
    assert {"dropped.md": "ingested", "broken.pdf": "error"}.items() <= papers.states().items()
    assert worker.stop() == 0

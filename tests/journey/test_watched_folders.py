"""Folders of the user's own, named in the configuration and watched: what people do there is found.

One worker serves all tests of this module; each has a collection and a folder of its own.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.papers import Desk, Papers
from tests.support.processes import Started, a_plant

pytestmark = [pytest.mark.xdist_group("watched"), pytest.mark.timeout(400)]

PATIENCE = 90.0
"""Seconds for what takes two or three on a machine that has time."""
NAMES = (
    "created", "edited", "atomic", "vim", "office", "backup", "growing", "moved", "moved_and_edited",
    "moved_folder", "backlog", "mistyped", "deleted", "vanishing", "only_read", "chosen", "asleep",
)  # fmt: skip
CATS = "# Cats\n\nCats sleep for sixteen hours a day.\n"
DOGS = "# Dogs\n\nDogs sleep for twelve hours a day.\n"
GEESE = "# Geese\n\nGeese keep one eye open.\n"


class Watched(Desk):
    """A collection the configuration declares, and its folder."""

    def __init__(self, papers: Papers, collection: str) -> None:
        self.papers = papers
        self.collection = collection
        self.folder = papers.folder / collection

    def wait_for(self, texts: dict[str, str]) -> None:
        """Until exactly these documents are searchable, each with this in its text."""
        self.papers.plant.wait_until(
            lambda: (
                self.states() == dict.fromkeys(texts, "ingested")
                and all(part in self.text(name) for name, part in texts.items())
            ),
            f"{self.collection} is in step",
            seconds=PATIENCE,
        )

    def identities(self) -> dict[str, tuple[str, str]]:
        """The document and the version at each path below the folder."""
        query = (
            "SELECT identity, document_id, version_id FROM documents d"
            " JOIN versions v ON v.document = d.number AND v.state = 'current'"
        )
        return {
            os.path.relpath(row["identity"], self.folder): (row["document_id"], row["version_id"])
            for row in self.rows(query)
        }

    def ever(self) -> set[str]:
        """The name of everything a job was ever made for here."""
        query = (
            "SELECT json_extract(payload_json, '$.file_path') AS path FROM unified_queue WHERE collection = ?"
        )
        rows = self.papers.plant.rows(query, self.collection)
        return {Path(row["path"]).name for row in rows if row["path"] is not None}


class Running:
    """The plant and the worker on it."""

    def __init__(self, papers: Papers) -> None:
        self.papers = papers
        self.worker: Started = papers.worker()

    def stop(self) -> None:
        assert self.worker.stop(PATIENCE) == 0, self.worker.said()

    def start(self) -> None:
        self.worker = self.papers.worker()


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A worker that watches."""
    with a_plant(tmp_path_factory.mktemp("watched")) as plant:
        papers = Papers(plant)
        config = plant.folder / "penstock.yaml"
        config.write_text(declared(papers.folder), encoding="utf-8")
        for name in NAMES:
            (papers.folder / name).mkdir()
        papers.write("only_read/deep/cats.md", CATS + "Only read.\n")
        plant.choose(config=str(config))
        yield Running(papers)


def declared(folder: Path) -> str:
    """The collections, each with its folder; one chooses among its files."""
    chosen = "patterns: ['*.md'], ignore_patterns: ['draft*']"
    lines = [
        f"  {name}: {{sources: [{{path: {folder / name}{', ' + chosen if name == 'chosen' else ''}}}]}}"
        for name in NAMES
    ]
    return "\n".join(["collections:", *lines, ""])


@pytest.fixture
def watched(running: Running, request: pytest.FixtureRequest) -> Watched:
    """The collection whose name the test's marker says."""
    marker = request.node.get_closest_marker("parametrize")
    assert marker is not None
    return Watched(running.papers, request.param)


def of(name: str) -> pytest.MarkDecorator:
    """Chooses the folder of a test."""
    return pytest.mark.parametrize("watched", [name], indirect=True)


@of("created")
def test_a_new_file_is_ingested(watched: Watched) -> None:
    """What is put into the folder, at any depth, is found."""
    watched.write("cats.md", CATS + "Created.\n")
    watched.write("deep/er/dogs.md", DOGS + "Created.\n")

    watched.wait_for({"cats.md": "sixteen", "dogs.md": "twelve"})

    assert "twelve" in watched.search("how long do dogs sleep")


@of("edited")
def test_a_file_edited_in_place_is_a_new_version_of_its_document(watched: Watched) -> None:
    """The document stays, its text is the new one alone."""
    path = watched.write("cats.md", CATS + "Edited.\n")
    watched.wait_for({"cats.md": "sixteen"})
    ((document, version),) = watched.identities().values()

    with path.open("a", encoding="utf-8") as file:
        file.write("\nOld cats sleep for twenty.\n")
    watched.wait_for({"cats.md": "twenty"})

    ((now, other),) = watched.identities().values()
    assert (now, other != version) == (document, True)
    watched.wait_until_paid()
    assert watched.versions() == {"cats.md": 1}


def _atomic(path: Path, text: str) -> None:
    """Most editors and libraries: write a temporary file, then rename it over the old one."""
    aside = path.with_name(f".{path.name}.tmp")
    aside.write_text(text, encoding="utf-8")
    os.replace(aside, path)


def _vim(path: Path, text: str) -> None:
    """vim: a probe, the old file becomes a backup, the new one is written under its name, the backup goes."""
    probe = path.with_name("4913")
    probe.touch()
    probe.unlink()
    backup = path.with_name(f"{path.name}~")
    path.rename(backup)
    path.write_text(text, encoding="utf-8")
    backup.unlink()


def _office(path: Path, text: str) -> None:
    """Office programs: a lock file, the new text under a foreign name, two renames."""
    lock, new, old = (path.with_name(name) for name in (f"~${path.name}", "1A2B3C00", "4D5E6F00.tmp"))
    lock.touch()
    new.write_text(text, encoding="utf-8")
    path.rename(old)
    new.rename(path)
    old.unlink()
    lock.unlink()


def _backup(path: Path, text: str) -> None:
    """A copy beside it that is left out by its name, then the file cut short and written anew."""
    shutil.copy2(path, path.with_name(f".{path.name}.bak"))
    path.write_text(text, encoding="utf-8")
    path.with_name(f".{path.name}.bak").unlink()


@pytest.mark.parametrize(
    ("watched", "save"),
    [("atomic", _atomic), ("vim", _vim), ("office", _office), ("backup", _backup)],
    indirect=["watched"],
    ids=["atomic", "vim", "office", "backup"],
)
def test_an_editors_way_of_saving_is_a_modification(
    watched: Watched, save: Callable[[Path, str], None]
) -> None:
    """Move: write-temp-then-rename and its kin change one document; nothing else was ever one."""
    path = watched.write("cats.md", CATS + "Before.\n")
    watched.wait_for({"cats.md": "Before"})
    ((document, _),) = watched.identities().values()

    save(path, CATS + "After.\n")
    watched.wait_for({"cats.md": "After"})

    ((now, _),) = watched.identities().values()
    assert now == document
    watched.wait_until_idle()
    assert watched.ever() == {"cats.md"}


@of("growing")
def test_a_file_that_grows_for_a_while_is_taken_when_it_is_whole(watched: Watched) -> None:
    """A half-written file is no version of its own as long as it is being written."""
    paragraphs = [f"Paragraph {n} speaks of rivers.\n\n" for n in range(30)]
    with (watched.folder / "slow.md").open("w", encoding="utf-8") as file:
        for paragraph in paragraphs:
            file.write(paragraph)
            file.flush()
            time.sleep(0.1)  # the pace of a slow writer
    watched.wait_for({"slow.md": paragraphs[-1].strip()})

    watched.wait_until_idle()
    text = watched.text("slow.md")
    assert all(paragraph.strip() in text for paragraph in paragraphs)
    jobs = watched.papers.plant.count("collection = 'growing' AND item_type = 'file'")
    assert jobs < len(paragraphs) / 3, "one, unless the machine slept between two paragraphs"


@of("moved")
def test_a_file_moved_within_the_folder_keeps_everything(watched: Watched) -> None:
    """Move: another name or place below the folder is metadata alone, with zero new embeddings."""
    path = watched.write("cats.md", CATS + "Moved.\n")
    watched.wait_for({"cats.md": "Moved"})
    (before,) = watched.identities().values()
    vectors = watched.papers.plant.rows("SELECT max(embedding_id) AS n FROM embeddings")

    (watched.folder / "deep").mkdir()
    path.rename(watched.folder / "deep" / "tigers.md")
    watched.wait_for({"tigers.md": "Moved"})

    assert watched.identities() == {"deep/tigers.md": before}
    assert watched.papers.plant.rows("SELECT max(embedding_id) AS n FROM embeddings") == vectors


@of("moved_and_edited")
def test_a_file_moved_and_edited_at_once_ends_as_it_is(watched: Watched) -> None:
    """Move: whatever it is taken for, the new text is found at the new name and nothing at the old."""
    path = watched.write("cats.md", CATS + "Before.\n")
    watched.wait_for({"cats.md": "Before"})

    new = path.rename(watched.folder / "tigers.md")
    new.write_text(CATS + "After.\n", encoding="utf-8")
    watched.wait_for({"tigers.md": "After"})

    assert set(watched.identities()) == {"tigers.md"}
    assert "Before" not in watched.search("how long do cats sleep")


@of("moved_folder")
def test_a_folder_moved_within_the_folder_keeps_its_documents(watched: Watched) -> None:
    """Move: every document below it stays the same."""
    for n in range(3):
        watched.write(f"old/{n}.md", CATS + f"Number {n}.\n")
    texts = {f"{n}.md": f"Number {n}" for n in range(3)}
    watched.wait_for(texts)
    before = watched.identities()

    (watched.folder / "old").rename(watched.folder / "new")
    watched.papers.plant.wait_until(
        lambda: {name.partition("/")[0] for name in watched.identities()} == {"new"},
        "all have moved",
        seconds=PATIENCE,
    )

    assert watched.identities() == {name.replace("old", "new"): both for name, both in before.items()}


@of("backlog")
def test_a_file_moved_before_its_turn_came_is_found_where_it_is(watched: Watched) -> None:
    """Move: what waits behind a backlog may be renamed, alone or with its folder, and is not lost."""
    plant, pause = watched.papers.plant, ("--collection", watched.collection)
    watched.papers.run("queue", "pause", *pause)
    path = watched.write("cats.md", CATS + "Backlog.\n")
    watched.write("old/dogs.md", DOGS + "Backlog.\n")
    plant.wait_until(lambda: watched.ever() == {"cats.md", "dogs.md"}, "both wait", seconds=PATIENCE)

    path.rename(watched.folder / "tigers.md")
    (watched.folder / "old").rename(watched.folder / "new")
    renames = "SELECT 1 FROM unified_queue WHERE item_type = 'rename' AND collection = ?"
    plant.wait_until(
        lambda: len(plant.rows(renames, watched.collection)) == 2, "both moves are noticed", seconds=PATIENCE
    )
    watched.papers.run("queue", "resume", *pause)

    watched.wait_for({"tigers.md": "sixteen", "dogs.md": "twelve"})
    assert set(watched.identities()) == {"tigers.md", "new/dogs.md"}


@of("mistyped")
def test_a_file_given_its_right_ending_is_ingested(watched: Watched) -> None:
    """What a document in error is advised to do is enough."""
    path = watched.write("cats.pdf", CATS + "No PDF at all.\n")
    watched.papers.plant.wait_until(
        lambda: watched.states() == {"cats.pdf": "error"}, "it cannot be read", seconds=PATIENCE
    )

    path.rename(watched.folder / "cats.md")

    watched.wait_for({"cats.md": "No PDF at all"})


@of("deleted")
def test_a_deleted_file_is_out_of_every_answer(watched: Watched) -> None:
    """Orphans: what is gone from the folder is gone from the index."""
    path = watched.write("cats.md", CATS + "The zanzibar canary sings.\n")
    watched.write("dogs.md", DOGS)
    watched.wait_for({"cats.md": "zanzibar", "dogs.md": "twelve"})

    path.unlink()
    watched.wait_for({"dogs.md": "twelve"})

    assert "zanzibar" not in watched.search("zanzibar canary")


@of("vanishing")
def test_a_folder_that_vanishes_takes_no_document_with_it(watched: Watched, running: Running) -> None:
    """A disk that was pulled out is not a delete; when the folder is back, what changed is found."""
    plant = running.papers.plant
    watched.write("cats.md", CATS + "Vanishing.\n")
    watched.write("dogs.md", DOGS + "Vanishing.\n")
    watched.wait_for({"cats.md": "sixteen", "dogs.md": "twelve"})
    before = watched.identities()
    aside = watched.folder.rename(watched.folder.with_name("elsewhere"))
    gone = f"{watched.folder} is gone"
    plant.wait_until(
        lambda: gone in running.worker.log.read_text(encoding="utf-8"),
        "it is noticed",
        running.worker,
        seconds=PATIENCE,
    )

    assert watched.identities() == before
    (aside / "geese.md").write_text(GEESE, encoding="utf-8")
    (aside / "dogs.md").unlink()
    aside.rename(watched.folder)
    watched.wait_for({"cats.md": "sixteen", "geese.md": "eye"})

    assert watched.identities()["cats.md"] == before["cats.md"]


@of("only_read")
def test_the_users_folder_is_never_written(watched: Watched) -> None:
    """Watching and ingesting leave no trace in the folder, not even a time."""
    watched.wait_for({"cats.md": "Only read"})
    before = traces(watched.folder)

    watched.papers.run("ingest", "submit", "--rag", "only_read", "--path", str(watched.folder), "--wait")
    watched.papers.run("ingest", "reindex", "--rag", "only_read", "--wait", "--timeout", "90s")

    assert traces(watched.folder) == before
    assert [name for name, *_ in before] == [".", "deep", "deep/cats.md"]


def traces(folder: Path) -> list[tuple[str, int, int, int, int]]:
    """Everything below a folder that a writer would change."""
    found = [(path, path.stat()) for path in (folder, *sorted(folder.rglob("*")))]
    return [
        (os.path.relpath(path, folder), about.st_ino, about.st_mode, about.st_mtime_ns, about.st_ctime_ns)
        for path, about in found
    ]


@of("chosen")
def test_patterns_choose_what_is_watched(watched: Watched) -> None:
    """Only what the patterns take, and the ignore files leave, becomes a document."""
    watched.write(".gitignore", "secret.md\n")
    for name in ("secret.md", "notes.txt", "draft-1.md"):
        watched.write(name, DOGS)
    watched.write("cats.md", CATS + "Chosen.\n")

    watched.wait_for({"cats.md": "Chosen"})

    watched.wait_until_idle()
    assert watched.ever() == {"cats.md"}


@of("asleep")
def test_what_changed_while_nothing_ran_is_found(watched: Watched, running: Running) -> None:
    """Restart: created, edited, moved and deleted in the meantime; a move costs no embedding even then."""
    for name, text in (("edited.md", CATS), ("moved.md", DOGS), ("deleted.md", GEESE)):
        watched.write(name, f"{text}\nBefore, {name}.\n")
    names = ("edited.md", "moved.md", "deleted.md")
    watched.wait_for({name: f"Before, {name}" for name in names})
    before = watched.identities()
    running.stop()

    watched.write("edited.md", f"{CATS}\nAfter.\n")
    watched.write("created.md", f"{GEESE}\nAfter.\n")
    (watched.folder / "moved.md").rename(watched.folder / "elsewhere.md")
    (watched.folder / "deleted.md").unlink()
    running.start()

    watched.wait_for(
        {"edited.md": "After", "created.md": "After", "elsewhere.md": "Before, moved.md"},
    )
    after = watched.identities()
    assert after["elsewhere.md"] == before["moved.md"]
    assert after["edited.md"][0] == before["edited.md"][0]


def test_afterwards_everything_agrees(running: Running) -> None:
    """After all of the above the catalogue, the vectors and the bytes agree."""
    running.papers.rest(running.worker, PATIENCE)
    running.papers.run("fsck", "--deep")

"""A data folder whose workers read real documents, and what must hold of its catalogue after every fault.

Everything is read by raw SQL and from the disk; the program's own check is asked last, as one more witness.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from tests.support.doomed import Doom, Task
from tests.support.near_program import environment, run_near
from tests.support.processes import PATIENCE, Plant, Row, Started

COLLECTION = "papers"
UNSETTLED = (
    "SELECT 1 FROM unified_queue WHERE status NOT IN ('done', 'failed') UNION ALL SELECT 1 FROM debts LIMIT 1"
)
"""A row if anything is left to do."""


class Papers:
    """A plant with one collection, and files in a folder of the user's own."""

    def __init__(self, plant: Plant) -> None:
        self.plant = plant
        self.folder = plant.folder / "own"
        self.folder.mkdir()
        plant.choose(worker_retry_delays="0s")
        self.run("collection", "create", COLLECTION)

    # Doing ---------------------------------------------------------------------------------------

    def write(self, name: str, text: str) -> Path:
        """A file of the user's."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def desk(self, name: str) -> Desk:
        """A collection and a folder for one test."""
        return Desk(self, re.sub(r"\W", "_", name)[:60])

    def run(self, *words: str, code: int = 0) -> str:
        """A command of the real program; what it printed."""
        done = subprocess.run(
            [sys.executable, "-m", "penstock", *words],
            cwd=self.plant.folder,
            env=self.plant.environment(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def submit(self, *paths: Path) -> list[str]:
        """Hand files or folders in; the ids of their jobs."""
        words = [word for path in paths for word in ("--path", str(path))]
        return self.run("ingest", "submit", "--rag", COLLECTION, *words).split()

    def worker(self) -> Started:
        """A `penstock worker` with the handlers the program brings, once it has beaten."""
        tree = self.plant.program("worker")
        self.plant.wait_until(lambda: bool(self.plant.beating(tree.children())), "the worker beats", tree)
        return tree

    def doomed(self, doom: Doom) -> Started:
        """A worker of that kind that will die at an edge."""
        task = Task(doom=doom, handlers=None)
        return self.plant.start("-m", "tests.support.doomed", msgspec.json.encode(task).decode())

    def settle(self, seconds: float = 2 * PATIENCE) -> None:
        """Run a worker until every job has ended and every debt is paid, then stop it."""
        worker = self.worker()
        self.rest(worker, seconds)
        assert worker.stop() == 0, worker.said()

    def rest(self, worker: Started, seconds: float = 2 * PATIENCE) -> None:
        """Until every job has ended and every debt is paid."""
        self.plant.wait_until(
            lambda: not self.plant.rows(UNSETTLED),
            "all is done and paid",
            worker,
            seconds=seconds,
        )

    # Seeing --------------------------------------------------------------------------------------

    def states(self) -> dict[str, str]:
        """Documents readers may meet, by name."""
        rows = self.plant.rows("SELECT name, state FROM documents WHERE hidden_at IS NULL")
        return {row["name"]: row["state"] for row in rows}

    def visible(self) -> dict[str, str]:
        """The text readers see of each document, joined from its chunks."""
        rows = self.plant.rows(
            "SELECT d.name, c.text FROM chunks c JOIN versions v USING (version_id)"
            " JOIN documents d ON d.number = v.document JOIN collections l USING (collection_id)"
            " WHERE v.state = 'current' AND v.generation_id = l.generation AND d.hidden_at IS NULL"
            " AND l.removed_at IS NULL ORDER BY d.name, c.ordinal"
        )
        found: dict[str, list[str]] = {}
        for row in rows:
            found.setdefault(row["name"], []).append(row["text"])
        return {name: "\n".join(texts) for name, texts in found.items()}

    def embeddings(self) -> int:
        (row,) = self.plant.rows("SELECT count(*) AS n FROM embeddings")
        return int(row["n"])

    def blobs(self) -> set[str]:
        """The bytes on disk, by hash."""
        found = (f"{path.parent.name}{path.name}" for path in (self.plant.data / "blobs").rglob("*"))
        return {name for name in found if re.fullmatch("[0-9a-f]{64}", name)}

    def assert_all_is_well(self, documents: Sequence[str], *, failed: Sequence[str] = ()) -> None:
        """I1 to I5 and I7 of a store at rest: these documents are ingested, those failed, nothing else is."""
        assert self.states() == {
            **dict.fromkeys(documents, "ingested"),
            **dict.fromkeys(failed, "error"),
        }
        rows = self.plant.rows
        assert rows("SELECT * FROM unified_queue WHERE status NOT IN ('done', 'failed')") == []
        assert rows("SELECT * FROM stages WHERE finished_at IS NULL") == []
        assert rows("SELECT * FROM debts") == []
        # A failed document keeps the bytes it was begun with, for whoever tries it again, and nothing more.
        begun = "SELECT v.*, d.state AS fate FROM versions v JOIN documents d ON d.number = v.document"
        unfinished = rows(f"{begun} WHERE v.state <> 'current'")
        assert [row for row in unfinished if (row["state"], row["fate"]) != ("building", "error")] == []
        assert (
            rows("SELECT * FROM chunks JOIN versions v USING (version_id) WHERE v.state <> 'current'") == []
        )
        assert (
            rows(
                "SELECT v.version_id FROM versions v LEFT JOIN chunks c USING (version_id)"
                " WHERE v.state = 'current' GROUP BY v.version_id HAVING count(c.chunk_id) <> v.chunks"
                " OR min(c.ordinal) <> 0 OR max(c.ordinal) <> v.chunks - 1"
            )
            == []
        )
        assert rows("SELECT * FROM chunks WHERE version_id NOT IN (SELECT version_id FROM versions)") == []
        assert (
            rows("SELECT * FROM chunks WHERE embedding_id NOT IN (SELECT embedding_id FROM embeddings)") == []
        )
        assert (
            rows("SELECT * FROM embeddings WHERE embedding_id NOT IN (SELECT embedding_id FROM chunks)") == []
        )
        assert set(self.visible()) == set(documents)
        needed = rows(
            "SELECT blob FROM versions UNION SELECT result FROM parses"
            " UNION SELECT substr(identity, 17) FROM documents WHERE source = 'upload'"
        )
        assert self.blobs() == {row["blob"] for row in needed}
        self.run("fsck")


class NearPapers(Papers):
    """The same where neither command line nor supervisor is judged: neither has a process of its own."""

    def run(self, *words: str, code: int = 0) -> str:
        """A command of the program, run in this process; what it printed."""
        with environment(self.plant.environment()):
            ran = run_near(words)
        assert ran.code == code, f"{words} ended with {ran.code}\n{ran.out}\n{ran.err}"
        return ran.out

    def settle(self, seconds: float = 2 * PATIENCE) -> None:
        """Run a worker process until every job has ended and every debt is paid, then stop it."""
        worker = self.doomed(Doom())
        self.plant.wait_until(lambda: bool(self.plant.beating([worker.pid])), "the worker beats", worker)
        self.rest(worker, seconds)
        assert worker.stop() == 0, worker.said()


class Desk:
    """One test's own collection and folder, on a plant others use too."""

    def __init__(self, papers: Papers, collection: str) -> None:
        self.papers = papers
        self.collection = collection
        self.folder = papers.folder / collection
        self.folder.mkdir(parents=True)
        papers.run("collection", "create", collection)

    def write(self, name: str, text: str) -> Path:
        """A file of the user's."""
        return self.papers.write(f"{self.collection}/{name}", text)

    def ingest(self, *paths: Path) -> None:
        """Hand in and wait until all is ingested."""
        words = [word for path in paths for word in ("--path", str(path))]
        self.papers.run("ingest", "submit", "--rag", self.collection, *words, "--wait", "--timeout", "90s")

    def job(self, item_type: str, op: str, payload: Mapping[str, object], *, tenant: str = "local") -> str:
        """Submit a job of any kind and wait for its end; its id."""
        printed = self.papers.run(
            "queue", "submit", "--type", item_type, "--op", op, "--collection", self.collection,
            "--tenant", tenant, "--payload", json.dumps(payload),
        )  # fmt: skip
        job = printed.split()[0]
        self.papers.plant.wait_until(
            lambda: self.ended(job)[0] in ("done", "failed"), f"{item_type} {op} has ended", seconds=60
        )
        return job

    def ended(self, job: str) -> tuple[str, str | None]:
        """A job's status and error code."""
        row = self.papers.plant.job(job)
        return row["status"], row["error_code"]

    def rows(self, query: str) -> list[Row]:
        """Rows of a query over `documents d`, of this collection, that are not hidden."""
        mine = (
            "d.hidden_at IS NULL AND d.collection_id = (SELECT collection_id FROM collections WHERE name = ?)"
        )
        glue = "AND" if " WHERE " in query else "WHERE"
        return self.papers.plant.rows(f"{query} {glue} {mine}", self.collection)

    def states(self) -> dict[str, str]:
        return {
            str(row["name"]): str(row["state"]) for row in self.rows("SELECT name, state FROM documents d")
        }

    def versions(self) -> dict[str, int]:
        """How many versions each document has."""
        query = "SELECT name FROM documents d JOIN versions v ON v.document = d.number"
        return dict(Counter(str(row["name"]) for row in self.rows(query)))

    def chunks(self) -> dict[str, int]:
        """How many chunks readers see of each document."""
        query = (
            "SELECT name FROM documents d JOIN versions v ON v.document = d.number AND v.state = 'current'"
        )
        return dict(Counter(str(row["name"]) for row in self.rows(f"{query} JOIN chunks USING (version_id)")))

    def embedding_ids(self) -> set[int]:
        """The vectors readers see."""
        query = (
            "SELECT embedding_id FROM documents d JOIN versions v ON v.document = d.number"
            " AND v.state = 'current' JOIN chunks USING (version_id)"
        )
        return {int(str(row["embedding_id"])) for row in self.rows(query)}

    def text(self, name: str) -> str:
        """What readers see of a document."""
        query = (
            "SELECT name, text FROM documents d JOIN versions v ON v.document = d.number"
            " AND v.state = 'current' JOIN chunks USING (version_id)"
        )
        return "\n".join(str(row["text"]) for row in self.rows(query) if row["name"] == name)

    def search(self, question: str, *filters: str) -> str:
        """All passages the program finds, as text."""
        found = json.loads(self.papers.run("search", question, "--rag", self.collection, "--json", *filters))
        return "\n".join(span["text"] for hit in found["hits"] for span in hit["spans"])

    def wait_until_idle(self) -> None:
        """Until no job of this collection is unfinished."""
        self.papers.plant.wait_until(
            lambda: (
                self.papers.plant.count(
                    f"collection = '{self.collection}' AND status NOT IN ('done', 'failed')"
                )
                == 0
            ),
            "the collection is idle",
            seconds=60,
        )

    def wait_until_paid(self) -> None:
        """Until no job is unfinished and nothing is owed."""
        self.wait_until_idle()
        self.papers.plant.wait_until(
            lambda: not self.papers.plant.rows("SELECT * FROM debts"), "all is paid", seconds=60
        )

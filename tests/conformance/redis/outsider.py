"""The real program on a real Redis, and an outsider who knows the two pages and nothing else of it."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.collector import Collector, a_collector
from tests.support.command_line import Program
from tests.support.metrics import Numbers, fetched, numbers_of
from tests.support.servers.bare import Bare
from tests.support.servers.launching import free_port
from tests.support.servers.redis import a_redis

PATIENCE = 60.0
QUEUE = "rag:ingest:queue"
DEAD = "rag:ingest:queue:dead-letter"
POLICIES, FAQ = "policies_rag", "faq_rag"


class Outsider:
    """Pushes and reads with a bare client; sees files, logs and pages as anybody does."""

    def __init__(self, folder: Path, bare: Bare, url: str, collector: Collector) -> None:
        self.bare = bare
        self.program = Program(folder)
        self.collector = collector
        self.port = free_port()
        self.papers = folder / "papers"
        self.papers.mkdir()
        (folder / "client.yaml").write_text(
            json.dumps(
                {
                    "queue": "redis",
                    "redis": {"url": url, "password": None, "db": 0},
                    "collections": {POLICIES: {}, FAQ: {}},
                    # A folder nobody watches in this role: what is done there was asked for by a message.
                    "producer": {"scan_dir": str(self.papers), "collection": FAQ},
                    "worker": {"count": 2},
                    "observability": {
                        "metrics_port": self.port,
                        "queue_sample_interval": "100ms",
                        "tracing": {"enabled": True, "endpoint": collector.url},
                    },
                }
            )
        )
        self.incoming = self.program.data / "sources" / POLICIES / "incoming"
        self.worker: subprocess.Popen[str] | None = None
        self.log: list[str] = []

    def start(self) -> None:
        """`run --role=worker`, until both of its processes beat."""
        self.worker = self.program.start("run", "--role=worker", "--config=client.yaml")
        self.until("two workers beat", lambda: len(self.bare.call("KEYS", "worker:hb:*")) == 2)

    def stop(self) -> int:
        """As an operator does; what was logged is kept."""
        assert self.worker is not None
        self.worker.terminate()
        _, err = self.worker.communicate(timeout=PATIENCE)
        self.log = err.splitlines()
        return self.worker.returncode

    def kill(self) -> None:
        if self.worker is not None and self.worker.poll() is None:
            self.worker.kill()
            self.worker.communicate(timeout=PATIENCE)

    def cli(self, *words: str) -> Any:
        """A command's document."""
        return self.program.json(*words, "--config", "client.yaml")

    def message(self, number: int, name: str, **fields: object) -> dict[str, object]:
        """The page's example about a file of the collection's own folder."""
        return {
            "job_id": f"rag-{POLICIES}-1704882600-{number:08x}",
            "rag_id": POLICIES,
            "source_path": str(self.incoming / name),
            "source_type": name.rpartition(".")[2],
            "filename": name,
            "submitted_at": "2025-01-10T20:15:30.123456Z",
            "submitted_by": "cli",
            "options": {"reindex": False, "skip_validation": False, "preserve_metadata": True},
            "retry_count": 0,
            "max_retries": 3,
            **fields,
        }

    def push(self, message: dict[str, object] | str, to: str = QUEUE) -> str:
        """LPUSH, then the id that was pushed."""
        data = message if isinstance(message, str) else json.dumps(message)
        self.bare.call("LPUSH", to, data)
        return "" if isinstance(message, str) else str(message.get("job_id", message.get("id")))

    def hash(self, job: str) -> dict[str, str]:
        """HGETALL of a job."""
        words = [word.decode() for word in self.bare.call("HGETALL", f"rag:ingest:job:{job}")]
        return dict(zip(words[::2], words[1::2], strict=True))

    def ended(self, job: str) -> dict[str, str]:
        self.until(f"{job} ends", lambda: self.hash(job).get("status") in ("done", "failed"))
        return self.hash(job)

    def letters(self) -> list[dict[str, str]]:
        return [json.loads(letter) for letter in self.bare.call("LRANGE", DEAD, 0, -1)]

    def record(self, job: str, folder: str, name: str) -> dict[str, Any]:
        """What stands beside a file that went to processed or failed, once it is this job's."""
        path = self.incoming.parent / folder / name

        def read() -> dict[str, Any]:
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
            return found

        self.until(f"{name} in {folder} tells of {job}", lambda: read().get("job_id") == job)
        return read()

    def scrape(self) -> Numbers:
        status, text = fetched(self.port, "/metrics")
        assert status == 200
        return numbers_of(text)

    def until(self, what: str, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < deadline, f"not within {PATIENCE:g} s: {what}"
            time.sleep(0.02)


@contextmanager
def an_outsider(folder: Path) -> Iterator[Outsider]:
    """With a server of its own; nothing is started yet."""
    with a_redis(folder / "redis") as redis, a_collector() as collector, redis.bare() as bare:
        url = f"redis://{redis.server.host}:{redis.server.port}/0"
        outsider = Outsider(folder, bare, url, collector)
        try:
            yield outsider
        finally:
            outsider.kill()

"""The program on a queue in a real Redis, and a bare connection beside it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from penstock.model.jobs import WorkerId
from penstock.model.outcomes import Outcome
from penstock.ports.telemetry import SILENT
from penstock.settings import RedisServer, Settings, load
from penstock.wiring.booked import trades_of
from penstock.wiring.store import Store, open_store
from tests.support.near_program import NearProgram
from tests.support.servers.bare import Bare

T = TypeVar("T")
RAG = "policies_rag"
QUEUE = "rag:ingest:queue"
DEAD = "rag:ingest:queue:dead-letter"


class RedisProgram(NearProgram):
    """`penstock` with a configuration file: one declared collection with a folder of its own."""

    def __init__(self, folder: Path, server: RedisServer, **sections: object) -> None:
        super().__init__(folder)
        self.papers = folder / "papers"
        self.papers.mkdir()
        self.bare = Bare(server)
        self.url = f"redis://{server.host}:{server.port}/{server.db or 0}"
        self.file = self.config = folder / "penstock.yaml"
        told = {"queue": self.url, "collections": {RAG: {"sources": [{"path": str(self.papers)}]}}}
        self.file.write_text(json.dumps({**told, **sections}))

    def in_store(self, work: Callable[[Store], Awaitable[T]]) -> T:
        """Use the store from this process, with foreign messages read as a worker reads them."""

        async def opened() -> T:
            settings = self.settings()
            async with open_store(settings) as store:
                await trades_of(settings, store, SILENT)
                return await work(store)

        return asyncio.run(opened())

    def settings(self) -> Settings:
        return load(self.file, {}, {"data": str(self.data)})

    def message(self, number: int, **fields: object) -> dict[str, object]:
        """The page's own example, about a file below our folder."""
        return {
            "job_id": f"rag-{RAG}-1704882600-{number:08x}",
            "rag_id": RAG,
            "source_path": str(self.papers / f"policy-{number}.txt"),
            "source_type": "txt",
            "filename": f"policy-{number}.txt",
            "submitted_at": "2025-01-10T20:15:30.123456Z",
            "retry_count": 0,
            "max_retries": 3,
            **fields,
        }

    def push(self, message: bytes | dict[str, object], to: str = QUEUE) -> bytes:
        """Push as any program would; the bytes."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.bare.call("LPUSH", to, data)
        return data

    def worked(self, outcome: Outcome | None = None, limit: int = 10) -> list[str]:
        """Claim once as a worker does; what was claimed ends so, or is left running."""

        async def work(store: Store) -> list[str]:
            await store.queue.promote()
            leases = await store.queue.claim(WorkerId("by-hand"), limit)
            if outcome is not None:
                await store.queue.settle([(lease, outcome) for lease in leases])
            return [lease.job_id for lease in leases]

        return self.in_store(work)

    def shown(self, job: str) -> dict[str, str]:
        """`HGETALL` of a job's status."""
        flat = [word.decode() for word in self.bare.call("HGETALL", f"rag:ingest:job:{job}")]
        return dict(zip(flat[::2], flat[1::2], strict=True))

"""A job followed through a server: also one that no event will ever tell of, or whose document is gone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from penstock.client import PenstockError
from penstock.client.values import DocumentDetail, Job
from penstock.doors.cli.remote.status import _looks, record_of


def a_job(status: str, document: str | None) -> Job:
    """As a server tells of one."""
    facts: dict[str, Any] = dict.fromkeys(Job.__struct_fields__)
    told = {"id": "j", "collection": "papers", "status": status, "retry_count": 0, "max_retries": 3}
    return Job(**{**facts, **told, "created_at": "2026-11-19T00:00:00Z", "document_id": document})


class Silence:
    """Whoever waits for an event waits for ever."""

    def __aiter__(self) -> Silence:
        return self

    async def __anext__(self) -> Any:
        raise AssertionError("waited for events that never come")


class Server:
    """It knows a job in one state after the other, no document, and tells no events."""

    def __init__(self, *jobs: Job) -> None:
        self._jobs = list(jobs)

    async def job(self, _: str) -> Job:
        return self._jobs.pop(0) if len(self._jobs) > 1 else self._jobs[0]

    async def document(self, _: str) -> DocumentDetail:
        raise PenstockError("there is no such document", code="ERR_DOCUMENT_UNKNOWN", status=404)

    @asynccontextmanager
    async def subscribe(self, *, passing: bool) -> AsyncIterator[AsyncIterator[Any]]:
        assert passing
        yield Silence()


async def test_a_job_without_a_document_is_looked_at_again() -> None:
    """A folder's job, say: it ends all the same, and so does whoever follows it."""
    server = Server(a_job("queued", None), a_job("running", None), a_job("success", None))

    seen = []
    async with aclosing(_looks(server, "j", 0.0)) as looks:  # type: ignore[arg-type]
        async for record in looks:
            seen.append(record["status"])
            if record["status"] == "done":
                break

    assert seen == ["queued", "processing", "done"]


async def test_a_job_outlives_its_document() -> None:
    """What became of it is told though the document was deleted."""
    record = await record_of(Server(a_job("failed", "d")), "j")  # type: ignore[arg-type]

    assert (record["status"], record["document_id"], record["document_state"]) == ("failed", "d", None)


async def test_other_refusals_are_told() -> None:
    """Only that it is gone is no refusal."""

    class Refusing(Server):
        async def document(self, _: str) -> DocumentDetail:
            raise PenstockError("no", code="ERR_FORBIDDEN", status=403)

    with pytest.raises(PenstockError, match="no"):
        await record_of(Refusing(a_job("failed", "d")), "j")  # type: ignore[arg-type]

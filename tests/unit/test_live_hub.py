"""The hub over a real log: whoever listens is told everything, or that something is missing."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from penstock.doors.live import hub as bounds
from penstock.doors.live.hub import open_hub
from penstock.doors.live.listener import Bookmark, Listener
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.events import DocumentStatusUpdated
from penstock.model.rules import Rules
from penstock.ports.database import Transaction

EVENT = DocumentStatusUpdated(workspace_id="w", document_id="d", status="s")


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock())
    yield opened
    await opened.close()


async def append(store: SqliteStore, users: Sequence[str], times: int) -> None:
    """So many events each, in one transaction."""

    def work(tx: Transaction) -> None:
        for user in users:
            for _ in range(times):
                tx.append_event(user, EVENT)

    await store.write(work)


async def told(listener: Listener, last: str | int) -> list[str | int]:
    """Numbers of events and kinds of other words, up to one of them."""
    words: list[str | int] = []
    async with asyncio.timeout(30):
        while last not in words:
            frames = [json.loads(frame.text) for frame in await listener.take()]
            words += [frame.get("seq", frame["type"]) for frame in frames]
    return words


@pytest.mark.parametrize(("since", "words"), [(3, ["resync", "ready"]), (8, [9, 10, 11, 12, "ready"])])
async def test_a_log_with_a_gap_in_its_middle_is_not_replayed_over_it(
    store: SqliteStore, tmp_path: Path, since: int, words: list[str | int]
) -> None:
    """I6: whoever took events out, nobody who missed them is told that he has everything."""
    await append(store, ["ann"], 12)
    with closing(sqlite3.connect(tmp_path / "penstock.db")) as db, db:
        db.execute("DELETE FROM events WHERE seq BETWEEN 6 AND 8")

    async with open_hub(store.feed, SystemClock()) as hub:
        with hub.listening("ann", Bookmark(since)) as listener:
            assert await told(listener, "ready") == words


@pytest.mark.parametrize("in_all", [10, 12], ids=["between two", "within a page"])
async def test_everybody_is_served_wherever_a_look_at_the_log_ends(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch, in_all: int
) -> None:
    """S2: what did not fit is read at once, and waits for no further commit."""
    monkeypatch.setattr(bounds, "LOOK_EVENTS", in_all)
    users = ["ann", "bo", "cy"]
    async with open_hub(store.feed, SystemClock()) as hub:
        with ExitStack() as stack:
            listeners = [stack.enter_context(hub.listening(user)) for user in users]
            for listener in listeners:
                assert await told(listener, "ready") == ["ready"]

            await append(store, users, 5)

            assert (
                await asyncio.gather(*(told(listener, 5) for listener in listeners)) == [[1, 2, 3, 4, 5]] * 3
            )

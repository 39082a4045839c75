"""Whoever joins, reads slowly, leaves and comes again sees what was committed: in order, once, and no more.

Two stores on one folder commit, as two processes would, one of them by a clock that is wrong now and then;
the hub listens on the other. Bounds are small, so that listeners fall behind, go back to the log and are told
to read anew as often as they go on living.
"""

import asyncio
import json
import os
import random
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.doors.live import hub as hub_module
from penstock.doors.live.hub import Hub, Limits, open_hub
from penstock.doors.live.listener import Bookmark, Listener, Room
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.events import DocumentStatusUpdated
from penstock.model.rules import Rules
from penstock.ports.database import Transaction

USERS = ("ann", "bo")
EXAMPLES = 300 if os.environ.get("PENSTOCK_SWEEP") == "1" else 12
PATIENCE = 20.0
ROOM = Room(frames=4)


class ShakyClock(SystemClock):
    """Wrong by what it is told to be."""

    ahead = 0.0

    def now(self) -> float:
        return super().now() + self.ahead


class Reader:
    """One client that comes again and again, and what it saw."""

    def __init__(self, hub: Hub, user: str, chance: random.Random) -> None:
        self.user = user
        self.at: int | None = None
        self.resyncs = 0
        self._hub = hub
        self._chance = chance

    async def live(self) -> None:
        """Connect with what it has, read a while at its own pace, vanish."""
        while True:
            since = None if self.at is None else Bookmark(self.at)
            with self._hub.listening(self.user, since) as listener:
                for _ in range(self._chance.randrange(1, 12)):
                    for frame in await listener.take():
                        self.see(json.loads(frame.text))
                    if self._chance.random() < 0.5:
                        await asyncio.sleep(self._chance.random() * 0.01)

    def see(self, message: dict[str, object]) -> None:
        payload = message["payload"]
        assert isinstance(payload, dict)
        match message["type"]:
            case "ready":
                assert self.at is None or self.at == payload["seq"]
                self.at = payload["seq"]
            case "resync":
                assert payload["seq"] >= (self.at or 0)
                self.resyncs += 1
                self.at = payload["seq"]
            case "document.status_updated":
                seq = message["seq"]
                assert isinstance(seq, int)
                assert self.at is None or seq == self.at + 1, "a gap, or one twice"
                assert payload == {
                    "workspace_id": self.user,
                    "document_id": str(message["seq"]),
                    "status": "s",
                }
                self.at = seq
            case other:
                raise AssertionError(other)


@pytest.fixture(autouse=True)
def _small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module, "PAGE_EVENTS", 3)
    monkeypatch.setattr(hub_module, "LOOK_EVENTS", 6)


@asynccontextmanager
async def two_stores(shaky: ShakyClock) -> AsyncIterator[tuple[SqliteStore, SqliteStore]]:
    with tempfile.TemporaryDirectory() as folder:
        stores = [
            await open_sqlite(Path(folder), rules=Rules(), clock=clock, synchronous="normal")
            for clock in (SystemClock(), shaky)
        ]
        try:
            yield stores[0], stores[1]
        finally:
            for store in stores:
                await store.close()


def commits(chance: random.Random) -> Iterator[tuple[int, str, int]]:
    """By which store, for whom, how many at once."""
    for _ in range(40):
        yield chance.randrange(2), chance.choice(USERS), chance.choice((1, 1, 1, 2, 5, 30))


class Committer:
    """Commits events that name their own numbers."""

    def __init__(self) -> None:
        self._last = dict.fromkeys(USERS, 0)

    async def append(self, store: SqliteStore, user: str, times: int) -> None:
        def work(tx: Transaction) -> None:
            for _ in range(times):
                seq = self._last[user] = self._last[user] + 1
                event = DocumentStatusUpdated(workspace_id=user, document_id=str(seq), status="s")
                assert tx.append_event(user, event) == seq

        await store.write(work)


async def scenario(seed: int) -> None:
    chance, shaky = random.Random(seed), ShakyClock()
    async with (
        two_stores(shaky) as stores,
        open_hub(stores[0].feed, SystemClock(), Limits(replay=chance.choice((20, 10_000)), room=ROOM)) as hub,
    ):
        readers = [Reader(hub, user, chance) for user in USERS for _ in range(3)]
        living = [asyncio.create_task(reader.live()) for reader in readers]
        committer = Committer()
        for which, user, times in commits(chance):
            shaky.ahead = chance.choice((0.0, 0.0, 0.0, -1.0, 1.0))
            await committer.append(stores[which], user, times)
            if chance.random() < 0.1:
                await stores[1].forget_events(SystemClock().now() - 0.05)
            await asyncio.sleep(chance.random() * 0.01)
        bounds = await stores[0].feed.bounds(USERS)
        async with asyncio.timeout(PATIENCE):
            while any(reader.at != bounds[reader.user].last for reader in readers):
                assert not [task.exception() for task in living if task.done()]
                await asyncio.sleep(0.01)
        for task in living:
            task.cancel()
        ends = await asyncio.gather(*living, return_exceptions=True)
        assert all(isinstance(end, asyncio.CancelledError) for end in ends), ends
        assert hub.count == 0


@settings(max_examples=EXAMPLES)
@given(seed=st.integers(0, 1 << 32))
def test_what_a_client_saw_is_what_was_committed(seed: int) -> None:
    """I6: over joins at any moment, from any number, with two processes committing."""
    asyncio.run(scenario(seed))


def test_bounds_are_small_enough_to_be_met(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the above would hold whatever happened at them."""
    fallen = 0
    fall_behind = Listener.fall_behind

    def counted(listener: Listener) -> None:
        nonlocal fallen
        fallen += 1
        fall_behind(listener)

    monkeypatch.setattr(Listener, "fall_behind", counted)

    asyncio.run(scenario(0))

    assert fallen > 0

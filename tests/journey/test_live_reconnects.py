"""Clients that lose their connection at any moment, two serving processes, others that commit.

What each client saw is compared with the committed log, read by plain SQL at the end: every event, whole.
"""

import asyncio
import contextlib
import json
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidMessage

from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.rules import Rules
from penstock.ports.database import Transaction
from tests.support.live import PATIENCE, LiveServer, Message, a_token, a_user, committer, live_server

pytestmark = pytest.mark.xdist_group("live")


@dataclass(slots=True)
class Client:
    """One tab, which counts how often it came again."""

    user: str
    workspace: str
    chance: random.Random
    at: int = 0
    seen: list[Message] = field(default_factory=list)
    times: int = 0

    async def live(self, choose: Callable[[], LiveServer], gone: asyncio.Event) -> None:
        """Come again and again, after each moment of listening or on being cut off."""
        while not gone.is_set():
            with contextlib.suppress(ConnectionClosed, InvalidMessage, OSError, TimeoutError):
                async with choose().connect(token=a_token(self.user), since=self.at) as socket:
                    self.times += 1
                    try:
                        async with asyncio.timeout(self.chance.random() * 0.3):
                            while True:
                                self.see(await socket.recv())
                    finally:
                        if self.chance.random() < 0.5:
                            socket.transport.abort()  # not even a goodbye

    async def finish(self, server: LiveServer, last: int) -> None:
        """Hear the rest."""
        async with (
            asyncio.timeout(PATIENCE),
            server.connect(token=a_token(self.user), since=self.at) as socket,
        ):
            while self.at < last:
                self.see(await socket.recv())

    def see(self, frame: str | bytes) -> None:
        message = json.loads(frame)
        if "seq" in message:
            assert message["payload"]["workspace_id"] == self.workspace, "another user's event"
            self.at = message["seq"]
            self.seen.append(message)
        else:
            assert message["type"] == "ready", message


@contextmanager
def committers(folder: Path, workspaces: list[str]) -> Iterator[None]:
    running = [committer(folder, 300.0, 0.02, workspaces) for _ in range(2)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


async def people(folder: Path, count: int) -> dict[str, str]:
    """Users with the workspace each has."""
    store = await open_sqlite(folder, rules=Rules(), clock=SystemClock())

    def work(tx: Transaction) -> dict[str, str]:
        users = [a_user() for _ in range(count)]
        for user in users:
            tx.accounts.sign_in(user)
        return {user: str(tx.accounts.open(user, "mine").id) for user in users}

    try:
        return await store.write(work)
    finally:
        await store.close()


async def campaign(folder: Path, reconnects: int, *, kills: int) -> None:
    users = await people(folder, 4)
    chance = random.Random(reconnects)
    clients = [
        Client(user, place, random.Random(at)) for at, (user, place) in enumerate([*users.items()] * 2)
    ]
    with ExitStack() as stack:
        servers = [stack.enter_context(live_server(folder)) for _ in range(2)]

        async def kill() -> None:
            victim = chance.randrange(2)
            servers[victim].kill()
            servers[victim] = await asyncio.to_thread(stack.enter_context, live_server(folder))

        with committers(folder, list(users.values())):
            gone = asyncio.Event()
            living = [
                asyncio.create_task(client.live(lambda: chance.choice(servers), gone)) for client in clients
            ]
            due = [reconnects * (at + 1) // (kills + 1) for at in range(kills)]
            while (made := sum(client.times for client in clients)) < reconnects:
                assert not [task.exception() for task in living if task.done()]
                if due and made >= due[0]:
                    due.pop(0)
                    await kill()
                await asyncio.sleep(0.02)
            gone.set()
            await asyncio.gather(*living)
        await check(folder, clients, servers[0])


async def check(folder: Path, clients: list[Client], server: LiveServer) -> None:
    with closing(sqlite3.connect(folder / "penstock.db")) as db:
        logs = {user: committed(db, user) for user in {client.user for client in clients}}
    for client in clients:
        await client.finish(server, logs[client.user][-1]["seq"])
        assert client.seen == logs[client.user]
    assert sum(map(len, logs.values())) > 100


def committed(db: sqlite3.Connection, user: str) -> list[Message]:
    """A user's log as it should be told, to the letter; no two of its payloads are alike."""
    rows = db.execute(
        "SELECT type, payload_json, seq, ts FROM events WHERE user_id = ? ORDER BY seq", (user,)
    ).fetchall()
    assert len({payload for _, payload, _, _ in rows}) == len(rows)
    return [
        {"type": kind, "payload": json.loads(payload), "seq": seq, "ts": ts}
        for kind, payload, seq, ts in rows
    ]


async def test_two_hundred_reconnects_lose_and_double_nothing(tmp_path: Path) -> None:
    """I6: at random moments, under load, between two serving processes."""
    await campaign(tmp_path, 200, kills=0)


@pytest.mark.crash_full
@pytest.mark.timeout(600)
async def test_a_thousand_reconnects_and_killed_servers(tmp_path: Path) -> None:
    """I6: the same, while serving processes are killed between commit and send."""
    await campaign(tmp_path, 1_000, kills=6)

"""Live servers as processes, people who sign in to them, and raw WebSocket clients."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.support.tokens import claims, hs256

PATIENCE = 30.0
LIFE_SECONDS = 7_200.0
"""Of a token whose end nobody waits for: one made when tests were collected is good when the last has run."""
TOP = Path(__file__).resolve().parents[2]
Message = dict[str, Any]

COMMITTER = """
import random, sqlite3, sys, time, uuid
path, seconds, pause = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
db = sqlite3.connect(path, timeout=30, isolation_level=None)
end = time.monotonic() + seconds
while time.monotonic() < end:
    workspace = random.choice(sys.argv[4:])
    db.execute("BEGIN IMMEDIATE")
    for _ in range(random.choice((1, 1, 2, 8))):
        db.execute("INSERT INTO event_feed SELECT ?1, '', 'document.status_updated',"
                   " json_object('workspace_id', ?1, 'document_id', ?2)", (workspace, uuid.uuid4().hex))
    db.execute("ROLLBACK" if random.random() < 0.1 else "COMMIT")
    time.sleep(pause * random.random())
"""


def a_user() -> str:
    return str(uuid.uuid4())


def a_token(user: str, *, seconds: float = LIFE_SECONDS) -> str:
    """A token that ends so many seconds from now, or up to one later; below zero it is over."""
    now = time.time()
    return hs256(claims(sub=user, iat=int(now) - 600, exp=ceil(now + seconds)))


@dataclass(slots=True)
class LiveServer:
    """One serving process."""

    process: subprocess.Popen[str]
    port: int
    log: Path

    def address(self, **words: object) -> str:
        asked = "&".join(f"{name}={value}" for name, value in words.items() if value is not None)
        return f"ws://127.0.0.1:{self.port}/ws?{asked}"

    def connect(self, *, headers: dict[str, str] | None = None, **words: object) -> connect:
        """A raw connection, without compression and without pings of its own."""
        return connect(
            self.address(**words),
            additional_headers=headers,
            compression=None,
            ping_interval=None,
            max_size=None,
            proxy=None,
        )

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)


@contextmanager
def live_server(folder: Path, **limits: float) -> Iterator[LiveServer]:
    """A live server on a data folder; at the end it is gone."""
    log = folder / f"live-{uuid.uuid4().hex[:6]}.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.live_server", str(folder), json.dumps(limits)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=TOP,
        )
    try:
        assert process.stdout is not None
        port = process.stdout.readline()
        assert port, log.read_text()
        yield LiveServer(process, int(port), log)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)
        if process.stdout is not None:
            process.stdout.close()


def committer(
    folder: Path, seconds: float, pause: float, workspaces: Sequence[str]
) -> subprocess.Popen[bytes]:
    """A process that commits events by raw SQL, and takes some of them back before the commit."""
    words = [str(folder / "penstock.db"), str(seconds), str(pause), *workspaces]
    return subprocess.Popen([sys.executable, "-c", COMMITTER, *words])


async def heard(socket: ClientConnection) -> Message:
    """The next message, which must come soon."""
    async with asyncio.timeout(PATIENCE):
        message: Message = json.loads(await socket.recv())
        return message


async def closed(socket: ClientConnection) -> tuple[int, str]:
    """How the other end closed, once it has."""
    async with asyncio.timeout(PATIENCE):
        with contextlib.suppress(ConnectionClosed):
            while True:
                await socket.recv()
    assert socket.close_code is not None
    return socket.close_code, socket.close_reason or ""

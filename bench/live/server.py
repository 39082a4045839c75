"""`python -m bench.live.server ours|bare DATA`: a serving process; its port goes to standard output.

Ours is the live door with its hub on a database, as the program serves it; only that a token is taken for the
name of the user, because signing in is not what is measured. Bare is the same server with an application that
keeps a list of connections and, when asked, sends the same bytes to all of them.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from bench.live.committing import EXAMPLE
from penstock.doors.http.child import collect_seldom
from penstock.doors.http.serving import config_of
from penstock.doors.live.hub import Limits, open_hub
from penstock.doors.live.routes import live_routes
from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.principals import Principal
from penstock.model.rules import Rules
from penstock.model.visits import Visit
from penstock.wiring.loop import run


class Server(uvicorn.Server):
    """Says where it listens once it does."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and tell."""
        await super().startup(sockets)
        assert sockets
        print(sockets[0].getsockname()[1], flush=True)


class Everybody:
    """Lets everybody in."""

    def check(self, visit: Visit) -> None:
        """Nothing to say against it."""

    async def admit(
        self, visit: Visit, *, token: str | None = None, ticket: str | None = None, held: str | None = None
    ) -> Principal:
        """The user is who the token says."""
        return Principal(user=token or "")

    async def issue_pass(self, principal: Principal) -> str:
        """Nobody comes by a ticket here."""
        return ""


class Bare:
    """Sends the same bytes to everybody, as fast as the server takes them."""

    def __init__(self) -> None:
        self._sends: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """A connection to keep, or the word to begin."""
        await receive()
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            await self._send_all(int(scope["query_string"]))
            return
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": "{}"})
        self._sends.append(send)
        while (await receive())["type"] != "websocket.disconnect":
            pass
        self._sends.remove(send)

    async def _send_all(self, times: int) -> None:
        for at in range(times):
            text = EXAMPLE.format(seq=at)
            for send in tuple(self._sends):
                await send({"type": "websocket.send", "text": text})
            await asyncio.sleep(0)


async def serve(app: Any, *, plain: bool) -> None:
    """Until the process is ended."""
    config = config_of(app)
    if plain:
        config.ws = "websockets-sansio"
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
        await Server(config).serve(sockets=[listening])


async def serve_ours(folder: Path) -> None:
    """The live door on this folder."""
    clock = SystemClock()
    store = await open_sqlite(folder, rules=Rules(), clock=clock)
    async with open_hub(store.feed, clock, Limits(per_user=2_000)) as hub:
        app = FastAPI()
        app.include_router(live_routes(hub, Everybody()))
        await serve(app, plain=False)
    await store.close()


if __name__ == "__main__":
    collect_seldom()
    with contextlib.suppress(KeyboardInterrupt):
        if sys.argv[1] == "ours":
            run(serve_ours(Path(sys.argv[2])))
        else:
            run(serve(Bare(), plain=True))

"""`python -m tests.support.live_server DATA LIMITS`: the live door alone, as a process without models.

It listens on a free port of loopback, writes the port to standard output, and ends on SIGTERM as the program
does. Tokens are signed with the secret of the tests.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import socket
import sys
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response

from penstock.doors.entry import Entry
from penstock.doors.http.problems import problem_of
from penstock.doors.http.serving import config_of
from penstock.doors.live.hub import Limits, open_hub
from penstock.doors.live.routes import live_routes
from penstock.engines.jwt import JwtTokens, SecretKey
from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Fault
from penstock.model.principals import Expected
from penstock.model.rules import Rules
from penstock.model.visits import Threshold
from tests.support.tokens import AUDIENCE, ISSUER, SECRET


async def told(_: Request, fault: Exception) -> Response:
    assert isinstance(fault, Fault)
    return problem_of(fault)


class Server(uvicorn.Server):
    """Says where it listens once it does, and leaves signals alone."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        assert sockets
        print(sockets[0].getsockname()[1], flush=True)

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def]
        yield


async def serve(folder: Path, limits: Limits) -> None:
    clock = SystemClock()
    store = await open_sqlite(folder, rules=Rules(), clock=clock)
    tokens = JwtTokens(SecretKey(SECRET), Expected(issuer=ISSUER, audience=AUDIENCE, leeway=0), clock)
    entry = Entry(store, tokens, store.tickets, Threshold())
    ending = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ending.set)
    async with open_hub(store.feed, clock, limits) as hub:
        app = FastAPI()
        app.include_router(live_routes(hub, entry))
        app.add_exception_handler(Fault, told)
        with socket.create_server(("127.0.0.1", 0), backlog=2048) as listening:
            server = Server(config_of(app))
            serving = asyncio.create_task(server.serve(sockets=[listening]))
            await ending.wait()
            hub.drain()
            server.should_exit = True
            await serving
    await store.close()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    asyncio.run(serve(Path(sys.argv[1]), Limits(**json.loads(sys.argv[2]))))

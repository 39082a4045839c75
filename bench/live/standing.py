"""`python -m bench.live.standing uvicorn|granian api|live DATA`: the application on one of two servers.

`api` is the whole of it over a store of its own, as the program serves it to the person at this machine;
`live` is the live door of `bench.live.server`. Only the server below differs. granian runs in the same loop
and binds a port by itself: it takes no socket somebody else has bound. The port goes to standard output.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import uvicorn

from bench.live import server
from penstock.doors.http import serving
from penstock.doors.http.child import collect_seldom
from penstock.settings import load


class GranianServer:
    """granian in the place of uvicorn's server: the same application, no other setting of the two alike."""

    should_exit = False

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None] = lambda: None) -> None:
        self._app = config.app

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Until the process is ended."""
        from granian.constants import Interfaces
        from granian.server.embed import Server

        for each in sockets or ():
            port = each.getsockname()[1]
            each.close()
        server = Server(
            self._app,
            port=port,
            interface=Interfaces.ASGINL,
            backlog=2048,
            log_enabled=False,
            websockets=True,
        )
        running = asyncio.create_task(server.serve())
        await _answered(port)
        print(port, flush=True)
        await running


async def _answered(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
            continue
        writer.close()
        return


async def main(name: str, what: str, folder: Path) -> None:
    """Serve until the process is ended."""
    if name == "granian":
        for module, word in ((server, "Server"), (serving, "_Server")):
            setattr(module, word, GranianServer)
    if what == "live":
        await server.serve_ours(folder)
        return
    settings = load(None, os.environ, {"data": str(folder), "http.requests_per_minute": 0})
    # As a child has it from its parent: known to be TCP, or small answers would wait for each other.
    listening = socket.socket(fileno=socket.create_server(("127.0.0.1", 0), backlog=2048).detach())
    await serving.serve(settings, listening, lambda port: print(port, flush=True))


if __name__ == "__main__":
    collect_seldom()
    asyncio.run(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))

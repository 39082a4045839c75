"""A worker that dies by SIGKILL before or after a call to Qdrant: `… tests.support.doomed_vectors put after`.

The calls pass by as they are sent; the first whose path ends so is the last this process sees.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping

from penstock.engines.qdrant.server import Server
from penstock.settings import load
from tests.support.doomed import work

CALLS = {"put": "/points?wait=true", "page": "/points/scroll", "remove": "/points/delete?wait=true"}


def doom_calls(ending: str, after: bool) -> None:
    """The next call of this kind kills the process."""
    original = Server.call

    async def call(self: Server, method: str, path: str, body: Mapping[str, object] | None = None) -> object:
        if not path.endswith(ending):
            return await original(self, method, path, body)
        if after:
            await original(self, method, path, body)
        os.kill(os.getpid(), signal.SIGKILL)
        raise AssertionError("alive")

    Server.call = call  # type: ignore[method-assign]


def main() -> None:
    name, side = sys.argv[1:]
    doom_calls(CALLS[name], side == "after")
    asyncio.run(work(load(None, os.environ, {}), None))


if __name__ == "__main__":
    main()

"""Looking up the addresses of a host whose name servers may be anybody's.

The system's resolver cannot be called off, and a name server that says nothing holds it for as long as it
likes. A loop has few threads for that, which its files and every other name it looks up share. So strangers'
names are looked up in threads of their own: so many at once, left behind when nobody waits any longer, and
never waited for when the process ends.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress
from threading import Thread

LOOKUPS_MAX = 8
"""Names looked up at once, those among them that nobody waits for any longer."""


class Lookup:
    """Asks the system's resolver; used by one loop."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(LOOKUPS_MAX)

    async def addresses(self, host: str, port: int) -> list[str]:
        """Every address of a host, in the resolver's order; its errors are the socket module's."""
        await self._places.acquire()
        loop = asyncio.get_running_loop()
        told: asyncio.Future[list[str]] = loop.create_future()

        def tell(found: list[str] | Exception) -> None:
            self._places.release()
            if told.done():
                return  # nobody waits
            if isinstance(found, Exception):
                told.set_exception(found)
            else:
                told.set_result(found)

        def ask() -> None:
            found = _found(host, port)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(tell, found)

        Thread(target=ask, name="penstock-lookup", daemon=True).start()
        return await told


def _found(host: str, port: int) -> list[str] | Exception:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except Exception as error:
        return error
    return list(dict.fromkeys(str(address[0]) for *_, address in found))

"""A serving process kept beside whatever else this one does: started again when it dies, ended with us.

Each that dies is followed by another after a longer pause, up to ten seconds, and a new one must look on for
a while before it may call somebody else's answer interrupted. That an interrupted answer ends within ten
seconds is therefore seen to here, from the first death on; before that this process opens no store.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

from penstock.doors.http.orders import STORE_GONE, ServingOrders
from penstock.model.errors import Displaced
from penstock.settings import Settings
from penstock.wiring.companions import beside

log = logging.getLogger("penstock.http")
PAUSE_FIRST, PAUSE_MAX = 0.5, 10.0
LIVED_SECONDS = 60.0
"""A process that lived so long did not fail by starting."""
LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # nothing is bound here
"""What every address of the machine is called from the machine itself."""
GRACE_SECONDS = 20.0
"""How long a serving process may take to end before it is killed."""


@asynccontextmanager
async def serving_beside(
    settings: Settings,
    listening: socket.socket,
    told: Callable[[str], None],
    failed: Callable[[], None],
) -> AsyncIterator[None]:
    """Requests are answered meanwhile; `told` hears the address once they are, `failed` if they cannot be.

    The socket is closed at the end.
    """
    with listening:
        async with beside(keep_serving(settings, listening, told), failed):
            yield


async def keep_serving(settings: Settings, listening: socket.socket, told: Callable[[str], None]) -> None:
    """Until cancelled; Displaced where another would make a new store in place of the one that is gone."""
    pause, clock = 0.0, asyncio.get_running_loop().time
    async with AsyncExitStack() as stack:
        while True:
            began = clock()
            try:
                code = await _serve_once(settings, listening, told)
            except OSError as error:  # the machine cannot start one now
                log.error("a serving process cannot be started: %s; it is tried again", error)
            else:
                if code == STORE_GONE:
                    raise Displaced(f"the database in {settings.data} was moved, deleted or replaced")
                log.error("the serving process ended with code %s; another is started", code)
            if not pause:
                await stack.enter_async_context(_healing(settings))
            pause = pause_after(clock() - began, pause)
            await asyncio.sleep(pause)


@asynccontextmanager
async def _healing(settings: Settings) -> AsyncIterator[None]:
    """What those who died left unfinished is ended meanwhile."""
    from penstock.wiring.healing import heal_beside

    healing = asyncio.create_task(heal_beside(settings))
    try:
        yield
    finally:
        healing.cancel()
        await asyncio.gather(healing, return_exceptions=True)


def pause_after(lived: float, before: float) -> float:
    """How long to wait before another is started: longer each time, and short again once one has lived."""
    if not before or lived >= LIVED_SECONDS:
        return PAUSE_FIRST
    return min(before * 2, PAUSE_MAX)


async def _serve_once(settings: Settings, listening: socket.socket, told: Callable[[str], None]) -> int:
    reading, writing = os.pipe()
    orders = ServingOrders(settings=settings, listening=listening.fileno(), ready=writing)
    try:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "penstock.doors.http.child",
            stdin=asyncio.subprocess.PIPE,
            start_new_session=True,  # Ctrl-C reaches the parent alone, which tells its children
            pass_fds=(listening.fileno(), writing),
        )
    except BaseException:
        os.close(reading)
        raise
    finally:
        os.close(writing)
    heard = asyncio.create_task(_hear(reading, lambda: told(address_of(settings, listening))))
    try:
        if child.stdin is not None:
            # It died at once, which uvloop calls a RuntimeError; wait() will tell.
            with contextlib.suppress(ConnectionError, RuntimeError):
                child.stdin.write(pickle.dumps(orders))
                await child.stdin.drain()
        return await child.wait()
    finally:
        heard.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await heard
        await _end(child)


async def _end(child: asyncio.subprocess.Process) -> None:
    if child.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        child.send_signal(signal.SIGTERM)
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            await child.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()


async def _hear(reading: int, ready: Callable[[], None]) -> None:
    """Wait for the byte that says requests are answered; an end without one says they never were."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        loop.remove_reader(reading)
        if not heard.done():
            heard.set_result(os.read(reading, 1))

    loop.add_reader(reading, read)
    try:
        if await heard:
            ready()
    finally:
        loop.remove_reader(reading)
        os.close(reading)


def address_of(settings: Settings, listening: socket.socket) -> str:
    """Where the program is reached from this machine, as a browser takes it."""
    host, port = settings.http.host, listening.getsockname()[1]
    host = LOOPBACK.get(host, host)
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


async def until_told(settings: Settings, listening: socket.socket, told: Callable[[str], None]) -> None:
    """Keep serving until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    keeping = asyncio.create_task(keep_serving(settings, listening, told))
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, keeping.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await keeping

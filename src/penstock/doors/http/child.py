"""A serving process: `python -m penstock.doors.http.child`, told what to do on standard input by its parent.

It answers on a socket its parent bound and hands on, so that requests made while it is started again wait
instead of being refused. The pipe stays open as long as the parent lives; its end ends us too.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import socket
import sys
import threading
import time

from penstock.doors.http.orders import ServingOrders
from penstock.doors.logs import set_up_logging
from penstock.doors.streams import finish
from penstock.engines.system.cores import one_core_a_product
from penstock.model.errors import Fault

log = logging.getLogger("penstock.http")
LAST_WORDS_SECONDS = 15.0
"""After which a process whose parent is gone ends whatever it does."""


def main() -> None:
    """Read the orders, then serve."""
    orders = pickle.load(sys.stdin.buffer)  # noqa: S301  # written by our own parent, over a pipe nobody else has
    if not isinstance(orders, ServingOrders):
        raise TypeError("standard input holds no orders")
    settings = orders.settings
    set_up_logging(settings.observability.log_level, strict=settings.profile != "production")
    one_core_a_product()
    try:
        asyncio.run(_live(orders))
    except Fault as fault:
        log.error("the serving process ends: %s", fault.message)
        sys.exit(1)
    except Exception:  # told as a log tells it: a traceback may quote what must not be written
        log.exception("the serving process ends")
        sys.exit(1)
    finally:
        finish()


async def _live(orders: ServingOrders) -> None:
    from penstock.doors.http.serving import serve

    loop = asyncio.get_running_loop()
    ending = asyncio.Event()

    def listen() -> None:
        while os.read(sys.stdin.fileno(), 1):
            pass
        loop.call_soon_threadsafe(ending.set)
        time.sleep(LAST_WORDS_SECONDS)
        os._exit(1)  # the loop is stuck, and nobody is left to see it

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    threading.Thread(target=listen, name="penstock-parent", daemon=True).start()
    listening = socket.socket(fileno=orders.listening)

    def ready(_: int) -> None:
        os.write(orders.ready, b"!")
        os.close(orders.ready)

    serving = asyncio.create_task(serve(orders.settings, listening, ready))
    ended = asyncio.create_task(ending.wait())
    await asyncio.wait({serving, ended}, return_when=asyncio.FIRST_COMPLETED)
    ended.cancel()
    if not serving.done():
        serving.cancel()
    try:
        await serving
    except asyncio.CancelledError:
        log.info("no more requests are answered")


if __name__ == "__main__":
    main()

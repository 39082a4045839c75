"""A serving process: `python -m penstock.doors.http.child`, told what to do on standard input by its parent.

It answers on a socket its parent bound and hands on, so that requests made while it is started again wait
instead of being refused. The pipe stays open as long as the parent lives; its end ends us too.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import socket
import sys

from penstock.doors.http.orders import STORE_GONE, ServingOrders
from penstock.doors.logs import set_up_logging
from penstock.doors.parent import listen_for_end, orders_of
from penstock.doors.streams import finish
from penstock.engines.system.cores import one_core_a_product
from penstock.model.errors import Displaced, Fault
from penstock.wiring.loop import run

log = logging.getLogger("penstock.http")
LAST_WORDS_SECONDS = 15.0
"""After which a process whose parent is gone ends whatever it does."""
COLLECT_AFTER = 10_000
"""New objects between two searches for garbage; Python's own 700 cost a fifth of what sending events does."""


def main() -> None:
    """Read the orders, then serve."""
    orders = orders_of(ServingOrders)
    settings = orders.settings
    set_up_logging(settings.observability.log_level, strict=settings.profile != "production")
    one_core_a_product()
    collect_seldom()
    try:
        run(_live(orders))
    except Displaced:  # it is told
        sys.exit(STORE_GONE)
    except Fault as fault:
        log.error("the serving process ends: %s", fault.message)
        sys.exit(1)
    except Exception:  # told as a log tells it: a traceback may quote what must not be written
        log.exception("the serving process ends")
        sys.exit(1)
    finally:
        finish()


def collect_seldom() -> None:
    """Look for garbage less often: connections live long, and each search goes over all of them."""
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])


async def _live(orders: ServingOrders) -> None:
    from penstock.doors.http.serving import serve

    loop = asyncio.get_running_loop()
    ending = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, ending.set)
    listen_for_end(ending, last_words_seconds=LAST_WORDS_SECONDS)
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

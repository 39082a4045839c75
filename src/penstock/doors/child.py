"""A worker process: `python -m penstock.doors.child`, told what to do on standard input by its supervisor.

The pipe stays open as long as the parent lives; its end is how an orphan learns that it is one.
"""

from __future__ import annotations

import asyncio
import logging
import sys

from penstock.doors.logs import set_up_logging
from penstock.doors.parent import listen_for_end, orders_of
from penstock.doors.streams import finish
from penstock.engines.system.cores import one_core_a_product
from penstock.model.errors import Fault
from penstock.wiring.loop import run
from penstock.wiring.workers import LAST_WORDS_SECONDS, Orders, serve

log = logging.getLogger("penstock.child")
SWITCH_SECONDS = 0.0005
"""How long a busy event loop keeps the writing thread from the interpreter; 5 ms would halve the rate."""


def main() -> None:
    """Read the orders, then serve."""
    orders = orders_of(Orders)
    settings = orders.settings
    set_up_logging(settings.observability.log_level, strict=settings.profile != "production")
    sys.setswitchinterval(SWITCH_SECONDS)
    one_core_a_product()
    try:
        run(_live(orders))
    except Fault as fault:
        log.error("the worker process ends: %s", fault.message, extra={"worker_id": orders.worker})
        sys.exit(1)
    except Exception:  # told as a log tells it: a traceback may quote what must not be written
        log.exception("the worker process ends", extra={"worker_id": orders.worker})
        sys.exit(1)
    finally:
        finish()  # a log that cannot be written is no failure of the work


async def _live(orders: Orders) -> None:
    parent_gone = asyncio.Event()
    listen_for_end(parent_gone, last_words_seconds=LAST_WORDS_SECONDS)
    await serve(orders, parent_gone)


if __name__ == "__main__":
    main()

"""One of several processes that claim and settle at once: `contender FOLDER SECONDS`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bench.queue import ours


async def contend(store: ours.SqliteStore, seconds: float) -> list[float]:
    """Milliseconds of each claim, until the time is over or nothing is left."""
    times: list[float] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.perf_counter()
        leases = await store.queue.claim(ours.WorkerId("bench"), 16, idle=False)
        times.append((time.perf_counter() - begin) * 1000)
        if not leases:
            break
        await store.queue.settle([(lease, ours.DONE) for lease in leases])
    return times


if __name__ == "__main__":
    found = ours.with_store(Path(sys.argv[1]), lambda store: contend(store, float(sys.argv[2])))
    print("\n".join(f"{value:.4f}" for value in found))

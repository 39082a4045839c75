"""huey, litequeue and persist-queue on SQLite, each used as its own documentation shows."""

from __future__ import annotations

import json
import os
import sys
import time

from bench.queue.marks import noop

PEERS = ("huey", "litequeue", "persist-queue")
ONE_CONSUMER = ("persist-queue",)
"""Its cursor lives in the process: two would run jobs twice."""
DURABILITY = {
    "huey": "WAL, SQLite's default sync (FULL); a job is gone once fetched",
    "litequeue": "WAL, sync NORMAL at defaults; no rescue",
    "persist-queue": "WAL, SQLite's default sync (FULL); one consumer",
}


def _store() -> str:
    return os.environ["BENCH_STORE"]


def submit(peer: str, count: int) -> float:
    """Seconds for so many single submits, without opening."""
    if peer == "huey":
        from bench.queue.huey_app import mark

        begin = time.perf_counter()
        for number in range(count):
            mark(number)
    elif peer == "litequeue":
        from litequeue import LiteQueue

        lite = LiteQueue(_store())
        begin = time.perf_counter()
        for number in range(count):
            lite.put(json.dumps(["noop", number]))
    else:
        import persistqueue

        acked = persistqueue.SQLiteAckQueue(_store() + ".d", multithreading=False)
        begin = time.perf_counter()
        for number in range(count):
            acked.put(("noop", number))
    return time.perf_counter() - begin


def work(peer: str) -> None:
    """The obvious worker loop of a library that brings none."""
    if peer == "litequeue":
        from litequeue import LiteQueue

        lite = LiteQueue(_store())
        while True:
            message = lite.pop()
            if message is None:
                time.sleep(0.001)
                continue
            json.loads(message.data)
            noop()
            lite.done(message.message_id)
    import persistqueue

    acked = persistqueue.SQLiteAckQueue(_store() + ".d", multithreading=False)
    while True:
        try:
            item = acked.get(block=False, raw=True)
        except persistqueue.Empty:
            time.sleep(0.001)
            continue
        noop()
        acked.ack(id=item["pqid"])


def worker_argv(peer: str) -> list[str]:
    """How its worker is started."""
    if peer == "huey":
        consumer = os.path.join(os.path.dirname(sys.executable), "huey_consumer")
        return [
            sys.executable,
            consumer,
            "bench.queue.huey_app.huey",
            "-k",
            "thread",
            "-w",
            "1",
            "-n",
            "-q",
            "-S",
        ]
    return [sys.executable, "-m", "bench.queue.peers", "work", peer]


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["work", name]:
            work(name)
        case ["submit", name, number]:
            print(submit(name, int(number)))

"""huey: two threads, results not kept; a job is gone once fetched."""

from __future__ import annotations

import os
import sys

from huey import RedisHuey

from bench.redis import work

JOBS = 8_000
SETTINGS = "2 threads, no results, no signals; a job is gone once fetched"
huey = RedisHuey("bench", url=work.URL, results=False)
_tasks = {name: huey.task(name=name)(job) for name, job in work.KINDS.items()}


def submit(kind: str, value: float) -> None:
    _tasks[kind](value)


def worker_argv() -> list[str]:
    consumer = os.path.join(os.path.dirname(sys.executable), "huey_consumer")
    threads = ["-k", "thread", "-w", "2"]
    return [sys.executable, consumer, "bench.redis.peers.huey.huey", *threads, "-n", "-q", "-S"]

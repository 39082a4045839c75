"""RQ: its usual worker, which forks for every job; results not kept."""

from __future__ import annotations

import sys

from redis import Redis
from rq import Queue

from bench.redis import work

JOBS = 200
SETTINGS = "a fork a job, as by default; results not kept; enqueue_many in 500s"
_queue = Queue("bench", connection=Redis.from_url(work.URL))


def submit(kind: str, value: float) -> None:
    _queue.enqueue(work.KINDS[kind], value, result_ttl=0)


def bulk(count: int) -> None:
    for start in range(0, count, 500):
        numbers = range(start, min(start + 500, count))
        _queue.enqueue_many(
            [Queue.prepare_data(work.noop, args=(number,), result_ttl=0) for number in numbers]
        )


def worker_argv() -> list[str]:
    return [sys.executable, "-m", "rq.cli", "worker", "-u", work.URL, "-w", "rq.Worker", "--quiet", "bench"]

"""Celery: acknowledged after the job, the solo pool, all that can be switched off switched off."""

from __future__ import annotations

import sys

from celery import Celery

from bench.redis import work

JOBS = 4_000
SETTINGS = "late acknowledgement, solo pool, prefetch 64, no results, gossip, mingle or events"
app = Celery("bench", broker=work.URL)
app.conf.update(
    task_ignore_result=True,
    worker_prefetch_multiplier=64,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_enable_remote_control=False,
    worker_send_task_events=False,
    broker_connection_retry_on_startup=True,
)
_tasks = {name: app.task(name=name)(job) for name, job in work.KINDS.items()}


def submit(kind: str, value: float) -> None:
    _tasks[kind].apply_async((value,))


def worker_argv() -> list[str]:
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=ERROR"]
    app_name = ["-A", "bench.redis.peers.celery"]
    return [sys.executable, "-m", "celery", *app_name, "worker", "--pool=solo", *quiet, "-n", "w%n@%h"]

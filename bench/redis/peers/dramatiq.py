"""Dramatiq: one process of 32 threads, its own middleware."""

from __future__ import annotations

import sys

import dramatiq
from dramatiq.brokers.redis import RedisBroker

from bench.redis import work

JOBS = 40_000
SETTINGS = "1 process of 32 threads, default middleware"
dramatiq.set_broker(RedisBroker(url=work.URL))
_actors = {name: dramatiq.actor(job, actor_name=name) for name, job in work.KINDS.items()}


def submit(kind: str, value: float) -> None:
    _actors[kind].send(value)


def worker_argv() -> list[str]:
    return [sys.executable, "-m", "dramatiq", "bench.redis.peers.dramatiq", "-p", "1", "-t", "32"]

"""huey's queue and task, imported by the submitter and by its consumer alike."""

from __future__ import annotations

import os

from huey import SqliteHuey

from bench.queue.marks import noop

huey = SqliteHuey("bench", filename=os.environ["BENCH_STORE"], results=False)


@huey.task()
def mark(number: int) -> None:
    """The no-op."""
    noop()

"""Following work to its end: jobs, and the children of those that make some.

Jobs are looked at in the order they were handed in, some at a time, because that is about the order in which
they end: so following ten thousand costs hardly more than following one.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.model.batches import Batch, BatchState
from penstock.model.jobs import BatchId, Job, JobId
from penstock.model.payloads import ItemType
from penstock.model.states import ENDED, State

if TYPE_CHECKING:
    from penstock.wiring.store import Store

LOOKED_AT = 500
"""Jobs looked at in one round."""
FAILURES_MAX = 1000
"""Failures that are named; more are only counted."""
LOOK_SECONDS = 0.2
SOON_SECONDS = 0.02
"""Time between looks at the last few, who may end any moment; longer the longer nothing happens."""
LAST_FEW = 8
QUIET_SHARE = 0.1
"""Whoever waits for one of the last few hears of its end later by so much of the time it took."""
PARENTS = frozenset({ItemType.FOLDER, ItemType.PROJECT, ItemType.LIBRARY})
UNDER_WAY = frozenset({BatchState.OPEN, BatchState.RUNNING})


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """How far the followed work is; a folder counts as its files once it has found some."""

    total: int
    done: int
    failed: int
    is_over: bool
    failures: tuple[Job, ...] = ()

    @property
    def ended(self) -> int:
        """How many are through, well or not."""
        return self.done + self.failed


class Follower:
    """Looks again and again at jobs that have not ended, then at the children of those that made some."""

    def __init__(self, store: Store, jobs: Sequence[JobId]) -> None:
        self._store = store
        self._waiting = deque(dict.fromkeys(jobs))
        self._done = 0
        self._failed = 0
        self._failures: list[Job] = []
        self._parents: set[JobId] = set()
        """Parents that are done and whose children are not all through."""
        self._batches: dict[JobId, Batch] = {}

    async def look(self) -> Outlook:
        """One round."""
        for _ in range(min(LOOKED_AT, len(self._waiting))):
            await self._look_at(self._waiting.popleft())
        for parent in list(self._parents):
            batch = await self._children(parent)
            if batch is not None and batch.state not in UNDER_WAY:
                self._parents.discard(parent)
                if batch.failed:
                    self._name(await self._store.batches.failures(batch.id, limit=FAILURES_MAX))
        batches = self._batches.values()
        done = self._done + sum(batch.done for batch in batches)
        failed = self._failed + sum(batch.failed for batch in batches)
        unfound = {parent for parent, batch in self._batches.items() if not batch.total}
        waiting = sum(job in unfound or job not in self._batches for job in self._waiting)
        return Outlook(
            total=waiting + self._done + self._failed + sum(batch.total for batch in batches),
            done=done,
            failed=failed,
            is_over=not self._waiting and not self._parents,
            failures=tuple(self._failures),
        )

    async def _look_at(self, job_id: JobId) -> None:
        job = await self._store.desk.find(job_id)
        if job is None:  # it ended so long ago that it is no longer kept
            return
        children = await self._children(job.id) if job.item_type in PARENTS else None
        if job.state not in ENDED:
            self._waiting.append(job_id)
        elif job.state is State.FAILED:
            self._failed += 1
            self._name([job])
        elif children is None:
            self._done += 1
        else:
            self._parents.add(job.id)

    async def _children(self, parent: JobId) -> Batch | None:
        batch = await self._store.batches.batch(BatchId(parent))
        if batch is not None:
            self._batches[parent] = batch
        return batch

    def _name(self, jobs: Sequence[Job]) -> None:
        self._failures += jobs[: FAILURES_MAX - len(self._failures)]

    async def until_over(self) -> AsyncIterator[Outlook]:
        """One outlook after the other; the last one is over."""
        ended, since = -1, time.monotonic()
        while True:
            seen = await self.look()
            yield seen
            if seen.is_over:
                return
            if seen.ended != ended:
                ended, since = seen.ended, time.monotonic()
            await asyncio.sleep(pause_before(seen, time.monotonic() - since))


def pause_before(seen: Outlook, quiet: float) -> float:
    """Seconds until the next look, where none has ended for `quiet` seconds."""
    if seen.total - seen.ended > LAST_FEW:
        return LOOK_SECONDS
    return min(LOOK_SECONDS, max(SOON_SECONDS, QUIET_SHARE * quiet))

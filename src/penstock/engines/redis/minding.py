"""Rescuing and promoting: who is dead, what is due, and how seldom one must ask.

Beats and leases only ever move their ends further away. So one look tells until when nobody can be lost:
until then nothing is asked. Only a process that is gone for certain is noticed sooner; whether it is, this
machine knows without asking Redis.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.engines.redis import settling
from penstock.engines.redis.access import Access
from penstock.engines.redis.listening import Wake
from penstock.engines.redis.names import packed
from penstock.engines.system.processes import is_gone
from penstock.model.jobs import JobId
from penstock.model.rules import Verdict, after_loss
from penstock.ports.clock import Clock

FORGET_SECONDS = 3600.0
"""How long a dead worker is still shown."""
QUIET_SECONDS_MAX = 5.0
"""Nobody is trusted to live for longer than this without a look."""
SLIP_SECONDS = 0.001


class Quiet:
    """A time for which nothing need be asked; a clock that was turned since ends it."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._until = 0.0
        self._offset: float | None = None

    def begin(self, seconds: float, now: float) -> None:
        """So long from now, and never very long."""
        steady = self._clock.steady()
        self._until = steady + min(seconds, QUIET_SECONDS_MAX)
        self._offset = now - steady

    def end(self) -> None:
        """Ask next time."""
        self._offset = None

    @property
    def lasts(self) -> bool:
        """Whether it is still quiet."""
        steady = self._clock.steady()
        turned = self._offset is None or abs(self._clock.now() - steady - self._offset) > SLIP_SECONDS
        return not turned and steady < self._until


class Rescuing:
    """Remembers what the last look told."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._rules, self._clock = access.rules, access.clock
        self._processes: dict[str, str] = {}
        self._quiet = Quiet(access.clock)

    async def rescue(self, *, certain: bool) -> list[JobId]:
        """Take back what nobody runs any more."""
        gone = self._gone()
        if not gone and self._quiet.lasts:
            return []
        now = self._clock.now()
        rescued, found = await self._take_back(gone, now, certain=certain)
        if found - set(gone):
            more, _ = await self._take_back(sorted(found), now, certain=certain)
            rescued += more
        return rescued

    async def _take_back(
        self, gone: Sequence[str], now: float, *, certain: bool
    ) -> tuple[list[JobId], set[str]]:
        """What went back, and which workers turned out to be gone."""
        dead_before = now - self._rules.dead_after_seconds
        attempts, workers, nearest = await self._access.run(
            "lost",
            repr(dead_before),
            packed(gone),
            int(certain),
            repr(dead_before - FORGET_SECONDS),
            now=now,
        )
        self._remember(workers, nearest, now)
        rescued: list[JobId] = []
        for died in (True, False):
            rows = [row[1:] for row in attempts if bool(row[0]) is died]
            rescued += await self._settle(rows, gone, now, died=died)
        return rescued, set(self._gone())

    async def _settle(
        self, rows: Sequence[Sequence[bytes]], gone: Sequence[str], now: float, *, died: bool
    ) -> list[JobId]:
        def judge(running: settling.Running) -> Verdict:
            return after_loss(running.attempt, worker_died=died, started=running.started)

        held = await settling.lost_of(self._access, rows)
        dead_before = now - self._rules.dead_after_seconds
        settled = await settling.settle_all(
            self._access, held, judge, how=settling.How.LOST, dead_before=dead_before, gone=gone, now=now
        )
        return [running.job_id for running in held if running.job_id in settled]

    def _gone(self) -> list[str]:
        known = self._processes.items()
        return sorted(worker for worker, process in known if is_gone(process, one_machine=False))

    def _remember(self, workers: Sequence[Sequence[bytes]], nearest: bytes, now: float) -> None:
        before = self._processes
        self._processes = {worker.decode(): process.decode() for worker, process, _ in workers}
        if self._access.rolls is not None:
            self._access.rolls.forget(before.keys() - self._processes.keys())
        ends = [float(beat) + self._rules.dead_after_seconds for _, _, beat in workers]
        ends += [float(nearest) / 1_000_000] if nearest else []
        shortest = min([self._rules.lease_seconds, *self._rules.lease_seconds_by_type.values()])
        self._quiet.begin(min([shortest, *(end - now for end in ends)]), now)


class Promoting:
    """Due times are announced when they are made, so between two of them there is nothing to ask."""

    def __init__(self, access: Access) -> None:
        self._access, self._clock = access, access.clock
        self._news: Wake | None = None
        self._quiet = Quiet(access.clock)
        self._nearest: float | None = None

    def listen(self) -> None:
        """Hear of due times; before, every call asks."""
        self._news = self._access.bell()

    async def promote(self) -> float | None:
        """Make due jobs ready, unless nothing can be due yet; when the next one is."""
        if await self._nothing_new() and self._quiet.lasts:
            return self._nearest
        now = self._clock.now()
        more, waits, due = await self._access.run("promote", now=now)
        self._nearest = float(due) if due else None
        self._quiet.end()
        if more:
            return now
        if waits:
            return now + 1.0 if self._nearest is None else min(now + 1.0, self._nearest)
        self._quiet.begin(QUIET_SECONDS_MAX if self._nearest is None else self._nearest - now, now)
        return self._nearest

    async def _nothing_new(self) -> bool:
        return self._news is not None and not await self._news.wait(0.0) and self._news.listening

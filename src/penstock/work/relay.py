"""The relay: brings what was booked to the engine that hands jobs out, and finds what one side has lost.

Messages are sent in their order and struck out afterwards; a crash between sends them twice, which a submit
of the same id does not mind. Once in a while the whole book is compared: an entry that has not ended and that
the engine does not know, because it came back empty or lost its tail, is told to it again. One it will not
have ends in the book with the reason, so that those after it are heard. What it takes for running though the
book has seen it end, because it lost that end, is ended there: others of its subject wait for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from penstock.model.errors import Fault, Refused
from penstock.model.jobs import JobId, NewJob
from penstock.model.outcomes import Outcome
from penstock.model.states import ENDED, State
from penstock.ports.desk import Desk
from penstock.ports.ledger import Ledger, booked_id, told_again
from penstock.ports.queue import Queue
from penstock.work.pace import jittered_around

log = logging.getLogger("penstock.relay")
LOOK_SECONDS = 0.5
COMPARE_SECONDS = 30.0
PORTION = 500
ROUNDS_MAX = 3
"""So often at once; what is still missing then is told after the usual time."""
TOLD_PORTION = 20
"""Jobs read whole at once: a payload may be large."""
HEARD_SECONDS = 1.0
"""So long the engine may take to hear of an end that was booked."""


Unheld = Callable[[Sequence[JobId]], Awaitable[set[JobId]]]
"""Which of these jobs the engine neither has waiting nor running."""


class Leased(Protocol):
    """What an engine has leased, many at once."""

    async def running(self) -> list[JobId]:
        """Those it takes for running."""
        ...

    async def end(self, ends: Mapping[JobId, Outcome]) -> int:
        """End them so; how many it took for running until now."""
        ...


class Relay:
    """One in every process; several at once only send the same thing twice."""

    def __init__(self, ledger: Ledger, engine: Queue) -> None:
        self._ledger = ledger
        self._engine = engine
        self._sending = asyncio.Lock()
        self._news = asyncio.Event()

    def nudge(self) -> None:
        """Something may have been booked."""
        self._news.set()

    async def run(self) -> None:
        """Send what is there, look again soon."""
        while True:
            try:
                await self.send()
            except Fault as fault:
                log.warning("the queue cannot be told of new jobs: %s", fault.message)
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(jittered_around(LOOK_SECONDS)):
                    await self._news.wait()

    async def send(self) -> int:
        """Tell the engine everything it has not heard of; how many messages went."""
        told = 0
        async with self._sending:
            while messages := await self._ledger.messages(limit=PORTION):
                await self._tell([message.job for message in messages])
                await self._ledger.sent(messages)
                told += len(messages)
        return told

    async def _tell(self, jobs: Sequence[NewJob]) -> None:
        """All at once; if one is refused, each by itself."""
        try:
            await self._engine.submit(jobs)
        except Refused:
            for job in jobs:
                await _tell_one(self._ledger, self._engine, job, job)


class Comparer:
    """Compares the book with the engine, page by page, now and then."""

    def __init__(
        self,
        ledger: Ledger,
        engine: Queue,
        desk: Desk,
        unheld: Unheld | None = None,
        leased: Leased | None = None,
    ) -> None:
        """`unheld` spares the engine to be asked for each job by itself.

        `leased` is asked of an engine that may lose ends.
        """
        self._ledger = ledger
        self._engine = engine
        self._desk = desk
        self._unheld = unheld or _any
        self._leased = leased

    async def run(self) -> None:
        """At once, and then every half minute or so."""
        while True:
            try:
                await self.agree()
            except Fault as fault:
                log.warning("book and queue cannot be compared: %s", fault.message)
            await asyncio.sleep(jittered_around(COMPARE_SECONDS))

    async def agree(self) -> None:
        """Compare until nothing is missing: what is told may end, in the engine alone, what came later."""
        if self._leased is not None and (ended := await self._end_forgotten(self._leased)):
            log.warning("%d jobs that had ended still ran for the queue, and have ended there", ended)
        for _ in range(ROUNDS_MAX):
            if not (missing := await self.compare()):
                return
            log.warning("%d jobs were missing in the queue and were told to it again", missing)

    async def compare(self) -> int:
        """Tell the engine every unfinished job it does not have; how many.

        One it takes for ended, though the book does not, goes to it under another id. One that was begun and
        failed there because its workers died is booked so.
        """
        missing = 0
        async for page in self._ledger.unfinished(portion=PORTION):
            unheld = await self._unheld(page)
            lost = [job_id for job_id in page if job_id in unheld]
            for at in range(0, len(lost), TOLD_PORTION):
                for job in await self._ledger.entered(lost[at : at + TOLD_PORTION]):
                    missing += await self._told(job)
        return missing

    async def _end_forgotten(self, leased: Leased) -> int:
        """End what runs in the engine alone; an end that is just being told is given the time for it."""
        if not await self._over(await leased.running()):
            return 0
        await asyncio.sleep(HEARD_SECONDS)
        over = await self._over(await leased.running())
        return await leased.end(over) if over else 0

    async def _over(self, running: Sequence[JobId]) -> dict[JobId, Outcome]:
        """Those of them the book has seen end, and how."""
        ends = await self._ledger.ends(running) if running else {}
        return {job_id: ends[booked_id(job_id)] for job_id in running if booked_id(job_id) in ends}

    async def _told(self, job: NewJob) -> bool:
        there = await self._desk.find(job.id)
        if there is not None and there.state not in ENDED:
            return False
        if await self._ledger.ends([job.id]):
            return False  # it has ended since its page was read, on both sides
        if there is None:
            return await _tell_one(self._ledger, self._engine, job, job)
        if there.state is State.FAILED and there.id == job.id:
            await self._ledger.follow([there])
            if await self._ledger.ends([job.id]):
                return True
        return await _tell_one(self._ledger, self._engine, job, told_again(job))


async def _tell_one(ledger: Ledger, engine: Queue, job: NewJob, told: NewJob) -> bool:
    """Whether the engine took it; one it will never take is over in the book."""
    try:
        await engine.submit([told])
    except Refused as refused:
        log.warning("the queue will not have job %s: %s", job.id, refused.message)
        await ledger.refuse(job.id, refused.report())
        return False
    return True


async def _any(job_ids: Sequence[JobId]) -> set[JobId]:
    """Every one may be missing."""
    return set(job_ids)

"""Letters of a queue outside the database: its lists hold them, and the book knows the jobs behind most."""

from __future__ import annotations

from collections.abc import AsyncIterator

from penstock.model.errors import Refused
from penstock.model.jobs import JobId
from penstock.model.letters import Letter, Replay
from penstock.ports.desk import Desk
from penstock.ports.ledger import booked_id
from penstock.ports.letters import Mailbox
from penstock.ports.queue import Queue
from penstock.work.letters import JobLetters


class BookedLetters:
    """Implements the letters port over lists and a desk.

    A job that failed runs again as a new job. A message nobody made a job of goes back to the list it came
    by, byte for byte, and is judged anew. Either way the letter is gone then, and what came of it is
    remembered for as long as a job's hash.
    """

    def __init__(self, mailbox: Mailbox, queue: Queue, desk: Desk, engine: Desk) -> None:
        """`desk` looks into the book, `engine` into what only the engine knows."""
        self._mailbox = mailbox
        self._desk = desk
        self._jobs = JobLetters(queue, desk)
        self._engine = engine

    async def walk(self, code: str | None = None) -> AsyncIterator[Letter]:
        """All of them, the latest first."""
        async for letter in self._mailbox.walk():
            if code is None or letter.code == code:
                yield letter

    async def replay(self, letter: Letter) -> Replay:
        """Have it done again; Refused where its job is not one that failed."""
        job_id = None if letter.job_id is None else booked_id(letter.job_id)
        job = None if job_id is None else await self._desk.find(job_id)
        if job is not None:
            done = await self._jobs.replay_job(job, letter.id)
            await self._mailbox.settle(letter, done.new or "")
            return done
        if job_id is not None and await self._engine.find(job_id) is not None:
            # The engine refused it before the book heard of it: the same id again would change nothing.
            raise Refused(
                f"job {job_id} cannot run again as it is; push its message anew under another id",
                code="ERR_JOB_UNFINISHED",
            )
        if await self._mailbox.send_back(letter):
            return Replay(letter=letter.id, job_id=letter.job_id, new=None, how="pushed")
        return await self.replayed(letter.id) or _gone(letter)

    async def replayed(self, name: str) -> Replay | None:
        """What became of a letter that was replayed."""
        told = await self._mailbox.outcome(name)
        if told is None:
            return None
        return Replay(letter=name, job_id=None, new=JobId(told) if told else None, how="before")

    async def count(self, before: float) -> int:
        """Letters in the lists."""
        return await self._mailbox.count(before)

    async def purge(self, before: float) -> int:
        """Remove letters; the jobs behind them stay in the book until their retention is over."""
        return await self._mailbox.purge(before)


def _gone(letter: Letter) -> Replay:
    raise Refused(f"there is no letter {letter.id} any more", code="ERR_LETTER_UNKNOWN")

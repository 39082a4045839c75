"""The database: one transaction for a document, its job and its event.

D1  `write` runs the function once inside a transaction and answers after the commit.
D2  A function that raises leaves nothing behind, and nothing of its neighbours' work is lost.
D3  Several callers' functions may share one commit; each sees only what is committed or came before it.
D4  Events are numbered per user without gaps, in commit order; each is forgotten with all before it.
D5  A guarded write fails with LeaseLost when the attempt's token is not current.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from penstock.model.events import Event, LoggedEvent
from penstock.model.jobs import BatchId, Job, JobId, Lease, NewJob, Receipt
from penstock.model.outcomes import Outcome
from penstock.ports.accounts import Accounts
from penstock.ports.catalogue import Documents, Kept, Shelves, Stages
from penstock.ports.conversations import Conversations
from penstock.ports.debts import Debts
from penstock.ports.requests import Requests
from penstock.ports.uploads import Uploads

T = TypeVar("T")


class Transaction(Protocol):
    """What a function given to `write` may do; nothing here waits or awaits."""

    def submit(self, jobs: Sequence[NewJob], *, batch: BatchId | None = None) -> list[Receipt]:
        """Accept jobs together with the caller's own changes."""
        ...

    def settle(self, ends: Sequence[tuple[Lease, Outcome]]) -> list[bool]:
        """End attempts together with what they produced."""
        ...

    def guard(self, lease: Lease) -> None:
        """Raise LeaseLost unless the attempt still holds its job (D5)."""
        ...

    def told_to_end(self, lease: Lease) -> str | None:
        """The code with which an attempt was told to end, if it was; it should begin nothing any more."""
        ...

    def job(self, job_id: JobId) -> Job | None:
        """One job, as this transaction leaves it."""
        ...

    def append_event(self, user: str, event: Event) -> int:
        """Log an event; its number."""
        ...

    @property
    def accounts(self) -> Accounts:
        """Users and their workspaces."""
        ...

    @property
    def shelves(self) -> Shelves:
        """Collections and their generations."""
        ...

    @property
    def documents(self) -> Documents:
        """Documents, versions and chunks."""
        ...

    @property
    def stages(self) -> Stages:
        """The steps of document jobs."""
        ...

    @property
    def kept(self) -> Kept:
        """Results that are never paid for twice."""
        ...

    @property
    def debts(self) -> Debts:
        """What is owed."""
        ...

    @property
    def conversations(self) -> Conversations:
        """Conversations and their messages."""
        ...

    @property
    def requests(self) -> Requests:
        """Answers to requests that may be sent again."""
        ...

    @property
    def uploads(self) -> Uploads:
        """Files while they are sent."""
        ...


class Database(Protocol):
    """The truth: written in groups, read beside."""

    async def write(
        self, work: Callable[[Transaction], T], *, timeout: float | None = None, patient: bool = False
    ) -> T:
        """Run `work` in a transaction (D1 to D3); it is synchronous and must be quick.

        A caller that is patient, because others have work to go on with, may wait a moment for company.
        """
        ...

    async def events_after(self, user: str, seq: int, *, limit: int = 1000) -> list[LoggedEvent]:
        """The user's events with a higher number, in order."""
        ...

    async def forget_events(self, before: float, *, limit: int = 1000) -> int:
        """Remove events older than that and those before them, at most `limit` a call; how many went.

        Numbers are never reused. A user's event that a clock running ahead has dated goes with the next one
        that is old, so that what is kept has no gap and does not grow.
        """
        ...

    async def close(self) -> None:
        """Finish what was accepted and let go of the files."""
        ...

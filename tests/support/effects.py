"""What a job under test does to the database: one event that can be counted, guarded by its lease."""

from collections.abc import Callable

from penstock.model.events import TaskStatusUpdated
from penstock.model.jobs import Lease
from penstock.model.outcomes import DONE
from penstock.ports.database import Transaction


def effect_of(lease: Lease, *, settles: bool) -> Callable[[Transaction], None]:
    """The work of a transaction: the event, and the end of the job with it where it settles."""
    told = TaskStatusUpdated(
        job_id=lease.job_id,
        item_type=lease.item_type,
        op=lease.op,
        document_id="",
        workspace_id="",
        status="effect",
        retry_count=lease.token,
    )

    def work(transaction: Transaction) -> None:
        transaction.guard(lease)
        transaction.append_event(lease.job_id, told)
        if settles:
            transaction.settle([(lease, DONE)])

    return work

"""Leases nobody claimed, for those who only look at one."""

from __future__ import annotations

from itertools import count
from typing import Any

from penstock.model.jobs import JobId, Lease, Operation, WorkerId
from penstock.model.payloads import Content, ItemType
from tests.support.jobs import COLLECTION, TENANT

_numbers = count(1)


def a_lease(**chosen: Any) -> Lease:
    """The first attempt at a note nobody has written before."""
    number = next(_numbers)
    usual = Lease(
        job_id=JobId(f"leased-{number}"),
        token=1,
        worker=WorkerId("w1"),
        until=4e9,
        item_type=ItemType.CONTENT,
        op=Operation.INGEST,
        tenant=TENANT,
        collection=COLLECTION,
        payload=Content(content=f"note {number}"),
        priority=5,
        attempt=1,
    )
    return usual._replace(**chosen)

"""Messages to an engine outside, written together with the jobs they tell of."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.submitting import Entry, submit
from penstock.model.jobs import BatchId, Receipt


def accept(
    db: sqlite3.Connection,
    entries: Sequence[Entry],
    now: float,
    batch: BatchId | None = None,
    *,
    booked: bool,
) -> list[Receipt]:
    """Enter jobs; where they are handed out elsewhere, with a message each in the same transaction."""
    receipts = submit(db, entries, now, batch)
    if booked:
        db.executemany(sql("message_add"), [(_text_of(entry),) for entry in entries])
    return receipts


def _text_of(entry: Entry) -> str:
    job = entry.job
    return json.dumps(
        {
            "id": job.id,
            "item_type": job.item_type.value,
            "op": job.op.value,
            "tenant": job.tenant,
            "collection": job.collection,
            "priority": job.priority,
            "payload": entry.payload,
            "max_retries": job.max_retries,
            "branch": job.branch,
            "metadata": entry.metadata,
            "document_id": job.document_id,
            "run_at": job.run_at,
            "replay_of": job.replay_of,
            "delete_first": job.delete_first,
        }
    )

"""Stages and documents as others see and change them: the documented views, and jobs ended by raw SQL."""

import json
import sqlite3

import pytest

from penstock.engines.sqlite import SqliteStore
from penstock.model.catalogue import LOCAL_USER, LOCAL_WORKSPACE, Document, DocumentState, StageKind
from penstock.model.events import (
    DocumentCreated,
    DocumentStatusUpdated,
    JobStatusUpdated,
    LoggedEvent,
    TaskStatusUpdated,
)
from penstock.ports.codec import encode_event
from penstock.ports.database import Transaction
from tests.support.cataloguing import admitted, claimed_job, declared, ingested, new_document
from tests.support.jobs import a_rename

ODD = 'a "quoted" \\ back/slash\n\t\b\f\r \x01\x1f\x7f é 世界 🙂 \u2028 </script>'
COLUMNS = (
    "id, document_id, workspace_id, queue_id, status, retry_count, next_run_at, error_message, created_at,"
    " updated_at"
)


async def document_of(store: SqliteStore, document: Document) -> Document:
    found = await store.catalogue.document(LOCAL_WORKSPACE, document.id)
    assert found is not None
    return found


async def told(store: SqliteStore) -> list[LoggedEvent]:
    return await store.events_after(LOCAL_USER, 0)


async def test_stages_are_read_as_the_documented_jobs(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Each view has the documented columns and holds the stages of its kind."""
    document, job = await admitted(store)
    lease = await claimed_job(store.queue)

    def on(tx: Transaction) -> None:
        stages = tx.stages
        stages.finish(lease, stages.begin(lease, document.id, StageKind.PARSE))
        stages.begin(lease, document.id, StageKind.INGEST)

    await store.write(on)

    for view, status in (("parse_jobs", "success"), ("ingest_jobs", "running")):
        (row,) = db.execute(f"SELECT {COLUMNS} FROM {view}").fetchall()  # noqa: S608 - names of this test
        assert row[1:6] == (document.id, LOCAL_WORKSPACE, job, status, 0)


async def test_a_job_failed_by_raw_sql_fails_its_document(store: SqliteStore, db: sqlite3.Connection) -> None:
    """The stage, the document and their numbered events change with the row, whoever changes it."""
    document, job = await admitted(store)
    before = await told(store)

    with db:
        db.execute(
            "UPDATE unified_queue SET status = 'failed', error_message = 'ended by hand' WHERE queue_id = ?",
            (job,),
        )

    after = await document_of(store, document)
    assert after.error is not None
    assert (after.state, after.error_stage) == (DocumentState.ERROR, StageKind.PARSE)
    assert (after.error.code, after.error.message) == ("ERR_UNEXPECTED", "ended by hand")
    new = (await told(store))[len(before) :]
    assert [(event.seq, event.type) for event in new] == [
        (len(before) + 1, "job.status_updated"),
        (len(before) + 2, "document.status_updated"),
    ]


async def test_a_job_done_by_raw_sql_ends_its_stage(store: SqliteStore, db: sqlite3.Connection) -> None:
    """An unfinished stage of a done job has worked."""
    _, job = await admitted(store)

    with db:
        db.execute("UPDATE unified_queue SET status = 'done' WHERE queue_id = ?", (job,))

    assert db.execute("SELECT status FROM parse_jobs").fetchall() == [("success",)]


async def test_a_job_removed_by_raw_sql_leaves_no_document_waiting(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """Its stage is failed, and the document says that the job is gone."""
    document, job = await admitted(store)

    with db:
        db.execute("DELETE FROM unified_queue WHERE queue_id = ?", (job,))

    after = await document_of(store, document)
    assert after.error is not None
    assert (after.state, after.error.code) == (DocumentState.ERROR, "ERR_CANCELLED")


async def test_a_failed_job_put_back_by_raw_sql_takes_up_its_stage(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """The step it failed at waits again, and so does the document."""
    document, job = await admitted(store)
    await store.desk.cancel([job])

    with db:
        db.execute("UPDATE unified_queue SET status = 'pending' WHERE queue_id = ?", (job,))

    assert db.execute("SELECT status FROM parse_jobs").fetchall() == [("queued",)]
    assert (await document_of(store, document)).state is DocumentState.PENDING


async def test_an_update_that_changes_no_status_tells_nothing(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """Writing the same status again is no event."""
    _, job = await admitted(store)
    before = await told(store)

    with db:
        db.execute("UPDATE unified_queue SET status = 'pending', priority = 9 WHERE queue_id = ?", (job,))

    assert await told(store) == before


@pytest.mark.parametrize("updated_at", ["2025-06-15 15:06:41", "", "whenever"])
async def test_a_time_written_by_hand_does_not_spoil_the_log(
    store: SqliteStore, db: sqlite3.Connection, updated_at: str
) -> None:
    """An event of a row whose time is in another form is dated by the database, in the log's own form."""
    _, job = await admitted(store)

    with db:
        db.execute(
            "UPDATE unified_queue SET status = 'failed', updated_at = ? WHERE queue_id = ?", (updated_at, job)
        )

    stamps = [row[0] for row in db.execute("SELECT ts FROM events").fetchall()]
    assert {len(stamp) for stamp in stamps} == {27}


async def test_triggers_write_events_as_the_codec_does(store: SqliteStore, db: sqlite3.Connection) -> None:
    """Byte for byte, whatever characters names and messages hold."""
    document, job = await admitted(store)
    with db:
        db.execute(
            "UPDATE unified_queue SET status = 'failed', retry_count = 2, error_message = ?"
            " WHERE queue_id = ?",
            (ODD, job),
        )
    stage = (await store.catalogue.stages_of_job(job))[0]

    failed, error = (await told(store))[-2:]

    workspace = str(LOCAL_WORKSPACE)
    assert failed.payload_json == encode_event(
        JobStatusUpdated(
            job_id=stage.id,
            job_type="parse",
            document_id=document.id,
            workspace_id=workspace,
            status="failed",
            retry_count=2,
            error_message=ODD,
        )
    )
    assert error.payload_json == encode_event(
        DocumentStatusUpdated(workspace_id=workspace, document_id=document.id, status="error")
    )


async def test_a_new_document_is_told_as_the_codec_would(store: SqliteStore) -> None:
    """As lists show it."""
    document = await store.write(lambda tx: tx.documents.admit(new_document(declared(tx).id, f"/{ODD}")))

    _, created = await told(store)
    made = json.loads(created.payload_json)["document"]["created_at"]

    assert created.payload_json == encode_event(
        DocumentCreated(
            workspace_id=str(LOCAL_WORKSPACE),
            document={
                "id": document.id,
                "workspace_id": str(LOCAL_WORKSPACE),
                "collection": "notes",
                "name": document.name,
                "title": None,
                "source": "file",
                "status": "pending",
                "media": None,
                "size": None,
                "pages": None,
                "chunks": 0,
                "metadata": {},
                "error": None,
                "created_at": made,
                "updated_at": made,
            },
        )
    )


async def test_a_task_is_told_as_the_codec_would(store: SqliteStore) -> None:
    """Its type and operation stand where a stage has its kind."""
    document = await ingested(store)
    await store.queue.submit([a_rename("/a.txt", "/b.txt")])
    lease = await claimed_job(store.queue)

    stage = await store.write(lambda tx: tx.stages.begin(lease, document.id, StageKind.TASK))

    assert (await told(store))[-1].payload_json == encode_event(
        TaskStatusUpdated(
            job_id=stage,
            item_type="rename",
            op="update",
            document_id=document.id,
            workspace_id=str(LOCAL_WORKSPACE),
            status="running",
        )
    )


async def test_a_message_by_hand_is_cut_to_the_length_ours_have(
    store: SqliteStore, db: sqlite3.Connection
) -> None:
    """An endless message does not become an endless event."""
    _, job = await admitted(store)

    with db:
        db.execute(
            "UPDATE unified_queue SET status = 'failed', error_message = ? WHERE queue_id = ?",
            ("x" * 100_000, job),
        )

    assert len((await told(store))[-2].payload_json) < 5_000

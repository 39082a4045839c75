"""Uploads while they are sent: clauses U1 to U5, and what the feed tells of them."""

import json

from penstock.model.accounts import Workspace
from penstock.model.catalogue import LOCAL_USER, LOCAL_WORKSPACE, DocumentId
from penstock.model.errors import ErrorReport
from penstock.model.feed import OpenUpload, UploadProgress
from penstock.model.uploads import HOLD_SECONDS, KEPT_SECONDS, UploadId
from penstock.ports.database import Transaction
from tests.contract.engines import Store
from tests.support.clock import FakeClock

NEEDS_DATABASE = True
ANN = "11111111-1111-4111-8111-111111111111"


async def begun(store: Store, name: str = "a.pdf", total: int | None = 100) -> UploadId:
    return await store.write(lambda tx: tx.uploads.begin(LOCAL_WORKSPACE, name=name, total=total))


async def told(store: Store) -> list[tuple[str, dict[str, object]]]:
    return [(each.type, json.loads(each.payload_json)) for each in await store.events_after(LOCAL_USER, 0)]


async def test_an_upload_tells_how_it_begins_and_ends(store: Store) -> None:
    """U1, U2: one event each, none for what lies between, and the first end counts."""
    one, other = await begun(store), await begun(store, "b.txt", None)
    await store.reception.renew({one: 60})

    def end(tx: Transaction) -> None:
        tx.uploads.complete(one, done=99, document=DocumentId("d"))
        tx.uploads.fail(one, ErrorReport(code="ERR_BODY_SLOW", message="late"))
        tx.uploads.fail(other, ErrorReport(code="ERR_BODY_SLOW", message="too slow"))
        tx.uploads.fail(other, ErrorReport(code="ERR_UNEXPECTED", message="again"))

    await store.write(end)

    events = await told(store)
    assert [kind for kind, _ in events] == ["upload.created"] * 2 + ["upload.status_updated"] * 2
    first, second, completed, failed = (event for _, event in events)
    assert first["upload"] == {
        "id": one, "name": "a.pdf", "status": "uploading", "done": 0, "total": 100,
        "created_at": first["upload"]["created_at"],  # type: ignore[index]
    }  # fmt: skip
    assert second["upload"]["total"] is None  # type: ignore[index]
    assert completed == {
        "workspace_id": LOCAL_WORKSPACE, "upload_id": one, "status": "completed", "done": 99,
        "document_id": "d", "error_code": None, "error_message": None,
    }  # fmt: skip
    assert (failed["status"], failed["error_code"], failed["error_message"]) == (
        "failed",
        "ERR_BODY_SLOW",
        "too slow",
    )


async def test_how_far_it_is_passes_to_its_owner_alone(store: Store) -> None:
    """U3, S5, S6, S7: while it lasts, in the snapshot and underway, and to nobody else."""

    def sign_in(tx: Transaction) -> Workspace:
        tx.accounts.sign_in(ANN)
        return tx.accounts.open(ANN, "hers")

    await store.write(sign_in)
    upload = await begun(store)
    await store.reception.renew({upload: 60})

    (underway,) = await store.feed.underway([LOCAL_USER, ANN])
    assert (underway.user, underway.uploads) == (
        LOCAL_USER,
        (UploadProgress(upload_id=upload, workspace_id=LOCAL_WORKSPACE, done=60, total=100),),
    )
    assert (await store.feed.snapshot(LOCAL_USER)).uploads == (
        OpenUpload(
            id=upload, workspace_id=LOCAL_WORKSPACE, name="a.pdf", status="uploading", done=60, total=100
        ),
    )
    assert (await store.feed.snapshot(ANN)).uploads == ()

    await store.write(lambda tx: tx.uploads.complete(upload, done=99, document=None))
    await store.reception.renew({upload: 70})
    assert await store.feed.underway([LOCAL_USER]) == []


async def test_one_nobody_receives_any_more_is_ended(store: Store, clock: FakeClock) -> None:
    """U4, U2: not while its receiver speaks; one that comes to its end all the same is completed."""
    left, kept = await begun(store), await begun(store, "b.txt")
    clock.advance(HOLD_SECONDS - 1)
    await store.reception.renew({kept: 10})
    assert await store.reception.heal() == []
    clock.advance(2)

    assert await store.reception.heal(limit=0) == []
    assert await store.reception.heal() == [left]
    assert await store.reception.heal() == []
    await store.write(lambda tx: tx.uploads.complete(left, done=99, document=DocumentId("d")))

    ends = [(event["status"], event["error_code"]) for kind, event in await told(store) if "status" in event]
    assert ends == [("failed", "ERR_UPLOAD_BROKEN_OFF"), ("completed", None)]


async def test_ended_ones_are_forgotten_and_unfinished_ones_are_not(store: Store, clock: FakeClock) -> None:
    """U5: a day later, with the next that begins."""
    ended, open_one = await begun(store), await begun(store, "b.txt")
    await store.write(lambda tx: tx.uploads.complete(ended, done=1, document=None))
    clock.advance(KEPT_SECONDS + 1)
    await begun(store, "c.txt")

    # Completing tells only of one that is still known.
    before = len(await told(store))
    await store.write(lambda tx: tx.uploads.fail(ended, ErrorReport(code="ERR_UNEXPECTED", message="")))
    await store.write(lambda tx: tx.uploads.complete(ended, done=1, document=None))
    await store.write(lambda tx: tx.uploads.complete(open_one, done=1, document=None))
    assert len(await told(store)) == before + 1

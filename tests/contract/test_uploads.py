"""Uploads: a document, its job and its bytes, taken in together (K2, K16, K18)."""

import json
from dataclasses import replace

import pytest

from penstock.intake.admission import Admission, Admitted, Order, admit_deletion
from penstock.model.catalogue import LOCAL_USER, LOCAL_WORKSPACE, BlobId, Document, DocumentState, Source
from penstock.model.errors import Refused
from penstock.model.jobs import Accepted, TenantId, WorkerId
from penstock.model.outcomes import Done
from penstock.model.payloads import Content, File
from penstock.model.states import State
from penstock.model.uploads import Uploaded, upload_path
from tests.contract.engines import Home, Store
from tests.support.cataloguing import blob_of, claimed_job, declared, pay_purges
from tests.support.clock import FakeClock
from tests.support.jobs import COLLECTION, OTHER_TENANT, TENANT

NEEDS_DATABASE = True
BYTES = blob_of("hello world")
MOVED_ON = "document.status_updated"


def sent(blob: BlobId = BYTES, name: str = "hello.txt", size: int = 11) -> Uploaded:
    return Uploaded(blob=blob, size=size, name=name, metadata={"year": 2024})


async def uploaded(store: Store, *uploads: Uploaded, tenant: TenantId = TENANT) -> list[Admitted]:
    await store.write(lambda tx: declared(tx, tenant=tenant))
    order = Order(tenant=tenant, collection=COLLECTION, priority=5)
    return await Admission(store).uploads(order, uploads or [sent()])


async def found(store: Store, admitted: Admitted) -> Document:
    assert admitted.document is not None
    document = await store.catalogue.document(LOCAL_WORKSPACE, admitted.document)
    assert document is not None
    return document


async def test_an_upload_is_a_document_a_job_and_their_events(store: Store) -> None:
    """K2: what is known of it is there at once, and its job names the bytes and no file."""
    (admitted,) = await uploaded(store)

    document = await found(store, admitted)
    lease = await claimed_job(store.queue)
    events = await store.events_after(LOCAL_USER, 0)

    assert (document.source, document.identity) == (Source.UPLOAD, upload_path(BYTES))
    assert (document.name, document.size, document.state) == ("hello.txt", 11, DocumentState.PENDING)
    assert document.metadata_json == '{"year":2024}'
    assert lease.payload == File(file_path=upload_path(BYTES), file_hash=f"sha256:{BYTES}", size_bytes=11)
    assert (lease.job_id, lease.document_id) == (admitted.job, admitted.document)
    assert [event.type for event in events][1:3] == ["document.created", "job.status_updated"]


async def test_the_same_bytes_are_the_same_document(store: Store) -> None:
    """K2: also by another name, which is accepted and changes nothing; a waiting job takes it over."""
    (first,) = await uploaded(store)
    (again,) = await uploaded(store, sent(name="other.txt"))

    assert (again.document, again.job, again.how) == (first.document, first.job, Accepted.COALESCED)
    assert (await found(store, first)).name == "hello.txt"


async def test_the_same_bytes_of_two_tenants_are_two_documents(store: Store) -> None:
    """K16: who sends what another has sent learns nothing of it."""
    (mine,) = await uploaded(store)
    (theirs,) = await uploaded(store, tenant=OTHER_TENANT)

    assert mine.document != theirs.document
    assert mine.job != theirs.job


async def test_bytes_are_in_use_from_the_admission_until_the_purge(store: Store) -> None:
    """K18: the document itself needs them, whatever became of its job."""
    before = await store.catalogue.blob_in_use(BYTES)
    (admitted,) = await uploaded(store)
    await store.desk.cancel([admitted.job])
    document = await found(store, admitted)
    kept = await store.catalogue.blob_in_use(BYTES)

    await store.write(lambda tx: tx.documents.hide(document.id))
    await pay_purges(store.catalogue)

    assert (before, kept) == (False, True)
    assert await store.catalogue.unused_blobs([BYTES]) == {BYTES}


async def test_a_job_keeps_the_bytes_it_brought(home: Home, store: Store) -> None:
    """K18: a delete accepted before it takes the document, and not the bytes that came after."""
    (admitted,) = await uploaded(store)
    document = await found(store, admitted)
    await store.write(lambda tx: tx.documents.hide(document.id))
    await pay_purges(store.catalogue)
    again = await home.restart(store)

    lease = await claimed_job(again.queue)
    held = await again.write(lambda tx: tx.kept.held(lease.job_id))
    in_use = await again.catalogue.blob_in_use(BYTES)
    await again.queue.settle([(lease, Done())])

    assert (held, in_use) == (BYTES, True)
    assert await again.write(lambda tx: tx.kept.held(lease.job_id)) is None
    assert not await again.catalogue.blob_in_use(BYTES)


async def test_bytes_that_are_still_being_sent_are_held(store: Store) -> None:
    """K18: until the upload is taken in, which then needs them itself, or its sender gives up."""
    hold = await store.write(lambda tx: tx.kept.hold_meanwhile(BYTES, seconds=60))
    held = await store.catalogue.blob_in_use(BYTES)
    (admitted,) = await uploaded(store, replace(sent(), hold=hold))
    document = await found(store, admitted)
    await store.desk.cancel([admitted.job])
    await store.write(lambda tx: tx.documents.hide(document.id))
    await pay_purges(store.catalogue)

    assert held
    assert not await store.catalogue.blob_in_use(BYTES)


async def test_a_hold_is_let_go_or_ends(store: Store, clock: FakeClock) -> None:
    """K18: what nobody took in is swept when the hold is over, and its removal is owed."""
    first = await store.write(lambda tx: tx.kept.hold_meanwhile(BYTES, seconds=60))
    await store.write(lambda tx: tx.kept.hold_meanwhile(BYTES, seconds=60))
    await store.write(lambda tx: tx.kept.let_go(first))
    clock.advance(59)
    early = await store.catalogue.sweep()
    kept = await store.catalogue.blob_in_use(BYTES)
    clock.advance(1)
    late = await store.catalogue.sweep()

    assert (early, kept, late) == (0, True, 1)
    assert not await store.catalogue.blob_in_use(BYTES)


async def test_a_delete_by_id_ends_an_upload_that_waits(store: Store) -> None:
    """An upload deleted before a worker came to it does not come back."""
    (admitted,) = await uploaded(store)
    assert admitted.document is not None
    order = Order(tenant=TENANT, collection=COLLECTION, priority=5)
    (removal,) = await Admission(store).removals(order, [admitted.document])

    lease = await claimed_job(store.queue)
    job = await store.desk.find(admitted.job)

    assert lease.job_id == removal.job
    assert job is not None
    assert (job.state, job.error and job.error.code) == (State.FAILED, "ERR_SUPERSEDED")


@pytest.mark.parametrize("kind", ["upload", "text", "file"])
@pytest.mark.parametrize("running", [False, True], ids=["waiting", "running"])
async def test_a_document_deleted_before_it_began_does_not_come_back(
    store: Store, kind: str, running: bool
) -> None:
    """It is out of sight at once; a job that waits is ended, one that runs is told to begin nothing."""
    await store.write(declared)
    order = Order(tenant=TENANT, collection=COLLECTION, priority=5)
    admission = Admission(store)
    match kind:
        case "upload":
            (admitted,) = await admission.uploads(order, [sent()])
        case "text":
            admitted = await admission.text(order, Content(content="hello world"))
        case _:
            (admitted,) = await admission.files(order, ["/a.txt"])
    document = await found(store, admitted)
    lease = await claimed_job(store.queue) if running else None

    deletion = await store.write(lambda tx: admit_deletion(tx, order, document))
    seen = await store.catalogue.document(LOCAL_WORKSPACE, document.id)
    told = None if lease is None else await store.write(lambda tx: tx.told_to_end(lease))
    job = await store.desk.find(admitted.job)
    following = await store.queue.claim(WorkerId("w2"), 1)
    events = await store.events_after(LOCAL_USER, 0)
    statuses = [json.loads(each.payload_json)["status"] for each in events if each.type == MOVED_ON]

    assert seen is None
    assert statuses == ["deleted"]  # what was deleted on purpose is no error
    assert job is not None
    if running:
        assert (told, job.state, following) == ("ERR_SUPERSEDED", State.LEASED, [])
    else:
        assert (job.state, job.error and job.error.code) == (State.FAILED, "ERR_SUPERSEDED")
        assert [each.job_id for each in following] == [deletion.job]


@pytest.mark.parametrize(
    ("upload", "code"),
    [
        (sent(size=0), "ERR_FILE_EMPTY"),
        (sent(name="folder/"), "ERR_UPLOAD_NAME_INVALID"),
        (sent(name="\x00\n"), "ERR_UPLOAD_NAME_INVALID"),
    ],
)
async def test_what_cannot_be_a_document_is_refused_with_all_that_came_with_it(
    store: Store, upload: Uploaded, code: str
) -> None:
    """D2: one of several is refused, and none of them is there."""
    with pytest.raises(Refused) as caught:
        await uploaded(store, sent(), upload)

    assert caught.value.code == code
    assert await store.catalogue.documents(LOCAL_WORKSPACE) == []
    assert not await store.catalogue.blob_in_use(BYTES)

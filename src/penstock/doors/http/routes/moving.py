"""Documents get another name, or go into another collection."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response, status

from penstock.doors.http.document_shapes import AcceptedSaid, MoveAsked
from penstock.doors.http.etags import IF_UNCHANGED, check_unchanged
from penstock.doors.http.house import Admitting, Here, In
from penstock.doors.http.repeats import Repeatable
from penstock.doors.http.routes.changing import deleted, still
from penstock.doors.http.routes.documents import DocumentName, detail_of, known_document
from penstock.doors.http.routes.taking import accepted, order_of
from penstock.doors.http.routes.workspaces import known
from penstock.intake.admission import admit_uploads
from penstock.model.errors import Refused
from penstock.model.files import BlobHash
from penstock.model.jobs import Accepted
from penstock.model.requests import fingerprint_of
from penstock.model.stored_json import stored_object
from penstock.model.uploads import Uploaded, upload_name, upload_path
from penstock.ports.database import Transaction

router = APIRouter(route_class=Admitting, prefix="/workspaces/{workspace_id}/documents", tags=["documents"])


@router.post(
    "/{document_id}/move",
    status_code=status.HTTP_202_ACCEPTED,
    response_model=AcceptedSaid,
    **IF_UNCHANGED,
)
async def move(
    request: Request,
    house: In,
    here: Here,
    document_id: DocumentName,
    asked: MoveAsked,
    repeatable: Repeatable,
) -> Response:
    """Give it another name, or put it into another collection, where it is seen once it is built there.

    It keeps its id, unless its bytes are a document there already: then it becomes that one.
    """
    mark = fingerprint_of("move", here.id, document_id, asked.model_dump_json())
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    found = await known_document(house, here, document_id)
    check_unchanged(request, await detail_of(house, here, found))
    name = upload_name(asked.name) if asked.name is not None else found.name
    if asked.collection is None or asked.collection == found.collection_name:

        def rename(tx: Transaction) -> AcceptedSaid:
            still(tx, request, found)
            tx.documents.rename(found.id, found.identity, name)
            return AcceptedSaid(document_id=found.id, job_id=None, name=name, how=Accepted.EXISTING)

        return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, rename)
    target = await known(house, here, asked.collection)
    blob = found.blob or await house.store.catalogue.last_bytes(found.id)
    if blob is None:
        raise Refused("its bytes are not taken in yet", code="ERR_NOT_PARSED")
    order = await order_of(house, here, target.name, stored_object(found.metadata_json))
    async with house.blobs.claiming():  # it may be deleted by somebody else meanwhile
        kept = await house.blobs.verify(BlobHash(blob))
        sent = Uploaded(blob=blob, size=kept.size, name=name)

        def work(tx: Transaction) -> AcceptedSaid:
            still(tx, request, found)
            known_by = upload_path(blob)
            merges = tx.documents.at(order.tenant, target.id, known_by) is not None
            if merges or found.tenant != order.tenant:
                deleted(tx, house=house, here=here, documents=[found])
            else:
                tx.documents.rehome(found.id, target.id, identity=known_by, name=name)
            (admitted,) = admit_uploads(tx, order, [sent])
            return accepted([admitted]).items[0]

        return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, work)

"""Documents come in: files as they are sent, and texts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from fastapi import APIRouter, HTTPException, Request, Response, status

from penstock.doors.http.document_shapes import AcceptedPage, AcceptedSaid, TextAsked
from penstock.doors.http.house import Admitting, Here, House, In
from penstock.doors.http.multipart import parts_of
from penstock.doors.http.quotas import check_held, check_room, within_room
from penstock.doors.http.repeats import Repeatable
from penstock.doors.http.routes.workspaces import known
from penstock.doors.http.shapes import Problem
from penstock.doors.http.treatment import FIELDS, Treatment, form_schema, treatment_of
from penstock.intake.admission import Admitted, Order, admit_text, admit_uploads
from penstock.intake.arrivals import Arrivals
from penstock.model.accounts import Workspace
from penstock.model.codes import CODES
from penstock.model.errors import ErrorReport, Fault, Refused, report_of
from penstock.model.jobs import PRIORITY_MAX
from penstock.model.options import Options
from penstock.model.payloads import Content
from penstock.model.requests import fingerprint_of
from penstock.model.uploads import INTERRUPTED, Uploaded, upload_name
from penstock.ports.database import Transaction
from penstock.wiring.collections import rebuilder
from penstock.wiring.intake import file_bytes_max

router = APIRouter(route_class=Admitting, prefix="/workspaces/{workspace_id}/documents", tags=["documents"])
FILTERS_MAX = 20
FORM = {
    "requestBody": {
        "required": True,
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["collection", "files"],
                    "properties": {
                        "collection": {"type": "string", "description": "The collection's name."},
                        "metadata": {
                            "type": "string",
                            "description": "A JSON object kept with each document.",
                        },
                        **form_schema(),
                        "files": {"type": "array", "items": {"type": "string", "format": "binary"}},
                    },
                }
            }
        },
    }
}


@router.post(
    "",
    status_code=status.HTTP_202_ACCEPTED,
    openapi_extra=FORM,
    response_model=AcceptedPage,
    responses={415: {"description": "The body is no form.", "model": Problem}},
)
async def upload(request: Request, house: In, here: Here, repeatable: Repeatable) -> Response:
    """Take files in; each is kept before it is answered, and ingested soon after."""
    is_known = await repeatable.is_known()
    if not is_known:  # what was answered before may be what filled the room
        await check_room(house, here)  # before a byte is read
    async with Arrivals(house.store, house.blobs, here.id, house.counting, _why) as arrivals:
        collection: str | None = None
        metadata: dict[str, object] | None = None
        sent: list[Uploaded] = []
        wished: dict[str, str] = {}
        async for part in parts_of(request):
            match part.name:
                case "collection" if part.filename is None and collection is None:
                    collection = await part.text()
                case "metadata" if part.filename is None and metadata is None:
                    metadata = _object(await part.text())
                case name if part.filename is None and name in FIELDS and name not in wished:
                    wished[name] = await part.text()
                case "files" | "file" if part.filename is not None:
                    limit = await _limit(house, here, None if is_known else collection)
                    pieces = within_room(house, here, part.pieces, is_known=is_known)
                    name = part.filename
                    sent.append(await arrivals.keep(pieces, name=name, limit=limit, total=part.size))
                case other:
                    raise Refused(
                        f"the form has no field {other!r}, or not twice", code="ERR_REQUEST_INVALID"
                    )
        if collection is None or not sent:
            raise Refused("the form needs collection and files", code="ERR_REQUEST_INVALID")
        metadata, treatment = metadata or {}, treatment_of(wished)
        mark = _mark(here, collection, metadata, sent, treatment)
        if (told := await repeatable.earlier(mark, arrivals.let_go)) is not None:
            return told
        order = await order_of(house, here, collection, metadata, treatment)
        rebuild = await _rebuild(house, here, collection, treatment)
        _check_sizes(sent, await _limit(house, here, collection))

        def work(tx: Transaction) -> AcceptedPage:
            rebuild(tx)
            admitted = admit_uploads(tx, order, sent)
            check_held(tx, house.settings.http, here)
            return accepted(admitted)

        return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, work, arrivals.let_go)


@router.post("/text", status_code=status.HTTP_202_ACCEPTED, response_model=AcceptedPage)
async def take_text(house: In, here: Here, asked: TextAsked, repeatable: Repeatable) -> Response:
    """Take a text in as a document."""
    parts = ("text", here.id, asked.collection, asked.name, asked.content, json.dumps(asked.metadata))
    mark = fingerprint_of(*parts, *filter(None, [asked.mark]))
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    content = Content(content=asked.content, source_type="api", main_tag=upload_name(asked.name))
    order = await order_of(house, here, asked.collection, asked.metadata, asked)
    rebuild = await _rebuild(house, here, asked.collection, asked)

    def work(tx: Transaction) -> AcceptedPage:
        rebuild(tx)
        admitted = admit_text(tx, order, content, name=upload_name(asked.name))
        check_held(tx, house.settings.http, here)
        return accepted([admitted])

    return await repeatable.answered(mark, status.HTTP_202_ACCEPTED, work)


async def _limit(house: House, here: Workspace, collection: str | None) -> int:
    """How large a file may be, as far as is known where it goes."""
    if collection is None:
        return house.settings.limits.file_bytes
    return file_bytes_max(house.settings, await known(house, here, collection))


def _check_sizes(sent: Sequence[Uploaded], limit: int) -> None:
    """Refused where one came before its collection was named, which takes no file so large."""
    for each in sent:
        if each.size > limit:
            raise Refused(
                f"{each.name} has {each.size:,} bytes, the limit is {limit:,}", code="ERR_FILE_TOO_LARGE"
            )


def _mark(
    here: Workspace,
    collection: str,
    metadata: dict[str, object],
    sent: Sequence[Uploaded],
    treatment: Treatment,
) -> str:
    """By which the same upload is known again: the same bytes under other names are another."""
    files = [part for each in sent for part in (each.name, each.blob)]
    unusual = filter(None, [treatment.mark])
    return fingerprint_of("upload", here.id, collection, json.dumps(metadata), *files, *unusual)


def _why(error: BaseException) -> ErrorReport:
    """Why an upload broke off, as its owner is told: whoever sent it left, or was too slow."""
    if isinstance(error, Fault):
        return report_of(error)
    code = INTERRUPTED
    if isinstance(error, HTTPException) and error.status_code == status.HTTP_408_REQUEST_TIMEOUT:
        code = "ERR_BODY_SLOW"
    return ErrorReport(code=code, message=CODES[code])


async def _rebuild(
    house: House, here: Workspace, collection: str, treatment: Treatment
) -> Callable[[Transaction], object]:
    """What has the collection built anew where that is wished for, in the transaction of the caller."""
    if not treatment.reindex:
        return lambda tx: None
    return rebuilder(house.settings, await known(house, here, collection))


async def order_of(
    house: House,
    here: Workspace,
    collection: str,
    metadata: dict[str, object],
    treatment: Treatment | None = None,
) -> Order:
    """Into which collection of a workspace, with what said of each document."""
    wished, is_alone = treatment or Treatment(), house.settings.auth.mode == "local"
    _check_sayable(metadata)
    return Order(
        tenant=here.tenant,
        collection=(await known(house, here, collection)).name,
        priority=wished.rank(PRIORITY_MAX if is_alone else house.settings.http.priority_max),
        options=Options(
            document=metadata,
            skip_validation=wished.skip_validation,
            preserve_metadata=wished.preserve_metadata,
        ),
        max_retries=house.settings.worker.max_retries,
    )


def accepted(admitted: Sequence[Admitted]) -> AcceptedPage:
    """What was taken in, as it is told."""
    return AcceptedPage(
        items=[
            AcceptedSaid(document_id=each.document, job_id=each.job, name=each.name, how=each.how)
            for each in admitted
        ]
    )


def _object(text: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise Refused("metadata is a JSON object", code="ERR_METADATA_INVALID")
    return found


def wanted_metadata(text: str) -> dict[str, object]:
    """What documents are narrowed to: a few plain values, as in the filters of a search."""
    found = _object(text)
    if len(found) > FILTERS_MAX or any(isinstance(each, dict | list) for each in found.values()):
        raise Refused(
            f"metadata to look for is a JSON object of at most {FILTERS_MAX} plain values",
            code="ERR_METADATA_INVALID",
        )
    _check_sayable(found)
    return found


def _check_sayable(metadata: dict[str, object]) -> None:
    """Refused where it could not be told again: Python reads more as JSON than JSON is."""
    try:
        json.dumps(metadata, allow_nan=False, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise Refused(
            "metadata has finite numbers, whole characters, and does not nest without end",
            code="ERR_METADATA_INVALID",
        ) from None

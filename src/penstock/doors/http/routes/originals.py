"""The bytes of documents as they were sent, whole or from where a broken download is taken up again."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from typing import Any, BinaryIO
from urllib.parse import quote

from fastapi import APIRouter, Request, Response, status
from starlette.responses import StreamingResponse

from penstock.doors.http.description import AS_THINGS_STAND, TAG, header
from penstock.doors.http.etags import KNOWN, NOTHING_NEW, is_known
from penstock.doors.http.house import Admitting, Here, House, In
from penstock.doors.http.problems import problem
from penstock.doors.http.routes.documents import DocumentName, known_document
from penstock.doors.http.shapes import Problem
from penstock.model.accounts import Workspace
from penstock.model.errors import Refused
from penstock.model.files import BlobHash

router = APIRouter(route_class=Admitting, prefix="/workspaces/{workspace_id}/documents", tags=["documents"])
PIECE_BYTES = 256 * 1024
ORIGINAL = "application/octet-stream"
"""What originals are sent as, whatever they are: no browser shall show them as ours."""
SENT = {
    **TAG,
    "Accept-Ranges": header("`bytes`."),
    "Content-Disposition": header("The name to keep it under."),
}
PLACE = {"Content-Range": header("Which bytes these are, and of how many.")}
WHOLE: dict[int | str, dict[str, Any]] = {
    200: {"content": {ORIGINAL: {}}, "headers": SENT},
    **NOTHING_NEW,
    **AS_THINGS_STAND,
}
SOME: dict[int | str, dict[str, Any]] = {
    206: {
        "content": {ORIGINAL: {}},
        "description": "The bytes of the range that was asked for.",
        "headers": {**SENT, **PLACE},
    },
    416: {"description": "The range lies behind the end.", "model": Problem, "headers": PLACE},
}
RANGE = {
    "parameters": [
        *KNOWN["parameters"],
        {
            "name": "Range",
            "in": "header",
            "required": False,
            "description": "Some of the bytes, such as `bytes=1000-`; of several ranges all is sent.",
            "schema": {"type": "string"},
        },
        {
            "name": "If-Range",
            "in": "header",
            "required": False,
            "description": "The `ETag` of what the range is of; all is sent where it is another by now.",
            "schema": {"type": "string"},
        },
    ]
}
_RANGE = re.compile(r"bytes=([0-9]{0,18})-([0-9]{0,18})")


@router.get(
    "/{document_id}/content", response_class=Response, responses={**WHOLE, **SOME}, openapi_extra=RANGE
)
async def content(request: Request, house: In, here: Here, document_id: DocumentName) -> Response:
    """The original bytes, as they were sent."""
    file, headers = await _opened(house, here, document_id)
    size = file.seek(0, os.SEEK_END)
    if is_known(request, headers["ETag"]):
        file.close()
        return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers={"ETag": headers["ETag"]})
    wanted = _range_of(request, headers["ETag"], size)
    if wanted is None:
        headers["Content-Length"] = str(size)
        return StreamingResponse(_read(file, 0, size), headers=headers, media_type=ORIGINAL)
    start, end = wanted
    if start >= end:
        file.close()
        told = {"Content-Range": f"bytes */{size}"}
        return problem(416, "ERR_RANGE_INVALID", f"there are {size:,} bytes", headers=told)
    headers |= {"Content-Range": f"bytes {start}-{end - 1}/{size}", "Content-Length": str(end - start)}
    return StreamingResponse(_read(file, start, end - start), 206, headers=headers, media_type=ORIGINAL)


@router.head("/{document_id}/content", response_class=Response, responses=WHOLE, openapi_extra=KNOWN)
async def content_head(request: Request, house: In, here: Here, document_id: DocumentName) -> Response:
    """How long the original is, without its bytes."""
    file, headers = await _opened(house, here, document_id)
    with file:
        size = file.seek(0, os.SEEK_END)
    if is_known(request, headers["ETag"]):
        return Response(status_code=status.HTTP_304_NOT_MODIFIED, headers={"ETag": headers["ETag"]})
    return Response(headers={**headers, "Content-Length": str(size)}, media_type=ORIGINAL)


async def _opened(house: House, here: Workspace, name: str) -> tuple[BinaryIO, dict[str, str]]:
    found = await known_document(house, here, name)
    blob = found.blob or await house.store.catalogue.last_bytes(found.id)
    if blob is None:
        raise Refused("its bytes are not taken in yet", code="ERR_NOT_PARSED")
    return await house.blobs.open(BlobHash(blob)), {
        "ETag": f'"{blob}"',
        "Accept-Ranges": "bytes",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(found.name, safe='')}",
        "Content-Security-Policy": "sandbox",
    }


def _range_of(request: Request, tag: str, size: int) -> tuple[int, int] | None:
    """Where the wanted bytes begin and end, the same place where there are none; None for all of them.

    What is no single range of bytes is as if it were not there (RFC 9110, 14.2).
    """
    told = _RANGE.fullmatch(request.headers.get("range", "").replace(" ", ""))
    if told is None or request.headers.get("if-range", tag) != tag:
        return None
    first, last = told.groups()
    if not first:
        return (max(0, size - int(last)), size) if last else None
    if last and int(last) < int(first):
        return None
    start = min(int(first), size)
    return start, min(int(last) + 1, size) if last else size


async def _read(file: BinaryIO, start: int, length: int) -> AsyncIterator[bytes]:
    with file:
        file.seek(start)
        while length and (piece := await asyncio.to_thread(file.read, min(PIECE_BYTES, length))):
            length -= len(piece)
            yield piece

"""Faults as problem documents (RFC 9457), with the code every other door tells too.

Whose move it is decides the status: the caller's is 4xx, ours or the outside's 5xx. A code that says more
than its branch has a status of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus

import msgspec
from starlette.responses import Response

from penstock.model.advice import SUGGESTIONS
from penstock.model.codes import CODES
from penstock.model.errors import Broken, Exhausted, Fault, Refused, Unavailable

MEDIA = "application/problem+json"
STATUSES: Mapping[str, int] = {
    "ERR_TOKEN_MISSING": 401,
    "ERR_TOKEN_INVALID": 401,
    "ERR_TOKEN_EXPIRED": 401,
    "ERR_TICKET_INVALID": 401,
    "ERR_PEER_FORBIDDEN": 403,
    "ERR_HOST_FORBIDDEN": 403,
    "ERR_ORIGIN_FORBIDDEN": 403,
    "ERR_WORKSPACE_UNKNOWN": 404,
    "ERR_COLLECTION_UNKNOWN": 404,
    "ERR_DOCUMENT_UNKNOWN": 404,
    "ERR_JOB_UNKNOWN": 404,
    "ERR_CONVERSATION_UNKNOWN": 404,
    "ERR_MESSAGE_UNKNOWN": 404,
    "ERR_ROUTE_UNKNOWN": 404,
    "ERR_METHOD_UNKNOWN": 405,
    "ERR_WORKSPACE_LOCAL": 409,
    "ERR_COLLECTION_EXISTS": 409,
    "ERR_JOB_ID_TAKEN": 409,
    "ERR_JOB_UNFINISHED": 409,
    "ERR_NOTHING_FAILED": 409,
    "ERR_ANSWER_UNFINISHED": 409,
    "ERR_CONVERSATION_FULL": 409,
    "ERR_NOT_PARSED": 409,
    "ERR_IDEMPOTENCY_MISMATCH": 409,
    "ERR_PRECONDITION": 412,
    "ERR_FILE_TOO_LARGE": 413,
    "ERR_PAYLOAD_TOO_LARGE": 413,
    "ERR_BODY_TOO_LARGE": 413,
    "ERR_MEDIA_TYPE": 415,
    "ERR_RANGE_INVALID": 416,
    "ERR_BODY_SLOW": 408,
    "ERR_UPGRADE_REQUIRED": 426,
    "ERR_RATE_LIMITED": 429,
    "ERR_CONNECTIONS": 429,
    "ERR_ANSWERS_WAITING": 429,
    "ERR_QUOTA_WORKSPACES": 429,
    "ERR_QUOTA_DOCUMENTS": 429,
    "ERR_QUOTA_BYTES": 429,
    "ERR_QUOTA_COLLECTIONS": 429,
    "ERR_QUOTA_CONVERSATIONS": 429,
    "ERR_DISK_FULL": 507,
}
"""Codes whose status is not that of their branch."""
UNFORESEEN = "Something went wrong on our side; it was written down."
BUSY_SECONDS = 5.0
"""What Retry-After says where nobody knows better."""


def status_of(fault: Fault) -> int:
    """The status a fault is told with."""
    if fault.code in STATUSES:
        return STATUSES[fault.code]
    match fault:
        case Refused():
            return 422
        case Unavailable() | Exhausted():
            return 503
        case Broken():
            return 500
    return 500


def problem_of(fault: Fault) -> Response:
    """A fault as the response that tells it; of what is broken on our side only the code."""
    status = status_of(fault)
    detail = UNFORESEEN if status == HTTPStatus.INTERNAL_SERVER_ERROR else fault.message
    headers = {}
    if status == HTTPStatus.UNAUTHORIZED:
        headers["WWW-Authenticate"] = "Bearer"
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        headers["Retry-After"] = str(max(1, math.ceil(fault.retry_after or BUSY_SECONDS)))
    return problem(status, fault.code, detail, headers=headers)


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    headers: Mapping[str, str] | None = None,
    errors: Sequence[Mapping[str, str]] = (),
) -> Response:
    """A problem document; `errors` names the fields that are wrong."""
    body: dict[str, object] = {
        "type": f"urn:penstock:problem:{code}",
        "title": CODES.get(code, "Something failed that nobody gave a name."),
        "status": status,
        "detail": detail,
        "code": code,
        "suggestions": list(SUGGESTIONS.get(code, ())),
    }
    if errors:
        body["errors"] = list(errors)
    return Response(msgspec.json.encode(body), status, headers=dict(headers or {}), media_type=MEDIA)

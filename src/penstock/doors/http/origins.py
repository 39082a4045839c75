"""Pages of other origins: what they may ask and read, and how they are told that they may not."""

from __future__ import annotations

from starlette.datastructures import Headers
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import Response

from penstock.doors.http.problems import problem, problem_of
from penstock.model.errors import Refused

SENT = [
    "Authorization",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "If-Range",
    "Last-Event-ID",
    "Prefer",
    "Range",
]
READ = ["Accept-Ranges", "Content-Disposition", "Content-Range", "ETag", "Location", "Retry-After"]
"""Headers that pages of allowed origins may send and read."""
METHODS = ["GET", "HEAD", "POST", "PATCH", "DELETE"]
_OF_THE_BODY = frozenset({"content-length", "content-type"})


class Origins(CORSMiddleware):
    """The framework's, whose refusals are problem documents."""

    def preflight_response(self, request_headers: Headers) -> Response:
        """What a browser is told that asks whether a page may."""
        told = super().preflight_response(request_headers)
        if told.status_code < 400:
            return told
        if self.is_allowed_origin(request_headers["origin"]):
            refusal = problem(told.status_code, "ERR_REQUEST_INVALID", bytes(told.body).decode())
        else:
            refusal = problem_of(Refused("this origin may not ask here", code="ERR_ORIGIN_FORBIDDEN"))
        for name, value in told.headers.items():
            if name not in _OF_THE_BODY:
                refusal.headers[name] = value
        return refusal

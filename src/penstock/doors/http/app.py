"""The application: routes, and how whatever goes wrong in them is told."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, HTTPConnection, Request
from starlette.responses import Response
from starlette.routing import compile_path
from starlette.types import Message, Receive, Scope, Send

from penstock import __version__
from penstock.doors.http.description import ANYWHERE, WORDS, complete
from penstock.doors.http.guards import Guard, Patience
from penstock.doors.http.house import House
from penstock.doors.http.origins import METHODS, READ, SENT, Origins
from penstock.doors.http.problems import UNFORESEEN, problem, problem_of
from penstock.doors.http.routes import (
    changing,
    conversations,
    documents,
    jobs,
    me,
    moving,
    originals,
    questions,
    taking,
    workspaces,
)
from penstock.doors.http.shapes import Problem
from penstock.doors.http.visits import hide_query, visit_of
from penstock.model.errors import Fault

log = logging.getLogger("penstock.http")
BODY_BYTES_MAX = 2 * 1024 * 1024
STREAMED = ("/documents",)
"""Ends of paths whose bodies are files, bounded by their routes."""
ANYWHERE_TOLD: dict[int | str, dict[str, Any]] = {
    status: {"description": WORDS[status], "model": Problem} for status in ANYWHERE
}
UNROUTED = {
    404: "ERR_ROUTE_UNKNOWN",
    405: "ERR_METHOD_UNKNOWN",
    408: "ERR_BODY_SLOW",
    413: "ERR_BODY_TOO_LARGE",
}
"""What the framework itself refuses."""
ABOUT = """
Documents in, answers out. Every error is a problem document with a stable `code`; every id of another user
answers like one that never was.
"""


class _Described(FastAPI):
    """An application that describes itself whole, and errs once."""

    is_local = False
    """Nobody signs in."""

    def openapi(self) -> dict[str, Any]:
        """The description, complete."""
        is_new = self.openapi_schema is None
        described = super().openapi()
        if is_new:
            complete(described, is_local=self.is_local)
        return described

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer; an error that was told and written down is not handed on to be written down again."""
        is_whole = False

        async def answer(message: Message) -> None:
            nonlocal is_whole
            await send(message)
            is_whole = message["type"] == "http.response.body" and not message.get("more_body", False)

        try:
            await super().__call__(scope, receive, answer if scope["type"] == "http" else send)
        except Exception:
            if not is_whole:
                raise


def make_app(house: House, *others: APIRouter) -> FastAPI:
    """The application over an open house; `others` are routes outside `/api`, such as the live ones."""
    app = _routed(*others, middleware=_middleware(house))
    app.state.house = house
    app.is_local = house.settings.auth.mode == "local"
    return app


def described(*others: APIRouter, is_local: bool = False) -> dict[str, Any]:
    """What the API offers, as OpenAPI describes it; needs nothing open."""
    app = _routed(*others)
    app.is_local = is_local
    return app.openapi()


def _routed(*others: APIRouter, middleware: Sequence[Middleware] = ()) -> _Described:
    app = _Described(
        title="Penstock",
        version=__version__,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses=ANYWHERE_TOLD,
        redirect_slashes=False,
        separate_input_output_schemas=False,
        middleware=list(middleware),
    )
    api = APIRouter(prefix="/api")
    for routes in (
        me,
        workspaces,
        taking,
        documents,
        changing,
        moving,
        originals,
        jobs,
        questions,
        conversations,
    ):
        api.include_router(routes.router)
    app.include_router(api)
    for router in others:
        app.include_router(router)
    app.router.default = _nowhere
    app.add_exception_handler(Fault, _told)  # type: ignore[arg-type]  # it is only given faults
    app.add_exception_handler(RequestValidationError, _misshapen)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _unrouted)  # type: ignore[arg-type]
    app.add_exception_handler(ClientDisconnect, _left)
    app.add_exception_handler(Exception, _unforeseen)
    return app


def _middleware(house: House) -> list[Middleware]:
    http = house.settings.http
    patience = Patience(seconds=http.upload_patience, bytes_per_second=http.upload_rate_min)

    def check(connection: HTTPConnection) -> None:
        house.entry.check(visit_of(connection))

    layers = [Middleware(Guard, check=check, body_max=BODY_BYTES_MAX, streamed=STREAMED, patience=patience)]
    origins = house.settings.auth.allowed_origins if house.settings.auth.mode != "local" else ()
    if origins:
        layers.insert(
            0,
            Middleware(
                Origins,
                allow_origins=list(origins),
                allow_methods=METHODS,
                allow_headers=SENT,
                expose_headers=READ,
            ),
        )
    return layers


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    """What has no address here; a WebSocket, too, is refused in plain HTTP."""
    if scope["type"] != "websocket":
        raise HTTPException(404)
    hide_query(scope)
    refusal = problem(404, "ERR_ROUTE_UNKNOWN", "there is no WebSocket at this address")
    await refusal(scope, receive, send)


async def _told(_: Request, fault: Fault) -> Response:
    reply = problem_of(fault)
    if reply.status_code == 500:
        log.error("a request failed: %s %s", fault.code, fault.message, exc_info=fault)
    return reply


async def _misshapen(_: Request, error: RequestValidationError) -> Response:
    """Names each field and what is wrong with it, and never repeats what was sent."""
    errors = [
        {"field": ".".join(str(part) for part in each["loc"]), "message": str(each["msg"])}
        for each in error.errors()[:20]
    ]
    told = "; ".join(f"{each['field']}: {each['message']}" for each in errors[:3])
    status = 400 if any(each["type"] == "json_invalid" for each in error.errors()) else 422
    return problem(status, "ERR_REQUEST_INVALID", told or "the request cannot be read", errors=errors)


async def _unrouted(request: Request, error: HTTPException) -> Response:
    code = UNROUTED.get(error.status_code, "ERR_REQUEST_INVALID")
    headers = dict(error.headers or {})
    if offered := error.status_code == 405 and _methods_at(request):
        # The framework names those of the first route it comes to.
        headers["Allow"] = ", ".join(sorted(offered))
    return problem(error.status_code, code, str(error.detail), headers=headers)


def _methods_at(request: Request) -> set[str]:
    """All that the address offers, as the description has it."""
    described: dict[str, dict[str, Any]] = request.app.openapi()["paths"]
    at = request.scope["path"]
    there = [methods for path, methods in described.items() if compile_path(path)[0].match(at)]
    return {method.upper() for methods in there for method in methods}


async def _left(_: Request, error: Exception) -> Response:
    log.info("whoever sent a request left before its end")
    return problem(400, "ERR_REQUEST_INVALID", "the body ended too early")


async def _unforeseen(_: Request, error: Exception) -> Response:
    log.error("a request failed: %s", type(error).__name__, exc_info=error)
    return problem(500, "ERR_UNEXPECTED", UNFORESEEN)

"""What the live door offers to the application: a WebSocket and a stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from penstock.doors.http.description import ADDRESS, ANY_WAY, BEARER, TICKET
from penstock.doors.http.problems import problem
from penstock.doors.live import description
from penstock.doors.live.arrivals import Counting, Doorkeeper
from penstock.doors.live.hub import Hub
from penstock.doors.live.socket import Said, Socket
from penstock.doors.live.stream import MEDIA, Stream


def _parameter(name: str, where: str, about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": where, "required": False, "description": about, "schema": schema}


ALIAS = "/api/ws"
"""Another name of `/ws`, where all that is ours is to stand below `/api`."""
BOOKMARK = {
    "type": "string",
    "pattern": "^[0-9]{1,18}(@[0-9TZ:.-]{1,40})?(;pst_[A-Za-z0-9_-]{43})?$",
}
SINCE = (
    "The last event the client has, as `seq` or better as `seq@ts`; those after it come first. With its time"
    " it is known again for sure, also where an older copy of the data was put back."
)
FROM = _parameter("since", "query", SINCE, BOOKMARK)
PARAMETERS = [
    FROM,
    _parameter(
        "Last-Event-ID",
        "header",
        "The same, as browsers send it when they come again: the `id` they were told last.",
        BOOKMARK,
    ),
]
ABOUT = """
Everything that happens to the caller's documents, jobs and messages, as it happens. Each `data` is one JSON
object with `type` and `payload`; numbered events have `seq` and `ts` beside them. `/ws` sends the same.
"""


def live_routes(hub: Hub, entry: Doorkeeper, spend: Callable[[str], None] = lambda _: None) -> APIRouter:
    """Routes for `/ws`, also by its other name, and `/api/events`; `spend` counts who comes how often."""
    doorkeeper = Counting(entry, spend)
    router = APIRouter(tags=["events"])
    socket = Socket(hub, doorkeeper)
    for path in ("/ws", ALIAS):
        router.add_websocket_route(path, socket)  # type: ignore[arg-type]  # an ASGI application
    router.add_api_route(ALIAS, _no_socket, include_in_schema=False)
    router.add_api_route(
        "/ws",
        _no_socket,
        name="open_socket",
        summary="Open a WebSocket",
        description=description.ABOUT,
        response_model=None,
        status_code=101,
        responses=description.RESPONSES,
        openapi_extra={
            "parameters": [FROM],
            "security": [{name: []} for name in (BEARER, TICKET, ADDRESS)],
            "x-websocket": description.conversation(Said),
        },
    )
    router.add_api_route(
        "/api/events",
        Stream(hub, doorkeeper).__call__,
        name="follow_events",
        summary="Follow events",
        description=ABOUT,
        response_model=None,
        responses={200: {"description": "Events, until one side ends it.", "content": {MEDIA: {}}}},
        openapi_extra={"parameters": PARAMETERS, "security": ANY_WAY},
    )
    return router


async def _no_socket() -> Response:
    """Whoever asks for the WebSocket's address as for a page is told what it is."""
    detail = "this address is a WebSocket; GET /api/events sends the same as Server-Sent Events"
    headers = {"Upgrade": "websocket", "Connection": "Upgrade"}
    return problem(description.UPGRADE_REQUIRED, "ERR_UPGRADE_REQUIRED", detail, headers=headers)

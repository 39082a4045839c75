"""What the reference of the API says of the WebSocket, which OpenAPI has no words for.

Its address is told as what it is to HTTP: a GET that is answered with another protocol. What is said over it
stands beside that, under `x-websocket`, made from the closed unions of what can be said.
"""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from penstock.doors.http.description import ANYWHERE, WORDS, Told, header
from penstock.doors.http.shapes import Problem
from penstock.doors.live.frames import CONNECTION_WORDS, Passing
from penstock.model.events import Event

UPGRADE_REQUIRED = 426
ANYTHING = {"description": "Any JSON value."}
ABOUT = """
A WebSocket: everything that happens to the caller's documents, jobs and messages, as it happens, to every tab
at once. Each message is one JSON object with `type` and `payload`, as `x-websocket` tells; numbered ones have
`seq` and `ts` beside them. A token is shown in the header, in the address, as a ticket or as the first
message. How a connection ends and is taken up again is told in the reference of events (`events.md`); where
no WebSocket can be opened, `/api/events` sends the same. `/api/ws` is another name of it.
"""
RESPONSES: dict[int | str, Told] = {
    101: {"description": "The connection is a WebSocket from here on."},
    UPGRADE_REQUIRED: {
        "description": "The request did not ask for a WebSocket.",
        "model": Problem,
        "headers": {"Upgrade": header("`websocket`.")},
    },
    **{status: {"description": WORDS[status], "model": Problem} for status in ANYWHERE},
}


def conversation(takes: type) -> Told:
    """What the server sends, by type, and the one message it takes."""
    return {
        "sends": {
            **{kind.type: _sent(kind, numbered=True) for kind in get_args(Event)},
            **{kind.type: _sent(kind, numbered=False) for kind in get_args(Passing)},
            **{name: {"numbered": False, "about": about} for name, about in CONNECTION_WORDS.items()},
        },
        "takes": _schema(takes),
    }


def _sent(kind: type, *, numbered: bool) -> Told:
    about = (kind.__doc__ or "").partition("\n")[0]
    return {"numbered": numbered, "about": about, "payload": _schema(kind)}


def _schema(kind: type) -> Any:
    _, schemas = msgspec.json.schema_components([kind], schema_hook=lambda _: ANYTHING)
    (schema,) = schemas.values()
    properties = {name: _without_default(told) for name, told in schema["properties"].items()}
    return {"type": "object", "required": list(properties), "properties": properties}


def _without_default(told: Told) -> Told:
    """Every field is always sent, also where it has a default."""
    return {name: each for name, each in told.items() if name != "default"}

"""Tags by which a client knows what it has already, and says what it means to change."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any, TypedDict

from fastapi import Request
from pydantic import BaseModel
from starlette.responses import Response

from penstock.doors.http.description import TAG
from penstock.doors.http.shapes import Problem
from penstock.model.errors import Refused


def _header(name: str, about: str) -> dict[str, Any]:
    told = {"name": name, "in": "header", "required": False, "description": about}
    return {"parameters": [{**told, "schema": {"type": "string"}}]}


KNOWN = _header("If-None-Match", "The `ETag` of what the client has; 304 where that is still so.")
UNCHANGED = _header("If-Match", "The `ETag` of what is meant; 412 where it is another by now.")
"""How the description tells of them."""
TAGGED: dict[int | str, dict[str, Any]] = {200: {"headers": TAG}}
NOTHING_NEW: dict[int | str, dict[str, Any]] = {304: {"description": "The client has it.", "headers": TAG}}
CHANGED: dict[int | str, dict[str, Any]] = {
    412: {"description": "It was changed meanwhile.", "model": Problem}
}


class Options(TypedDict):
    """What a route tells of its tags."""

    responses: dict[int | str, dict[str, Any]]
    openapi_extra: dict[str, Any]


UNLESS_KNOWN = Options(responses={**TAGGED, **NOTHING_NEW}, openapi_extra=KNOWN)
IF_UNCHANGED = Options(responses=CHANGED, openapi_extra=UNCHANGED)
TAGGED_IF_UNCHANGED = Options(responses={**TAGGED, **CHANGED}, openapi_extra=UNCHANGED)


def tag_of(said: BaseModel) -> str:
    """The tag of what is said: the same as long as it is."""
    return f'"{blake2b(said.model_dump_json().encode(), digest_size=16).hexdigest()}"'


def tagged(request: Request, said: BaseModel) -> Response:
    """What is said, with its tag, or 304 where the client has it."""
    tag = tag_of(said)
    if is_known(request, tag):
        return Response(status_code=304, headers={"ETag": tag})
    return Response(said.model_dump_json(), headers={"ETag": tag}, media_type="application/json")


def with_tag(said: BaseModel) -> Response:
    """What is said after a change, with the tag the next one may name."""
    return Response(said.model_dump_json(), headers={"ETag": tag_of(said)}, media_type="application/json")


def is_known(request: Request, tag: str) -> bool:
    """Whether the client says that it has this."""
    known = [each.removeprefix("W/") for each in _tags(request, "if-none-match") or ()]
    return tag in known or "*" in known


def check_unchanged(request: Request, said: BaseModel | None) -> None:
    """Refused if the client means to change something other than what is there; nothing is never that."""
    wanted = _tags(request, "if-match")
    if wanted is None or "*" in wanted:
        return
    if said is None or tag_of(said) not in wanted:
        raise Refused("it was changed meanwhile; look at it again", code="ERR_PRECONDITION")


def _tags(request: Request, header: str) -> list[str] | None:
    """The tags a header names, on however many lines; None where there is no such header.

    One that is empty names nothing: a client that lost its tag must not change whatever is there.
    """
    lines = request.headers.getlist(header)
    return [each.strip() for line in lines for each in line.split(",")] if lines else None

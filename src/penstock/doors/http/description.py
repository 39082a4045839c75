"""What the reference says of an operation without its route saying it: who may ask, and what is refused.

A list of all refusals at every operation would be true of anything. So each has those that can come of it:
what stands before all routes may refuse anywhere; a body can be too slow or too large; what is given can be
wrong; what is named by the address can be missing; a key can have been used for something else. Routes name
the rest themselves. Headers a client relies on are told as required, so that one which is missing is seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.doors.http.problems import MEDIA as PROBLEM
from penstock.doors.http.shapes import Problem

Told = dict[str, Any]
WORDS = {
    400: "The request cannot be read.",
    401: "There is no token, or none we accept.",
    403: "The machine, name or page that asks may not.",
    404: "There is no such thing, or it is another's.",
    408: "The body took too long.",
    409: "It cannot be done as things stand.",
    413: "The body is too large.",
    422: "Something in the request is wrong; `errors` names the fields.",
    429: "Too much at once; `Retry-After` says when to come again.",
    431: "The headers are too many or too long.",
    500: "Something failed on our side.",
    503: "Something we need is away; `Retry-After` says when to come again.",
    507: "There is no room left on the disk.",
}
ANYWHERE = (400, 401, 403, 429, 431, 500, 503, 507)
"""Who asks for the first time is written down, so that even a look may find the disk full."""
MISSING: dict[int | str, Told] = {404: {"description": WORDS[404], "model": Problem}}
AS_THINGS_STAND: dict[int | str, Told] = {409: {"description": WORDS[409], "model": Problem}}
BEARER, TICKET, PASS, ADDRESS = "bearer", "ticket", "pass", "token_in_address"
SCHEMES = {
    BEARER: {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
        "description": "A token of the identity provider; in local mode none is asked for.",
    },
    TICKET: {
        "type": "apiKey",
        "in": "query",
        "name": "ticket",
        "description": "A ticket of `POST /api/tickets`, good once, where no header can be sent; `/ws` too.",
    },
    PASS: {
        "type": "apiKey",
        "in": "header",
        "name": "Last-Event-ID",
        "description": (
            "The `id` a stream told last, where a ticket opened it: behind its `;` stands a pass, by which it"
            " is opened again as often as needed while the ticket's token is good, for a day at most."
        ),
    },
    ADDRESS: {
        "type": "apiKey",
        "in": "query",
        "name": "token",
        "description": "The token itself, where not even a ticket can be had; also for `/ws`.",
    },
}
ANY_WAY: list[Told] = [{BEARER: []}, {TICKET: []}, {PASS: []}, {ADDRESS: []}]
"""How somebody may sign in where events are followed; elsewhere by a token in the header alone."""


def header(about: str, *, required: bool = True) -> Told:
    """A header of an answer, as the reference tells it."""
    return {"description": about, "required": required, "schema": {"type": "string"}}


AGAIN = {"Retry-After": header("Seconds after which to come again.")}
HEADERS = {
    "401": {"WWW-Authenticate": header("`Bearer`.")},
    "429": AGAIN,
    "503": AGAIN,
}
TAG = {"ETag": header("By which what is said is known again; `If-None-Match` and `If-Match` take it.")}


def complete(described: Told, *, is_local: bool = False) -> None:
    """Add what every operation shares, and what follows from what it takes; locally nobody signs in."""
    if not is_local:
        described.setdefault("components", {})["securitySchemes"] = SCHEMES
    described["security"] = [] if is_local else [{BEARER: []}]
    for methods in described["paths"].values():
        for operation in methods.values():
            if is_local:
                operation.pop("security", None)
            _complete(operation)


def _complete(operation: Told) -> None:
    responses = operation["responses"]
    if not _is_ours(responses.get("422")):
        responses.pop("422", None)  # the framework's own, whose shape we never send
    for status in _refusals(operation):
        responses.setdefault(str(status), _refusal(WORDS[status]))
    for status, told in responses.items():
        if status in HEADERS:
            told["headers"] = HEADERS[status]
        if status >= "400":
            # The framework gives a refusal the media type of the answer it stands for.
            told["content"] = {PROBLEM: next(iter(told["content"].values()))}
    operation["responses"] = dict(sorted(responses.items()))


def _refusals(operation: Told) -> Iterator[int]:
    given = {(each["in"], each["name"].lower()) for each in operation.get("parameters", ())}
    has_body = "requestBody" in operation
    yield from ANYWHERE
    if has_body:
        yield from (408, 413)
    if has_body or given:
        yield 422
    if any(where == "path" for where, _ in given):
        yield 404
    if ("header", "idempotency-key") in given:
        yield 409


def _refusal(words: str) -> Told:
    return {"description": words, "content": {PROBLEM: {"schema": {"$ref": "#/components/schemas/Problem"}}}}


def _is_ours(told: Told | None) -> bool:
    return told is not None and "HTTPValidationError" not in str(told)

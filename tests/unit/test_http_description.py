"""What the API says of itself is complete, and says of each operation what can come of it, no more."""

import re
from dataclasses import fields
from typing import Any, get_args

import msgspec

from penstock.doors.http.app import described
from penstock.doors.live.frames import CONNECTION_WORDS, Passing
from penstock.doors.live.routes import live_routes
from penstock.doors.live.socket import Said
from penstock.model.events import Event

API = described()
NOBODY: Any = None
"""Who answers is of no account where nothing is asked."""


def operation(method: str, path: str) -> Any:
    return API["paths"][f"/api{path}"][method]


def refusals(method: str, path: str) -> set[int]:
    return {int(status) for status in operation(method, path)["responses"] if status >= "400"}


def test_it_says_how_to_sign_in() -> None:
    """A bearer token, everywhere."""
    (scheme,) = [name for each in API["security"] for name in each]

    assert API["components"]["securitySchemes"][scheme]["scheme"] == "bearer"
    assert not [each for methods in API["paths"].values() for each in methods.values() if "security" in each]


def test_events_are_followed_by_four_proofs() -> None:
    """Each of them a scheme of its own, and none an ordinary parameter besides."""
    api = described(live_routes(NOBODY, NOBODY))
    follow = api["paths"]["/api/events"]["get"]
    schemes = api["components"]["securitySchemes"]

    told = [name for each in follow["security"] for name in each]

    assert [(schemes[name]["type"], schemes[name].get("in"), schemes[name].get("name")) for name in told] == [
        ("http", None, None),
        ("apiKey", "query", "ticket"),
        ("apiKey", "header", "Last-Event-ID"),
        ("apiKey", "query", "token"),
    ]
    assert {*told} == {*schemes}
    assert [each["name"] for each in follow["parameters"]] == ["since", "Last-Event-ID"]
    for each in follow["parameters"]:
        assert re.fullmatch(each["schema"]["pattern"], "12@2025-06-15T12:00:00.000000Z;pst_" + "A" * 43)


def test_the_websocket_is_told_with_all_that_is_said_over_it() -> None:
    """It is a GET that is answered with another protocol; beside that stand all types of messages."""
    api = described(live_routes(NOBODY, NOBODY))
    told = api["paths"]["/ws"]["get"]
    said = told["x-websocket"]

    assert {"101", "403", "426"} <= told["responses"].keys()
    assert [name for each in told["security"] for name in each] == ["bearer", "ticket", "token_in_address"]
    numbered = {name: each["payload"]["required"] for name, each in said["sends"].items() if each["numbered"]}
    assert numbered == {kind.type: [field.name for field in fields(kind)] for kind in get_args(Event)}
    passing = {kind.type for kind in get_args(Passing)}
    assert said["sends"].keys() == numbered.keys() | passing | CONNECTION_WORDS.keys()
    assert msgspec.json.decode(b'{"type": "auth", "token": "t"}', type=Said).token == "t"
    assert said["takes"]["required"] == ["type", "token"]


def test_locally_nobody_signs_in() -> None:
    """Where no token is asked for, none is told of."""
    api = described(live_routes(NOBODY, NOBODY), is_local=True)

    assert api["security"] == []
    assert "securitySchemes" not in api["components"]
    assert "security" not in api["paths"]["/api/events"]["get"]


def test_an_operation_has_the_refusals_that_can_come_of_it() -> None:
    """What takes nothing cannot be given wrong; what has no body cannot be too large."""
    anywhere = refusals("get", "/me")

    assert not anywhere & {404, 408, 409, 412, 413, 415, 416, 422}
    assert refusals("get", "/workspaces/{workspace_id}") == anywhere | {404, 422}
    assert refusals("post", "/workspaces") == anywhere | {408, 409, 413, 422}
    assert refusals("delete", "/workspaces/{workspace_id}") == anywhere | {404, 409, 422}
    assert refusals("post", "/query") == anywhere | {404, 408, 413, 422}
    assert refusals("get", "/workspaces/{workspace_id}/documents/{document_id}/text") == anywhere | {
        *(404, 409, 422)
    }


def test_every_refusal_is_a_problem_document() -> None:
    """And nothing is said of a shape the framework would use by itself."""
    for methods in API["paths"].values():
        for each in methods.values():
            for status, told in each["responses"].items():
                if status >= "400":
                    assert list(told["content"]) == ["application/problem+json"], (status, each["summary"])
    assert "HTTPValidationError" not in str(API["paths"])


def test_headers_clients_rely_on_are_told() -> None:
    """Tags where something is tagged, times where one shall come again, places of a range."""
    original = operation("get", "/workspaces/{workspace_id}/documents/{document_id}/content")["responses"]

    for methods in API["paths"].values():
        for each in methods.values():
            for status in ("429", "503"):
                assert each["responses"][status]["headers"]["Retry-After"]["required"]
    for path in ("/workspaces/{workspace_id}", "/conversations/{conversation_id}"):
        for method in ("get", "patch"):
            assert operation(method, path)["responses"]["200"]["headers"]["ETag"]["required"]
    assert "ETag" in original["200"]["headers"]
    assert "Content-Range" in original["206"]["headers"]
    assert "Content-Range" in original["416"]["headers"]


def test_words_of_a_closed_set_are_told() -> None:
    """Whoever reads the reference knows every status there is."""
    shapes = API["components"]["schemas"]

    def words(shape: str, field: str) -> set[str]:
        found = shapes[shape]["properties"][field]
        return set(shapes[found["$ref"].rpartition("/")[2]]["enum"])

    assert words("DocumentSaid", "status") == {"pending", "parsed", "ingested", "error"}
    assert words("JobSaid", "status") == {"queued", "running", "success", "failed"}
    assert words("StageSaid", "job_type") == {"parse", "ingest", "task"}
    assert words("AcceptedSaid", "how") == {"created", "coalesced", "existing"}
    assert {"type": "null"} in shapes["AcceptedSaid"]["properties"]["job_id"]["anyOf"]
    assert shapes["QueryAsked"]["properties"]["top_k"]["maximum"] == 10

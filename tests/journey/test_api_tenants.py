"""Two users of the running program: whatever one asks about the other's is answered as if it never was.

The requests are made from the API's own reference. A new route is asked by itself; a new place for a value is
refused here until somebody says whether it names a thing.
"""

import hashlib
import itertools
import json
import os
import re
import sqlite3
import statistics
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http import HTTPStatus
from typing import Any

import httpx
import pytest
from websockets.sync.client import ClientConnection, connect

from tests.support.command_line import PATIENCE, Program
from tests.support.openapi import Operation, Reference, operations
from tests.support.plain_line import PlainLine, Reply, written
from tests.support.served import Served, serving
from tests.support.tenants import CANARY, SIGNED_IN, Tenant, unknown_like
from tests.support.waiting import until

pytestmark = pytest.mark.xdist_group("api_tenants")

KEY = "header.Idempotency-Key"
KINDS = {
    "path.workspace_id": "workspace",
    "path.document_id": "document",
    "path.job_id": "job",
    "path.conversation_id": "conversation",
    "path.message_id": "message",
    "path.name": "collection",
    "query.workspace_id": "workspace",
    "query.collection": "collection",
    KEY: "key",
    "body.workspace_id": "workspace",
    "body.collection": "collection",
    "body.collections[]": "collection",
    "body.after": "document",
    "body.documents[]": "document",
    "body.ids[]": "document",
    "body.filters.collections[]": "collection",
    "body.filters.documents[]": "document",
}
"""Slots that name a thing, and which kind of thing."""
KINDS_OF_ONE = {
    ("GET /api/workspaces/{workspace_id}/jobs", "query.after"): "job",
    ("POST /api/workspaces/{workspace_id}/collections", "body.name"): "collection",
}
"""The same where a slot's name alone does not say it."""
OTHER_KINDS = {"path.job_id": "stage"}
"""Slots that name things of another kind as well: events call a stage a job."""
WORDS: dict[str, object] = {
    "body.name": "a name",
    "body.content": "Some words.",
    "body.question": "What is the password?",
    "body.query": "password",
    "body.files[]": ("a.txt", b"Some words."),
    "body.title": "A title",
    "body.description": "",
}
"""What stands in the slots that name nothing and must be filled, or may well be."""
LEFT_OUT = {
    *(
        f"query.{name}"
        for name in ("status", "name", "metadata", "sort", "order", "after", "before", "limit", "since")
    ),
    *("query.ticket", "query.token", "header.Last-Event-ID", "header.Prefer", "header.If-Match"),
    *("header.If-None-Match", "header.Range", "header.If-Range"),
    *("body.top_k", "body.threshold", "body.filters.path", "body.filters.metadata", "body.metadata"),
    *("body.code", "body.quote", "body.priority", "body.skip_validation", "body.preserve_metadata"),
    "body.reindex",
    *(f"body.recipe.{name}" for name in ("chunk_tokens", "chunk_tokens_min", "overlap_tokens")),
}
"""Slots that name nothing and are never filled here."""
SEEN_AFTERWARDS = {
    f"POST /api/{path}"
    for path in (
        "workspaces/{workspace_id}/collections",
        "workspaces/{workspace_id}/documents/delete",
        "workspaces/{workspace_id}/documents/retry",
        "workspaces/{workspace_id}/documents/{document_id}/move",
        "workspaces/{workspace_id}/documents/{document_id}/retry",
        "workspaces/{workspace_id}/jobs/{job_id}/retry",
        "conversations/{conversation_id}/messages/{message_id}/regenerate",
    )
}
"""What changes one's own things, so that asking twice is answered twice: no pair differs by the key alone."""
STREAMS = {"GET /api/events", "GET /ws"}
"""Listened to below instead: they do not end, and name nothing."""
GIVEN_ANEW = {"id", "job_id", "document_id", "created_at", "updated_at", "finished_at", "number", "reply_to"}
"""What differs between any two things that were made."""
PATHS = {
    "workspace": "/workspaces/{workspace}",
    "collection": "/workspaces/{mine}/collections/{collection}",
    "document": "/workspaces/{mine}/documents/{document}",
    "document of its workspace": "/workspaces/{workspace}/documents/{document}",
    "text": "/workspaces/{mine}/documents/{document}/content",
    "job": "/workspaces/{mine}/jobs/{job}",
    "conversation": "/conversations/{conversation}",
    "message": "/conversations/{conversation}/messages/{message}",
}
"""What is asked for again and again."""
METHODS = ("GET", "HEAD", "POST", "PATCH", "DELETE")
PAIRS = int(os.environ.get("PENSTOCK_FUZZ_PAIRS", "2000"))
"""So many requests of each of two kinds, in turns, before their medians are compared, once."""

ROOM = {"PENSTOCK_HTTP_QUOTA_CONVERSATIONS": "0"}
"""For all that is made while the time of it is taken."""
KEPT = """
INSERT INTO requests (user_id, key, fingerprint, status, body, answered_at)
SELECT user_id, ?1, fingerprint, status, body, answered_at FROM requests WHERE user_id = ?2 LIMIT 1
"""
"""An answer to the same request under another key."""
ASKED = """
INSERT INTO messages (message_id, conversation_id, number, key, role, status, created_at, updated_at)
SELECT ?1, conversation_id, 1 + max(number), ?2, 'user', 'done', created_at, updated_at
FROM messages WHERE conversation_id = ?3
"""
"""A question under another key."""


class Town:
    """A server, its reference, an owner of everything and a stranger who has as much of his own."""

    def __init__(self, served: Served, program: Program) -> None:
        self.served = served
        self.program = program
        self.data = program.data
        self.owner, self.stranger = Tenant(served, CANARY), Tenant(served, "heron")
        for each in (self.owner, self.stranger):
            each.settle()
        reference: Reference = self.stranger.client.get("/openapi.json").json()
        offered = operations(reference)
        # What makes a thing of the name asked for comes last, or the name would be his own.
        offered.sort(key=lambda each: (str(each), "body.name") in KINDS_OF_ONE)
        self.operations = [each for each in offered if str(each) not in STREAMS]
        self.streams = [each for each in offered if str(each) in STREAMS]
        self.keys = {
            str(each): self.used_key(each) for each in self.operations if str(each) not in SEEN_AFTERWARDS
        }
        made = self.keys["POST /api/workspaces"]
        self.keys |= dict.fromkeys(SEEN_AFTERWARDS, made)

    def used_key(self, operation: Operation) -> str:
        """A key the owner has used for this very operation, where it takes one."""
        key = str(uuid.uuid4())
        if any(slot.name == KEY for slot in operation.slots):
            reply = operation.send(self.owner.client, {**filled(operation, self.owner), KEY: key})
            assert reply.is_success, reply.text
        return key

    def paid(self) -> tuple[int, int]:
        """How many parses and vectors were made by now."""
        with closing(sqlite3.connect(self.data / "penstock.db", timeout=30)) as db:
            parses, embeddings = db.execute(
                "SELECT (SELECT count(*) FROM parses), (SELECT count(*) FROM embeddings)"
            ).fetchone()
        return parses, embeddings

    def is_still(self) -> bool:
        """Whether no job waits or runs."""
        with closing(sqlite3.connect(self.data / "penstock.db", timeout=30)) as db:
            (open_jobs,) = db.execute(
                "SELECT count(*) FROM unified_queue WHERE status IN ('pending', 'in_progress')"
            ).fetchone()
        return not open_jobs

    def spread(self, operation: Operation, held: Mapping[str, str]) -> list[dict[str, str]]:
        """As many other keys the owner has used there as pairs are asked."""
        if KEY not in held:
            return [dict(held)] * PAIRS
        others = [{slot: unknown_like(value) for slot, value in held.items()} for _ in range(PAIRS)]
        keys = [each[KEY] for each in others]
        with closing(sqlite3.connect(self.data / "penstock.db", timeout=PATIENCE)) as db, db:
            db.executemany(KEPT, [(each, self.owner.user) for each in keys])
            asked = [(uuid.uuid4().hex, each, self.owner.ids["conversation"]) for each in keys]
            db.executemany(ASKED, asked if operation.path.endswith("/messages") else ())
        return others

    @contextmanager
    def at_rest(self) -> Iterator[None]:
        """Nothing is worked on meanwhile."""
        until("what was taken in before has ended", self.is_still)
        assert self.program("queue", "pause").code == 0
        yield
        assert self.program("queue", "resume").code == 0

    def owned(self, operation: Operation, slot: str, others: Mapping[str, str]) -> str:
        """What the owner has there, of the other kind where the slot is among the others."""
        kind = others.get(slot) or kind_of(operation, slot)
        return self.keys[str(operation)] if kind == "key" else self.owner.ids[kind or ""]


@pytest.fixture(scope="module")
def town(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Town]:
    """At its end, whatever the program wrote is read for the word and the tokens."""
    program = Program(tmp_path_factory.mktemp("town"))
    with serving(program, "run", "--role=all", env={**SIGNED_IN, **ROOM}) as served:
        town = Town(served, program)
        yield town
        served.stop()
        assert served.process.stdout is not None
        said = served.process.stdout.read() + "".join(served.lines)
        assert CANARY not in said
        for each in (town.owner, town.stranger):
            each.client.close()
            assert each.token.split(".")[1] not in said


def kind_of(operation: Operation, slot: str) -> str | None:
    """Which kind of thing a slot names; None where it names none."""
    return KINDS_OF_ONE.get((str(operation), slot)) or KINDS.get(slot)


def filled(operation: Operation, tenant: Tenant) -> dict[str, object]:
    """What a person would send who has all of it: what must be filled, the workspace, the words."""
    values: dict[str, object] = {}
    for slot in operation.slots:
        kind = kind_of(operation, slot.name)
        if slot.name in WORDS:
            values[slot.name] = WORDS[slot.name]
        if kind is not None and (slot.required or kind == "workspace"):
            values[slot.name] = tenant.ids[kind]
    return values


def cases(operation: Operation) -> list[frozenset[str]]:
    """Which slots are another's: each alone, any two of the address, and all."""
    named = [slot.name for slot in operation.slots if kind_of(operation, slot.name)]
    pairs = itertools.combinations([each for each in named if each.startswith("path.")], 2)
    return sorted(
        {frozenset([each]) for each in named if each != KEY or str(operation) not in SEEN_AFTERWARDS}
        | {frozenset(each) for each in pairs}
        | {frozenset(named)} - {frozenset()},
        key=sorted,
    )


def blurred(reply: httpx.Response, sent: list[str]) -> tuple[int, dict[str, str], str]:
    """A reply without what was sent in it, and without what differs between any two."""
    headers = {name: value for name, value in reply.headers.items() if name not in ("content-length", "date")}
    text = reply.text
    if reply.is_success and reply.headers.get("content-type") == "application/json":
        text = json.dumps(_without_new(reply.json()))
    for each in sorted(sent, key=len, reverse=True):
        text = text.replace(each, "<sent>")
    return reply.status_code, headers, text


def _without_new(said: Any) -> Any:
    if isinstance(said, list):
        return [_without_new(each) for each in said]
    if isinstance(said, dict):
        return {name: "*" if name in GIVEN_ANEW else _without_new(value) for name, value in said.items()}
    return said


@contextmanager
def listening(town: Town, tenant: Tenant) -> Iterator[ClientConnection]:
    """A tab of the tenant's, told everything from now on."""
    headers = {"Authorization": f"Bearer {tenant.token}"}
    address = f"ws://{town.served.host}/ws"
    with connect(address, additional_headers=headers, compression=None, proxy=None) as tab:
        assert json.loads(tab.recv(PATIENCE))["type"] == "ready"
        yield tab


def heard_before(tab: ClientConnection, tenant: Tenant, name: str) -> list[dict[str, Any]]:
    """What the tab was told before a document of this name, which the tenant now puts in."""
    at = f"/workspaces/{tenant.ids['workspace']}/documents/text"
    body = {"collection": tenant.ids["collection"], "name": name, "content": name}
    assert tenant.client.post(at, json=body).status_code == 202
    told: list[dict[str, Any]] = []
    while True:
        said = json.loads(tab.recv(PATIENCE))
        if said["type"] == "document.created" and said["payload"]["document"]["name"] == name:
            return told
        told.append(said)


def test_every_slot_of_the_reference_is_known_here(town: Town) -> None:
    """A place for a value that nobody has judged would be a hole in this sweep."""
    unknown = {
        f"{each} {slot.name}"
        for each in (*town.operations, *town.streams)
        for slot in each.slots
        if not kind_of(each, slot.name) and slot.name not in WORDS and slot.name not in LEFT_OUT
    }
    assert not unknown
    assert {str(each) for each in town.streams} == STREAMS
    assert {each.method for each in town.operations} == {*METHODS}


def test_the_owner_gets_what_the_stranger_does_not(town: Town) -> None:
    """The ids the sweep asks for are real: their owner is shown all of it, with the word."""
    seen = ""
    for operation in town.operations:
        if operation.method == "GET":
            reply = operation.send(town.owner.client, filled(operation, town.owner))
            assert reply.status_code == 200, f"{operation}: {reply.text}"
            seen += reply.text
            own = operation.send(town.stranger.client, filled(operation, town.stranger))
            assert own.status_code == 200
            assert CANARY not in own.text + str(own.headers)
    assert seen.count(CANARY) > 10
    by_stage = f"/workspaces/{town.owner.ids['workspace']}/jobs/{town.owner.ids['stage']}"
    assert town.owner.client.get(by_stage).json()["id"] == town.owner.ids["job"]


def test_what_is_anothers_is_answered_like_what_never_was(town: Town) -> None:
    """Every operation, every slot that names a thing: same status, headers and words; no event, no change."""
    before = looked_at(town)
    with listening(town, town.stranger) as his, listening(town, town.owner) as hers:
        asked = swept(town)
        told = heard_before(his, town.stranger, f"bell {asked}")
        assert looked_at(town) == before
        assert heard_before(hers, town.owner, f"bell {asked}") == []
    # The stranger has made a collection under the owner's name; the tests beside this one ask for it.
    mine, name = town.stranger.ids["workspace"], town.owner.ids["collection"]
    assert town.stranger.client.delete(f"/workspaces/{mine}/collections/{name}").status_code == 202
    assert CANARY not in str(told)
    assert not set(re.findall(r"[0-9a-f-]{36}", str(told))) & set(town.owner.ids.values())


def swept(town: Town) -> int:
    """Ask everything; how many pairs there were."""
    asked = 0
    wrong: list[str] = []
    for operation in town.operations:
        for chosen, others in itertools.product(cases(operation), ({}, OTHER_KINDS)):
            if others and not chosen & others.keys():
                continue
            foreign, unknown = (
                answered(town, operation, chosen, others, like) for like in (str, unknown_like)
            )
            asked += 1
            if foreign != unknown or CANARY in str(foreign):
                wrong.append(f"{operation} {sorted(chosen)} {others}:\n  {foreign}\n  {unknown}")
            if any(each.startswith("path.") for each in chosen) and foreign[0] != 404:
                wrong.append(f"{operation} {sorted(chosen)} is answered with {foreign[0]}")
    assert not wrong, "\n".join(wrong)
    assert asked > 60
    return asked


def answered(
    town: Town, operation: Operation, chosen: frozenset[str], others: Mapping[str, str], like: Any
) -> tuple[int, dict[str, str], str]:
    """The stranger asks with his own things, but the chosen slots hold the owner's, or what is like them."""
    values = filled(operation, town.stranger)
    sent = []
    for slot in chosen:
        values[slot] = like(town.owned(operation, slot, others))
        sent.append(str(values[slot]))
    return blurred(operation.send(town.stranger.client, values), sent)


def looked_at(town: Town) -> dict[str, str]:
    """All the owner can see."""
    return {
        str(each): each.send(town.owner.client, filled(each, town.owner)).text
        for each in town.operations
        if each.method == "GET" and str(each) != "GET /api/me"
    }


def test_the_same_bytes_as_anothers_are_as_new_as_any(town: Town) -> None:
    """Equal bytes are kept once, but who sends them is not told that somebody did so before.

    They are parsed and embedded for him as any others: the time it takes would tell him.
    """
    at = f"/workspaces/{town.stranger.ids['workspace']}/documents"
    shelf = f"/workspaces/{town.owner.ids['workspace']}/documents/{town.owner.ids['document']}/content"
    hers = town.owner.client.get(shelf).content
    until("what was taken in before has ended", town.is_still)
    told, paid = [], [town.paid()]
    for data in (hers, hers.replace(CANARY.encode(), CANARY[::-1].encode())):
        files = {"files": ("note.md", data)}
        taken = town.stranger.client.post(
            at, data={"collection": town.stranger.ids["collection"]}, files=files
        )
        assert taken.status_code == 202
        document = taken.json()["items"][0]["document_id"]
        town.stranger.ended(f"{at}/{document}")
        paid.append(town.paid())
        seen = [taken, town.stranger.client.get(f"{at}/{document}")]
        for each in seen:
            each.headers.pop("etag", None)
        told.append([blurred(each, [hashlib.sha256(data).hexdigest()]) for each in seen])
        assert town.stranger.client.delete(f"{at}/{document}").status_code == 202
    assert told[0] == told[1]
    assert [after - before for before, after in zip(paid[0], paid[1], strict=True)] == [1, 1]
    assert town.owner.client.get(shelf).content == hers


@pytest.mark.parametrize("kind", PATHS)
def test_two_hundred_pairs_are_answered_alike(town: Town, kind: str) -> None:
    """Also when the same thing is asked for again and again."""
    paired(town, kind, 25)


@pytest.mark.fuzz
@pytest.mark.timeout(2_400)
@pytest.mark.parametrize("method", METHODS)
def test_the_time_of_an_answer_tells_nothing(town: Town, method: str) -> None:
    """Every operation, every slot that names a thing: medians of two thousand pairs within a millisecond.

    A foreign key, or a new collection's name that another has too, keeps nothing from being made, and is the
    stranger's own from then on. So the owner has used as many keys as there are pairs, each for one request,
    and a collection is removed once it is made. Those places come last, and no job runs meanwhile.
    """
    places = [
        (operation, chosen) for operation in town.operations for chosen in timed_cases(operation, method)
    ]
    places.sort(key=lambda each: makes(*each))
    with closing(Stopwatch(town)) as watch, town.at_rest():
        told = {f"{each} {sorted(chosen)}": watch.apart(each, chosen) for each, chosen in places}
    print(f"{method}: {len(told)} places, at most {max(told.values()) * 1000:.3f} ms apart")
    assert {place: seconds for place, seconds in told.items() if seconds >= 0.001} == {}


def timed_cases(operation: Operation, method: str) -> list[frozenset[str]]:
    """All cases of an operation, and the key alone also where asking twice is answered twice."""
    if operation.method != method:
        return []
    alone = [frozenset([KEY])] if any(slot.name == KEY for slot in operation.slots) else []
    return sorted({*cases(operation), *alone}, key=sorted)


def makes(operation: Operation, chosen: frozenset[str]) -> bool:
    """Whether what is another's in a request keeps nothing from being made."""
    return {kind_of(operation, each) for each in chosen} <= {"key"} or chosen == {"body.name"}


class Stopwatch:
    """The stranger, who measures how long he waits for each answer."""

    def __init__(self, town: Town) -> None:
        self._town = town
        self._line = PlainLine(town.served)

    def close(self) -> None:
        self._line.close()

    def apart(self, operation: Operation, chosen: frozenset[str]) -> float:
        """How many seconds lie between the medians of what is the owner's and what never was."""
        held = {slot: self._town.owned(operation, slot, {}) for slot in chosen}
        template = self._request(operation, held)
        known = self._town.spread(operation, held) if makes(operation, chosen) else [held] * PAIRS
        took: tuple[list[float], list[float]] = ([], [])
        for number in range(PAIRS):
            unknown = {slot: unknown_like(value) for slot, value in held.items()}
            for at in (0, 1) if number % 2 else (1, 0):
                request = with_others(template, held, (known[number], unknown)[at])
                began = time.perf_counter()
                reply = self._line.ask(request)
                took[at].append(time.perf_counter() - began)
                assert reply.status != HTTPStatus.UNAUTHORIZED, reply  # or nothing was looked for
                if chosen == {"body.name"}:
                    self._remove(reply)
        return abs(statistics.median(took[0]) - statistics.median(took[1]))

    def _remove(self, reply: Reply) -> None:
        """Remove the collection that was made."""
        assert reply.status == 201, reply
        stranger, name = self._town.stranger, json.loads(reply.body)["name"]
        path = f"/workspaces/{stranger.ids['workspace']}/collections/{name}"
        gone = self._line.ask(written(stranger.client.build_request("DELETE", path)))
        assert gone.status == 202, gone

    def _request(self, operation: Operation, values: Mapping[str, object]) -> bytes:
        stranger = self._town.stranger
        return written(operation.request(stranger.client, {**filled(operation, stranger), **values}))


def with_others(template: bytes, held: Mapping[str, str], others: Mapping[str, str]) -> bytes:
    """The request with values of the same form in place of those it holds."""
    for slot, value in held.items():
        template = template.replace(value.encode(), others[slot].encode())
    return template


def paired(town: Town, kind: str, count: int) -> None:
    """Ask for the owner's and for what never was in turns."""
    mine = town.stranger.ids["workspace"]
    never = {name: unknown_like(each) for name, each in town.owner.ids.items()}
    for _ in range(count):
        replies = []
        for ids in (town.owner.ids, never):
            reply = town.stranger.client.get(PATHS[kind].format(mine=mine, **ids))
            replies.append(blurred(reply, list(ids.values())))
        assert replies[0] == replies[1]
        assert replies[0][0] == 404

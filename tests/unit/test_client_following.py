"""Documents followed by what the log tells, while what is read of them is ahead of it or behind."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

import pytest

from penstock.client import Event, Resync
from penstock.client.errors import PenstockError
from penstock.client.following import follow
from penstock.client.subscription import Subscription
from penstock.client.values import Document, Reason

Told = list[tuple[str, str]]
REASON = Reason(stage="parse", code="ERR_PDF_INVALID", message="no", suggestions=())


def document(name: str, status: str, at: int) -> Document:
    """As it is read when it has got there at a time."""
    now = Document.deleted(name)
    facts = {each: getattr(now, each) for each in now.__struct_fields__}
    error = REASON if status == "error" else None
    known = {"collection": "papers", "workspace_id": "w", "error": error}
    return Document(**{**facts, **known, "status": status, "updated_at": f"t{at:03}"})


def moved(name: str, status: str, at: int) -> Event:
    """The log's word that it has got there."""
    payload = {"workspace_id": "w", "document_id": name, "status": status}
    return Event(type="document.status_updated", payload=payload, seq=at, ts=f"t{at:03}")


class Server:
    """Events one after another; before each the documents become what it is given with."""

    def __init__(self, now: dict[str, Document], *happens: tuple[Any, Sequence[Document]]) -> None:
        self._now = now
        self._happens = list(happens)

    async def __aenter__(self) -> "Server":
        return self

    async def __aexit__(self, *_: object) -> None: ...

    def __aiter__(self) -> AsyncIterator[Any]:
        return self

    async def __anext__(self) -> Any:
        if not self._happens:
            raise StopAsyncIteration
        happened, documents = self._happens.pop(0)
        self._now |= {each.id: each for each in documents}
        return happened

    async def read(self, name: str) -> Document:
        if self._now[name].status == "deleted":
            raise PenstockError("there is no such document", code="ERR_DOCUMENT_UNKNOWN", status=404)
        return self._now[name]


async def told(server: Any, *names: str) -> list[Document]:
    events: Subscription = server
    read: Callable[[str], Awaitable[Document]] = server.read
    return [each async for each in follow(names, read, events)]


def steps(documents: Sequence[Document]) -> Told:
    return [(each.id, each.status) for each in documents]


async def test_a_read_that_is_further_hides_no_state() -> None:
    """Each state the log tells is given once and in order, over what the document says by then."""
    end = document("a", "error", 9)
    server = Server(
        {"a": document("a", "pending", 1)},
        (moved("a", "parsed", 5), [end]),
        (moved("a", "error", 9), []),
    )

    pending, parsed, error = await told(server, "a")

    assert steps([pending, parsed, error]) == [("a", "pending"), ("a", "parsed"), ("a", "error")]
    assert (parsed.error, parsed.updated_at, error) == (None, end.updated_at, end)


async def test_what_came_before_the_first_look_is_in_it() -> None:
    """Its events come late, and take nobody back."""
    server = Server(
        {
            "a": document("a", "parsed", 7),
            "b": document("b", "ingested", 4),
            "c": document("c", "pending", 6),
        },
        (moved("a", "pending", 3), []),
        (moved("b", "parsed", 3), []),
        (moved("b", "ingested", 4), []),
        (moved("c", "error", 5), []),
        (moved("c", "pending", 6), []),
        (moved("a", "parsed", 7), []),
        (moved("c", "parsed", 8), [document("c", "ingested", 10)]),
        (moved("a", "ingested", 9), [document("a", "ingested", 9)]),
        (moved("c", "ingested", 10), []),
    )

    assert steps(await told(server, "a", "b", "c")) == [
        ("a", "parsed"),
        ("b", "ingested"),
        ("c", "pending"),
        ("c", "parsed"),
        ("a", "ingested"),
        ("c", "ingested"),
    ]


async def test_a_document_that_is_tried_again_while_others_are_followed_is_followed_again() -> None:
    """All have ended when it is over."""
    server = Server(
        {"a": document("a", "error", 2), "b": document("b", "pending", 1)},
        (moved("a", "pending", 3), [document("a", "pending", 3)]),
        (moved("b", "error", 4), [document("b", "error", 4)]),
        (moved("a", "parsed", 5), [document("a", "ingested", 6)]),
        (moved("a", "ingested", 6), []),
    )

    assert steps(await told(server, "a", "b")) == [
        ("a", "error"),
        ("b", "pending"),
        ("a", "pending"),
        ("b", "error"),
        ("a", "parsed"),
        ("a", "ingested"),
    ]


async def test_a_document_that_is_gone_was_what_it_was() -> None:
    """What the log tells of it before is told with what was known; then it has ended as deleted, once."""
    server = Server(
        {"a": document("a", "pending", 1)},
        (moved("a", "parsed", 2), [document("a", "deleted", 3)]),
        (moved("a", "deleted", 3), []),
    )

    pending, parsed, gone = await told(server, "a")

    assert [each.status for each in (pending, parsed, gone)] == ["pending", "parsed", "deleted"]
    assert (parsed.collection, gone.collection) == ("papers", "")


async def test_a_collection_that_is_removed_ends_its_documents() -> None:
    """Nothing else is told of them; those of other collections are followed on."""
    removed = {"workspace_id": "w", "collection": "papers"}
    other = {**removed, "collection": "others"}
    server = Server(
        {"a": document("a", "pending", 1)},
        (Event(type="collection.removed", payload=other, seq=2, ts="t002"), [document("a", "parsed", 2)]),
        (moved("a", "parsed", 2), [document("a", "deleted", 3)]),
        (Event(type="collection.removed", payload=removed, seq=3, ts="t003"), []),
    )

    assert [each.status for each in await told(server, "a")] == ["pending", "parsed", "deleted"]


async def test_what_its_collection_took_along_is_deleted_and_no_failure() -> None:
    """Its jobs end before it goes, which the log tells first; read by then, it is there no more."""
    removed = {"workspace_id": "w", "collection": "papers"}
    server = Server(
        {"a": document("a", "pending", 1)},
        (moved("a", "error", 2), [document("a", "deleted", 2)]),
        (Event(type="collection.removed", payload=removed, seq=3, ts="t003"), []),
    )

    assert [each.status for each in await told(server, "a")] == ["pending", "deleted"]


async def test_what_was_told_as_deleted_is_told_once() -> None:
    """An end of before that the log tells after the first look changes nothing of it."""
    server = Server(
        {"a": document("a", "deleted", 3), "b": document("b", "pending", 1)},
        (moved("a", "error", 2), []),
        (moved("b", "ingested", 4), [document("b", "ingested", 4)]),
    )

    assert steps(await told(server, "a", "b")) == [("a", "deleted"), ("b", "pending"), ("b", "ingested")]


async def test_where_events_were_missed_the_state_of_now_is_told() -> None:
    """And nothing that was told is told again, nor what the log tells late."""
    missed = Resync(reason="too_many", seq=4, documents=(), documents_left_out=False, answers=())
    server = Server(
        {"a": document("a", "pending", 1), "b": document("b", "pending", 1)},
        (missed, [document("a", "parsed", 5)]),
        (moved("a", "parsed", 5), []),
        (moved("b", "parsed", 6), [document("b", "parsed", 6)]),
        (moved("a", "ingested", 7), [document("a", "ingested", 7)]),
        (missed, [document("b", "ingested", 8)]),
    )

    assert steps(await told(server, "a", "b")) == [
        ("a", "pending"),
        ("b", "pending"),
        ("a", "parsed"),
        ("b", "parsed"),
        ("a", "ingested"),
        ("b", "ingested"),
    ]


@pytest.mark.parametrize("end", ["ingested", "error"])
async def test_a_clock_that_was_set_back_keeps_nobody_waiting(end: str) -> None:
    """Events of an earlier time than the look still tell how it ended."""
    server = Server(
        {"a": document("a", "pending", 900)},
        (moved("a", "parsed", 5), [document("a", "parsed", 5)]),
        (moved("a", end, 6), [document("a", end, 6)]),
    )

    assert [each.status for each in await told(server, "a")] == ["pending", "parsed", end]

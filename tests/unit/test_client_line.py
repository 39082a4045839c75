"""When the client asks again, and when it must not: against a server that answers byte for byte as told."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

import pytest

from penstock.client import Penstock, PenstockError
from penstock.client.line import REPEATS, server_url
from penstock.client.questions import Asking
from tests.support.web_server import WebServer, reply, web_server

PROBLEM = json.dumps({"detail": "busy", "code": "ERR_RATE_LIMITED", "suggestions": ["Wait."]}).encode()
BUSY = reply(PROBLEM, status="429 Too Many Requests", retry_after="0")
ME = json.dumps({"user_id": "u", "role": "r", "proof": "local", "expires_at": None, "later": 1}).encode()
NO_ERROR = {"error_code": None, "error_message": None, "reply_to": None}
MADE = json.dumps({"id": "w", "name": "n", "created_at": "t"}).encode()


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with web_server() as web:
        yield web


@pytest.fixture
async def p(web: WebServer) -> AsyncIterator[Penstock]:
    async with asyncio.timeout(30), Penstock(f"http://127.0.0.1:{web.port}/", token="secret") as p:
        yield p


def in_turn(web: WebServer, path: str, *answers: bytes) -> None:
    """Answer so, one after another, and the last again and again; nothing at all is a broken line."""
    waiting = list(answers)

    async def say(writer: asyncio.StreamWriter) -> None:
        writer.write(waiting.pop(0) if len(waiting) > 1 else waiting[0])
        await writer.drain()

    web.answers[path] = say


async def test_a_busy_server_is_asked_again_by_who_may(web: WebServer, p: Penstock) -> None:
    """429, 503 and a broken line are tried again where that doubles nothing; new fields are ignored."""
    in_turn(web, "/api/me", BUSY, reply(status="503 Service Unavailable", retry_after="0"), b"", reply(ME))

    assert (await p.me()).user_id == "u"
    assert len(web.asked) == 4
    assert all("authorization: bearer secret" in head.lower() for head in web.asked)


async def test_what_might_be_done_twice_is_asked_once(web: WebServer, p: Penstock) -> None:
    """A request without a key is not repeated, whatever came back."""
    in_turn(web, "/api/workspaces/w/documents/d", BUSY, b"", reply(b"{}"))

    with pytest.raises(PenstockError) as told:
        await p.workspace("w").delete_document("d")
    assert (told.value.status, told.value.code, told.value.suggestions) == (
        429,
        "ERR_RATE_LIMITED",
        ("Wait.",),
    )
    with pytest.raises(PenstockError, match="ERR_SERVER_UNREACHABLE") as unheard:
        await p.workspace("w").delete_document("d")
    assert len(web.asked) == 2
    (suggestion,) = unheard.value.suggestions
    assert "the address" in suggestion


async def test_mistakes_of_the_caller_stay_python_s_own(web: WebServer, p: Penstock, tmp_path: Path) -> None:
    """As the how-to names them; nothing is sent."""
    there = p.workspace("w")
    with pytest.raises(FileNotFoundError):
        await there.upload(tmp_path / "none.pdf", collection="notes")
    with pytest.raises(TypeError):
        await there.upload(("a.txt", b"A."), collection="notes", metadata={"when": object()})
    with pytest.raises(ValueError, match="no http or https address"):
        Penstock("127.0.0.1:8080")
    with pytest.raises(ValueError, match="soon"):
        p.subscribe(since="soon")
    assert web.asked == []


async def test_what_is_made_is_asked_for_again_under_its_key(web: WebServer, p: Penstock) -> None:
    """The same key each time, so it is made once."""
    in_turn(web, "/api/workspaces", BUSY, b"", reply(MADE))

    assert (await p.create_workspace("n")).id == "w"
    keys = {line for head in web.asked for line in head.lower().splitlines() if "idempotency-key" in line}
    assert (len(web.asked), len(keys)) == (3, 1)


async def test_an_answer_another_process_writes_is_waited_for(web: WebServer, p: Penstock) -> None:
    """The reply says that it is on its way; half of it is never taken for the whole."""

    def said(role: str, status: str, content: str = "") -> dict[str, object]:
        told = {"id": role, "number": 1, "role": role, "status": status, "content": content}
        times = {"created_at": "t", "updated_at": "t"}
        return told | times | {"citations": [], "usage": None, "metadata": {}, **NO_ERROR}

    posted = json.dumps({"question": said("user", "done"), "answer": said("ai", "pending")}).encode()
    half, whole = (
        json.dumps(said("ai", *each)).encode() for each in (("running", "For"), ("done", "Forty."))
    )
    in_turn(web, "/api/conversations/c/messages", reply(posted, status="202 Accepted"))
    in_turn(web, "/api/conversations/c/messages/ai", reply(half), reply(whole))

    assert (await p.post("c", "How much?")).answer.content == "Forty."


async def test_who_has_many_workspaces_is_told_some(web: WebServer, p: Penstock) -> None:
    """As many as can be looked through, and how many more there are."""
    there = [{"id": f"w{each}", "name": f"n{each}", "created_at": "t"} for each in range(12)]
    in_turn(web, "/api/workspaces", reply(json.dumps({"items": there}).encode()))

    with pytest.raises(PenstockError, match=r"12 .*: w0 \(n0\), .*w9 \(n9\), and 2 more") as refused:
        await p.collections()

    assert refused.value.code == "ERR_WORKSPACE_UNNAMED"


async def test_patience_ends(web: WebServer, p: Penstock) -> None:
    """After some attempts, and at once where the server wants more time than anybody has."""
    in_turn(web, "/api/me", BUSY)
    with pytest.raises(PenstockError, match="ERR_RATE_LIMITED"):
        await p.me()
    assert len(web.asked) == REPEATS + 1

    in_turn(web, "/api/me", reply(PROBLEM, status="429 Too Many Requests", retry_after="3600"))
    with pytest.raises(PenstockError) as told:
        await p.me()
    assert (told.value.retry_after, len(web.asked)) == (3600.0, REPEATS + 2)


async def test_a_time_that_was_given_is_not_spent_twice(web: WebServer, p: Penstock) -> None:
    """A question may take long to be answered, but not several times as long as the caller said."""

    async def say_nothing(_: asyncio.StreamWriter) -> None:
        await asyncio.sleep(30)

    web.answers["/api/workspaces/w/query"] = say_nothing
    with pytest.raises(PenstockError, match=r"no answer in 1 s"):
        await p.workspace("w").ask("when?", timeout=1.0)
    assert len(web.asked) == 1


async def test_a_question_is_asked_in_the_same_words_whole_or_as_it_is_written(
    web: WebServer, p: Penstock
) -> None:
    """What it is narrowed by goes with both; a word nobody knows is refused before anything is sent."""
    here, wish = p.workspace("w"), Asking(collections=["notes"], path="/a", top_k=3, quote=True)
    for misspelt in ({"top_n": 3}, {"collection": "notes"}):
        with pytest.raises(TypeError, match=next(iter(misspelt))):
            await here.ask("When?", **cast(Any, misspelt))
        with pytest.raises(TypeError, match=next(iter(misspelt))):
            await anext(here.telling("When?", **cast(Any, misspelt)))
    assert web.asked == []

    for wanted in (Asking(), wish):
        with pytest.raises(PenstockError):
            await here.ask("When?", **wanted)
        with pytest.raises(PenstockError):
            await anext(here.telling("When?", **wanted))

    lengths = [line for head in web.asked for line in head.lower().splitlines() if "content-length" in line]
    assert (lengths[0], lengths[2]) == (lengths[1], lengths[3])
    assert lengths[0] != lengths[2]


async def test_what_is_no_penstock_is_said(web: WebServer, p: Penstock) -> None:
    """Another page, another place, an error without a reason: one class of error for all of it."""
    for answer in (
        reply(b"<html>"),
        reply(b"\xff\xfe"),
        reply(status="302 Found", location="http://elsewhere/"),
        reply(b"no", status="500 Internal Server Error"),
    ):
        in_turn(web, "/api/me", answer)
        with pytest.raises(PenstockError, match="ERR_SERVER_ANSWER"):
            await p.me()


@pytest.mark.parametrize("text", ["", "elsewhere", "ftp://elsewhere", "http://", "http://a/?token=x"])
def test_an_address_that_is_none_is_refused(text: str) -> None:
    """Before anything is sent to it."""
    with pytest.raises(ValueError, match="no http or https address"):
        server_url(text)


def test_an_address_is_taken_as_the_server_prints_it() -> None:
    """With the API's path or without."""
    assert {server_url(f"http://a:1{end}") for end in ("", "/", "/api", "/api/")} == {"http://a:1"}

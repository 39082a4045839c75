"""Two serving processes on one data folder: what one user may do is counted over both."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.catalogue import WorkspaceId
from penstock.model.conversations import Written
from penstock.model.rules import Rules
from tests.journey.test_api import problem
from tests.support.command_line import Program
from tests.support.live import a_token, a_user
from tests.support.raw_socket import raw_tab
from tests.support.served import Served, serving
from tests.support.tenants import SIGNED_IN

pytestmark = pytest.mark.xdist_group("api_two_processes")
QUOTA_DOCUMENTS = 7
QUOTA_BYTES = 5_000
REQUESTS = 30
ORIGIN = "https://app.example.org"
LIMITS = {
    **SIGNED_IN,
    "PENSTOCK_AUTH_ALLOWED_ORIGINS": ORIGIN,
    "PENSTOCK_HTTP_QUOTA_DOCUMENTS": str(QUOTA_DOCUMENTS),
    "PENSTOCK_HTTP_QUOTA_BYTES": str(QUOTA_BYTES),
    "PENSTOCK_HTTP_PORT": "0",
    "PENSTOCK_HTTP_REQUESTS_PER_MINUTE": str(REQUESTS),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("two")


@pytest.fixture(scope="module")
def both(folder: Path) -> Iterator[tuple[Served, Served]]:
    program = Program(folder)
    with serving(program, "serve", env=LIMITS) as one, serving(program, "serve", env=LIMITS) as other:
        yield one, other


class Someone:
    """A user who asks both, with a workspace and a collection."""

    def __init__(self, both: tuple[Served, Served]) -> None:
        self.token = a_token(a_user())
        self.clients = [served.client(self.token) for served in both]
        (workspace,) = self.clients[0].get("/workspaces").json()["items"]
        self.at = f"/workspaces/{workspace['id']}"
        made = self.clients[0].post(f"{self.at}/collections", json={"name": "papers"})
        assert made.status_code == 201

    def at_once(self, times: int, ask: Callable[[httpx.Client, int], httpx.Response]) -> list[httpx.Response]:
        """As many requests at the same moment, half of them to each process."""
        ready = threading.Barrier(times)
        replies: list[httpx.Response] = []

        def one(number: int) -> None:
            ready.wait()
            replies.append(ask(self.clients[number % 2], number))

        threads = [threading.Thread(target=one, args=(number,)) for number in range(times)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        return replies


@pytest.fixture
def someone(both: tuple[Served, Served]) -> Iterator[Someone]:
    someone = Someone(both)
    yield someone
    for client in someone.clients:
        client.close()


@pytest.mark.parametrize(
    ("size", "fits", "code"),
    [(10, QUOTA_DOCUMENTS, "ERR_QUOTA_DOCUMENTS"), (1_200, QUOTA_BYTES // 1_200, "ERR_QUOTA_BYTES")],
    ids=["documents", "bytes"],
)
def test_parallel_uploads_never_pass_the_quota(someone: Someone, size: int, fits: int, code: str) -> None:
    """Twenty at once, by two processes: as many as fit are taken in, the rest is refused."""

    def upload(client: httpx.Client, number: int) -> httpx.Response:
        text = f"{number:04} ".encode() * (size // 5)
        return client.post(
            f"{someone.at}/documents",
            data={"collection": "papers"},
            files={"files": (f"{number}.txt", text)},
        )

    replies = someone.at_once(20, upload)

    assert Counter(reply.status_code for reply in replies) == {202: fits, 429: 20 - fits}
    refused = [reply for reply in replies if reply.status_code == 429]
    assert {reply.json()["code"] for reply in refused} == {code}
    assert all(int(reply.headers["retry-after"]) > 0 for reply in refused)
    said = someone.clients[0].get(f"{someone.at}/documents").json()
    assert said["total"] == fits
    names = {reply.json()["items"][0]["document_id"] for reply in replies if reply.status_code == 202}
    assert {each["id"] for each in said["items"]} == names


def test_a_text_counts_too_and_room_comes_back(someone: Someone) -> None:
    """A text too large is refused; what is deleted makes room for another at once."""
    text = {"collection": "papers", "name": "t", "content": "x" * (QUOTA_BYTES + 1)}
    reply = someone.clients[0].post(f"{someone.at}/documents/text", json=text)
    assert (reply.status_code, reply.json()["code"]) == (429, "ERR_QUOTA_BYTES")

    text["content"] = "x" * (QUOTA_BYTES - 10)
    taken = someone.clients[0].post(f"{someone.at}/documents/text", json=text)
    assert taken.status_code == 202
    more = {**text, "content": "y" * 100}
    assert someone.clients[1].post(f"{someone.at}/documents/text", json=more).status_code == 429
    document = taken.json()["items"][0]["document_id"]
    assert someone.clients[0].delete(f"{someone.at}/documents/{document}").status_code == 202
    assert someone.clients[1].post(f"{someone.at}/documents/text", json=more).status_code == 202


def test_the_rate_is_that_of_both_together(someone: Someone) -> None:
    """Eighty at once where thirty a minute may be asked: neither lets in what the other has counted."""
    began = time.monotonic()
    replies = someone.at_once(80, lambda client, _: client.get("/me"))
    filled = (time.monotonic() - began) * REQUESTS / 60

    answered = sum(reply.status_code == 200 for reply in replies)
    assert REQUESTS - 2 <= answered <= REQUESTS + filled + 2
    assert Counter(reply.status_code for reply in replies) == {200: answered, 429: 80 - answered}
    refused = next(reply for reply in replies if reply.status_code == 429)
    assert refused.json()["code"] == "ERR_RATE_LIMITED"
    assert int(refused.headers["retry-after"]) in (1, 2)


def test_who_asked_too_often_keeps_his_connection(both: tuple[Served, Served]) -> None:
    """A newer token on a good connection is taken though no further request is."""
    user = a_user()
    token = a_token(user)
    with raw_tab(both[0].port, token) as tab, both[0].client(token) as client:
        assert tab.hear()["type"] == "ready"
        while client.get("/me").status_code == 200:
            pass
        for _ in range(2):
            tab.say({"type": "auth", "token": a_token(user)})
            assert tab.hear()["type"] == "auth"


async def test_an_answer_another_process_writes_is_told_to_be_on_its_way(
    folder: Path, someone: Someone
) -> None:
    """Asked again under its key: 202 as long as it has not ended, though the client would wait; then 200."""
    client, question = someone.clients[0], "What does a key cost?"
    workspace = WorkspaceId(someone.at.rpartition("/")[2])
    talk = client.post("/conversations", json={"workspace_id": workspace}).json()["id"]
    store = await open_sqlite(Program(folder).data, rules=Rules(), clock=SystemClock())
    try:
        there = await store.write(
            lambda tx: tx.conversations.post(workspace, talk, question, owner="elsewhere", key="slow")
        )

        def ask() -> httpx.Response:
            key = {"Idempotency-Key": "slow"}
            return client.post(f"/conversations/{talk}/messages", json={"content": question}, headers=key)

        reply = ask()
        assert (reply.status_code, reply.json()["answer"]["status"]) == (202, "pending")

        await store.write(lambda tx: tx.conversations.take(there.answer.id, "elsewhere"))
        written = Written(content="Forty crowns.")
        await store.write(lambda tx: tx.conversations.finish(there.answer.id, "elsewhere", written))
        reply = ask()
        assert (reply.status_code, reply.json()["answer"]["content"]) == (200, "Forty crowns.")
    finally:
        await store.close()


def test_a_repeat_is_answered_though_the_first_filled_the_quota(someone: Someone) -> None:
    """By the other process too, and though the collection is gone; a new request is refused as before."""

    def upload(client: httpx.Client, key: str) -> httpx.Response:
        files = [("files", (f"{n}.txt", f"Number {n}.".encode())) for n in range(QUOTA_DOCUMENTS)]
        headers = {"Idempotency-Key": key}
        return client.post(
            f"{someone.at}/documents", data={"collection": "papers"}, files=files, headers=headers
        )

    one, other = someone.clients
    first = upload(one, "fills")
    assert first.status_code == 202
    assert upload(other, "else").json()["code"] == "ERR_QUOTA_DOCUMENTS"
    assert (upload(other, "fills").status_code, upload(other, "fills").json()) == (202, first.json())
    assert one.delete(f"{someone.at}/collections/papers").status_code == 202
    assert (upload(other, "fills").status_code, upload(other, "fills").json()) == (202, first.json())
    assert one.get(f"{someone.at}/documents").json()["total"] == 0


@pytest.mark.parametrize("header", ["If-None-Match", "If-Match", "Last-Event-ID", "Range", "Idempotency-Key"])
def test_a_page_of_an_allowed_origin_may_send_what_the_api_offers(
    both: tuple[Served, Served], header: str
) -> None:
    """The browser asks first, and is told yes."""
    asked = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": header.lower(),
    }
    reply = httpx.options(f"{both[0].address}/api/workspaces", headers=asked)
    assert (reply.status_code, reply.headers["access-control-allow-origin"]) == (200, ORIGIN)


@pytest.mark.parametrize(
    ("asked", "status", "code"),
    [
        ({"Origin": "https://evil.example"}, 403, "ERR_ORIGIN_FORBIDDEN"),
        ({"Access-Control-Request-Headers": "x-of-its-own"}, 400, "ERR_REQUEST_INVALID"),
        ({"Access-Control-Request-Method": "PUT"}, 400, "ERR_REQUEST_INVALID"),
    ],
    ids=["another origin", "a header", "a method"],
)
def test_a_page_that_may_not_is_told_so(
    both: tuple[Served, Served], asked: dict[str, str], status: int, code: str
) -> None:
    """By a problem document, which a page that may ask something else can read."""
    usual = {"Origin": ORIGIN, "Access-Control-Request-Method": "GET"}
    reply = httpx.options(f"{both[0].address}/api/workspaces", headers=usual | asked)
    problem(reply, status, code)
    allowed = reply.headers.get("access-control-allow-origin")
    assert (allowed, "Origin" in reply.headers["vary"]) == (None if "Origin" in asked else ORIGIN, True)

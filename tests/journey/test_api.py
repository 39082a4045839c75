"""The API of the running program, asked by a bare HTTP client: what it gives, and what it refuses."""

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from penstock.model.catalogue import LOCAL_USER, LOCAL_WORKSPACE
from tests.support.command_line import PATIENCE, Program
from tests.support.endpoint import fake_endpoint, streamed
from tests.support.served import Served, serving
from tests.support.stalls import Machine
from tests.support.waiting import until

pytestmark = pytest.mark.xdist_group("api")
TEXT = (
    "# Rooms\n\nA lost key costs forty crowns. Bicycles stand behind the house.\n\n"
    "Lamps are mended by <b>Ann</b>, see [her page](javascript:alert(1)).\n"
)
QUESTION = "What does a lost key cost?"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A program with one ingested document, served with its worker."""
    folder = tmp_path_factory.mktemp("api")
    (folder / "rooms.md").write_text(TEXT)
    program = Program(folder)
    with serving(program, "run", "--role=all") as process:
        assert program("collection", "create", "papers").code == 0
        ran = program("ingest", "submit", "--rag", "papers", "--path", folder / "rooms.md", "--wait")
        assert ran.code == 0, ran.err
        yield process


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as client:
        yield client


def problem(reply: httpx.Response, status: int, code: str) -> dict[str, object]:
    """The problem document of a reply that must be one."""
    assert (reply.status_code, reply.headers["content-type"]) == (status, "application/problem+json"), (
        reply.text
    )
    said: dict[str, object] = reply.json()
    assert (said["status"], said["code"]) == (status, code)
    assert said["type"] == f"urn:penstock:problem:{code}"
    assert said["title"]
    assert said["detail"]
    return said


def test_the_local_user_needs_no_account(client: httpx.Client) -> None:
    """On loopback the person at the machine is known, with the workspace the command line uses."""
    me = client.get("/me").json()
    assert (me["user_id"], me["proof"], me["expires_at"]) == (LOCAL_USER, "local", None)
    assert [each["id"] for each in client.get("/workspaces").json()["items"]] == [LOCAL_WORKSPACE]


def test_workspaces_and_collections_are_made_and_removed(client: httpx.Client) -> None:
    """Each is there at once, under its own name, and gone at once when removed."""
    made = client.post("/workspaces", json={"name": "  Plans \n of Anna "})
    assert made.status_code == 201
    workspace = made.json()
    assert workspace["name"] == "Plans of Anna"
    at = f"/workspaces/{workspace['id']}"
    assert client.get(at).json() == workspace
    assert client.patch(at, json={"name": "Ideas"}).json()["name"] == "Ideas"

    said = client.post(f"{at}/collections", json={"name": "papers", "description": "All of them"})
    assert said.status_code == 201
    assert said.json()["documents"] == {"pending": 0, "parsed": 0, "ingested": 0, "error": 0}
    assert client.post(f"{at}/collections", json={"name": "papers"}).status_code == 200
    other = client.post(f"{at}/collections", json={"name": "papers", "description": "Else"})
    problem(other, 409, "ERR_COLLECTION_EXISTS")
    assert [each["name"] for each in client.get(f"{at}/collections").json()["items"]] == ["papers"]
    assert client.delete(f"{at}/collections/papers").status_code == 202
    problem(client.get(f"{at}/collections/papers"), 404, "ERR_COLLECTION_UNKNOWN")

    assert client.delete(at).status_code == 202
    problem(client.get(at), 404, "ERR_WORKSPACE_UNKNOWN")
    problem(client.delete(f"/workspaces/{LOCAL_WORKSPACE}"), 409, "ERR_WORKSPACE_LOCAL")


def test_a_question_is_answered_with_its_source(client: httpx.Client) -> None:
    """Search and query find the document and quote it exactly."""
    at = f"/workspaces/{LOCAL_WORKSPACE}"
    found = client.post(f"{at}/search", json={"query": QUESTION, "top_k": 3}).json()
    assert found["hits"][0]["document"] == "rooms.md"

    for path, more in ((f"{at}/query", {}), ("/query", {"workspace_id": LOCAL_WORKSPACE})):
        answer = client.post(path, json={"question": QUESTION, "collection": "papers", **more}).json()
        assert answer["kind"] == "extractive"
        (citation,) = answer["citations"]
        assert "forty crowns" in citation["quotes"][0]["text"]
        assert (
            TEXT[citation["quotes"][0]["start"] : citation["quotes"][0]["end"]]
            == (citation["quotes"][0]["text"])
        )

    nothing = client.post(f"{at}/query", json={"question": QUESTION, "threshold": 1.0}).json()
    assert (nothing["found"], nothing["citations"]) == (False, [])
    unknown = client.post(f"{at}/query", json={"question": QUESTION, "collection": "none"})
    problem(unknown, 404, "ERR_COLLECTION_UNKNOWN")


def test_what_a_document_says_is_safe_to_show_and_quoted_exactly(client: httpx.Client) -> None:
    """Nothing in an answer's text acts in a viewer; its claims are counted in that text."""
    asked = {"question": "Who mends the lamps?", "workspace_id": LOCAL_WORKSPACE}
    answer = client.post("/query", json=asked).json()
    assert "< b>Ann< /b>, see [her page] (javascript: alert(1))" in answer["text"]
    for claim in answer["claims"]:
        assert answer["text"][claim["start"] : claim["end"]] == claim["text"]
    assert "by <b>Ann</b>, see" in answer["citations"][0]["quotes"][0]["text"]


def test_a_conversation_keeps_what_was_asked_and_answered(client: httpx.Client) -> None:
    """The whole answer in the response, or 202 and an answer that ends by itself."""
    talk = client.post("/conversations", json={"workspace_id": LOCAL_WORKSPACE, "collections": ["papers"]})
    assert talk.status_code == 201
    at = f"/conversations/{talk.json()['id']}/messages"

    posted = client.post(at, json={"content": QUESTION}, headers={"Idempotency-Key": "one"})
    assert posted.status_code == 200
    assert posted.json()["question"]["status"] == "done"
    answer = posted.json()["answer"]
    assert (answer["status"], answer["role"]) == ("done", "ai")
    assert "forty crowns" in answer["content"]
    again = client.post(at, json={"content": QUESTION}, headers={"Idempotency-Key": "one"})
    assert again.json() == posted.json()

    preferred = [("Prefer", "wait=5"), ("Prefer", "respond-async;wait=5")]
    later = client.post(at, json={"content": "And bicycles?"}, headers=preferred)
    assert (later.status_code, later.json()["answer"]["status"]) == (202, "pending")
    ended = follow(client, f"{at}/{later.json()['answer']['id']}")
    assert ended["status"] == "done"

    more = client.post(f"{at}/{answer['id']}/regenerate")
    assert (more.json()["status"], more.json()["reply_to"]) == ("done", answer["reply_to"])
    assert client.post(f"{at}/{answer['id']}/stop").json() == {"stopped": False}
    numbers = [each["number"] for each in client.get(at).json()["items"]]
    assert numbers == [1, 2, 3, 4, 5]
    assert client.get(at, params={"after": 3}).json()["items"][0]["number"] == 4

    assert client.delete(f"/conversations/{talk.json()['id']}").status_code == 204
    problem(client.get(at), 404, "ERR_CONVERSATION_UNKNOWN")


def follow(client: httpx.Client, path: str) -> dict[str, object]:
    """An answer, once it has ended."""
    until("the answer has ended", lambda: client.get(path).json()["status"] in ("done", "error"))
    said: dict[str, object] = client.get(path).json()
    return said


def test_conversations_are_paged_by_their_news(client: httpx.Client) -> None:
    """Each once, the latest first, whatever the size of a page; a cursor of one's own making is refused."""
    made = [
        client.post("/conversations", json={"workspace_id": LOCAL_WORKSPACE, "title": f"t{n}"}).json()["id"]
        for n in range(5)
    ]
    seen: list[str] = []
    after: str | None = None
    while True:
        chosen = {"workspace_id": LOCAL_WORKSPACE, "limit": "2"} | ({} if after is None else {"after": after})
        page = client.get("/conversations", params=chosen).json()
        seen += [each["id"] for each in page["items"]]
        after = page["next"]
        if after is None:
            break
    assert seen == made[::-1]
    for cursor in ("x", "bmFuIHg=", "aW5mIHg="):
        problem(client.get("/conversations", params={"after": cursor}), 422, "ERR_CURSOR_INVALID")
    for each in made:
        client.delete(f"/conversations/{each}")


@pytest.mark.parametrize(
    ("path", "body", "code"),
    [
        ("/query", {"question": "x" * 100_000}, "ERR_QUERY_INVALID"),
        ("/query", {"question": " \x00 "}, "ERR_QUERY_INVALID"),
        ("/query", {"question": QUESTION, "top_k": 0}, "ERR_REQUEST_INVALID"),
        ("/query", {"question": QUESTION, "topk": 3}, "ERR_REQUEST_INVALID"),
        ("/query", {"question": 7}, "ERR_REQUEST_INVALID"),
        ("/query", [], "ERR_REQUEST_INVALID"),
        ("/workspaces", {"name": " "}, "ERR_WORKSPACE_NAME_INVALID"),
        ("/workspaces", {"name": "x" * 101}, "ERR_WORKSPACE_NAME_INVALID"),
        (f"/workspaces/{LOCAL_WORKSPACE}/collections", {"name": "a/../b"}, "ERR_COLLECTION_INVALID"),
        ("/conversations", {"title": "x" * 201}, "ERR_TITLE_INVALID"),
    ],
)
def test_what_is_wrong_is_named(client: httpx.Client, path: str, body: object, code: str) -> None:
    """A problem document that says which field, and never a 500."""
    said = problem(client.post(path, json=body), 422, code)
    assert code != "ERR_REQUEST_INVALID" or said["errors"]


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"\xff\xfe", 400), (b"[" * 100_000, 400), (b'{"question": NaN}', 422), (b"", 422)],
)
def test_a_body_that_is_no_json_is_refused(client: httpx.Client, body: bytes, status: int) -> None:
    """Whatever the bytes are."""
    reply = client.post("/query", content=body, headers={"Content-Type": "application/json"})
    problem(reply, status, "ERR_REQUEST_INVALID")


def test_addresses_nobody_serves_are_told_so(client: httpx.Client) -> None:
    """With problem documents too."""
    problem(client.get("/nowhere"), 404, "ERR_ROUTE_UNKNOWN")
    problem(client.put("/me"), 405, "ERR_METHOD_UNKNOWN")
    reply = client.put(f"/workspaces/{LOCAL_WORKSPACE}")
    problem(reply, 405, "ERR_METHOD_UNKNOWN")
    assert reply.headers["allow"] == "DELETE, GET, PATCH"


def test_the_websocket_says_what_it_is(client: httpx.Client) -> None:
    """Whoever asks for its address as for a page is told so, as the reference says."""
    reply = client.get(str(client.base_url).removesuffix("/api/") + "/ws")

    problem(reply, 426, "ERR_UPGRADE_REQUIRED")
    assert reply.headers["upgrade"] == "websocket"
    assert "426" in client.get("/openapi.json").json()["paths"]["/ws"]["get"]["responses"]


@pytest.mark.parametrize(
    ("target", "more", "status", "code"),
    [
        ("/ws/", {}, 404, "ERR_ROUTE_UNKNOWN"),
        ("/api/me", {}, 404, "ERR_ROUTE_UNKNOWN"),
        ("/nowhere", {"Origin": "https://evil.example"}, 403, "ERR_ORIGIN_FORBIDDEN"),
        ("/api/ws", {"Host": "evil.example"}, 403, "ERR_HOST_FORBIDDEN"),
        ("/ws", {"Sec-WebSocket-Version": "8"}, 400, "ERR_REQUEST_INVALID"),
        ("/ws", {"X": "y" * 40_000}, 431, "ERR_HEAD_TOO_LARGE"),
        ("/ws", {f"X-{each}": "y" for each in range(110)}, 431, "ERR_HEAD_TOO_LARGE"),
    ],
    ids=["a slash too much", "no WebSocket", "a page", "a name", "a version", "a long head", "a full head"],
)
def test_a_handshake_that_is_refused_is_told_as_everything_is(
    client: httpx.Client, target: str, more: dict[str, str], status: int, code: str
) -> None:
    """By a problem document, whatever is wrong with it."""
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
    headers = {**upgrade, "Sec-WebSocket-Key": "A" * 22 + "==", **more}
    reply = client.get(str(client.base_url).removesuffix("/api/") + target, headers=headers)
    problem(reply, status, code)
    assert reply.headers["cache-control"] == "no-store"
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_a_handshake_by_an_older_http_is_refused(client: httpx.Client) -> None:
    """RFC 6455 asks for 1.1."""
    where = client.base_url
    with socket.create_connection((where.host, where.port or 80), timeout=10) as line:
        head = f"GET /ws HTTP/1.0\r\nHost: {where.netloc.decode()}\r\n"
        upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        line.sendall(f"{head}{upgrade}Sec-WebSocket-Key: {'A' * 22}==\r\n\r\n".encode())
        assert line.recv(4096).startswith(b"HTTP/1.1 400 ")


def test_the_websocket_has_another_name_below_the_api(client: httpx.Client) -> None:
    """Where it is not asked for as one it says the same; it is told once."""
    problem(client.get("/ws"), 426, "ERR_UPGRADE_REQUIRED")
    assert "/api/ws" not in client.get("/openapi.json").json()["paths"]


def test_a_body_larger_than_the_limit_is_not_read(client: httpx.Client) -> None:
    """It is refused by what it says of its length; what comes all the same is thrown away."""
    reply = client.post("/query", content=b'{"question": "' + b"x" * 3_000_000 + b'"}')
    problem(reply, 413, "ERR_BODY_TOO_LARGE")


def test_a_body_that_says_it_is_larger_is_not_waited_for(client: httpx.Client) -> None:
    """The answer is there before a byte of the body is."""
    where = client.base_url
    with socket.create_connection((where.host, where.port or 80), timeout=10) as line:
        head = f"POST /api/query HTTP/1.1\r\nHost: {where.netloc.decode()}\r\n"
        line.sendall(f"{head}Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n".encode())
        assert line.recv(4096).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"Host": "penstock.example"}, "ERR_HOST_FORBIDDEN"),
        ({"Origin": "http://evil.example"}, "ERR_ORIGIN_FORBIDDEN"),
        ({"Origin": "null"}, "ERR_ORIGIN_FORBIDDEN"),
    ],
)
def test_a_foreign_page_is_not_answered(client: httpx.Client, headers: dict[str, str], code: str) -> None:
    """Without passwords only our own name and page count, also where nobody is asked who he is."""
    for path in ("/me", "/openapi.json", "/nothing"):
        problem(client.get(path, headers=headers), 403, code)
    own = str(client.base_url).removesuffix("/api/")
    assert client.get("/me", headers={"Origin": own}).status_code == 200


@pytest.mark.parametrize(
    "head",
    [
        b"GET /api/me HTTP/1.1\r\nHost: HERE\r\nHost: evil.example\r\n\r\n",
        b"GET /api/me HTTP/1.1\r\nHost: HERE\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
        b"GET /api/me HTTP/1.1\r\nHost: HERE\r\n"
        + b"".join(b"X%d: y\r\n" % n for n in range(9_000))
        + b"\r\n",
        b"POST /api/query HTTP/1.1\r\nHost: HERE\r\nContent-Length: -5\r\n\r\n",
        b"POST /api/query HTTP/1.1\r\nHost: HERE\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcde",
        b"POST /api/query HTTP/1.1\r\nHost: HERE\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        b"\x16\x03\x01\x00\xa5\x01\x00",
        b"GET /api/me\r\n\r\n",
    ],
    ids=[
        "two hosts",
        "long header",
        "many headers",
        "negative length",
        "two lengths",
        "two bodies",
        "tls",
        "old",
    ],
)
def test_heads_nobody_should_send_are_refused_at_once(served: Served, head: bytes) -> None:
    """The answer is a refusal or a closed connection, within moments, and the next request is answered."""
    with socket.create_connection(("127.0.0.1", served.port), timeout=20) as raw:
        raw.sendall(head.replace(b"HERE", served.host.encode()))
        raw.shutdown(socket.SHUT_WR)
        reply = b""
        while piece := raw.recv(65536):
            reply += piece
    assert not reply or reply.startswith((b"HTTP/1.1 4", b"HTTP/1.0 4"))
    assert not reply or b"application/problem+json" in reply
    assert b"chunked" not in head or reply.startswith(b"HTTP/1.1 400")
    with served.client() as client:
        assert client.get("/me").status_code == 200


def test_an_answer_goes_on_without_the_one_who_asked(served: Served, client: httpx.Client) -> None:
    """A client that leaves in the middle costs its answer nothing."""
    talk = client.post("/conversations", json={"workspace_id": LOCAL_WORKSPACE}).json()["id"]
    body = json.dumps({"content": QUESTION}).encode()
    head = (
        f"POST /api/conversations/{talk}/messages HTTP/1.1\r\nHost: {served.host}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()

    async def ask_and_leave() -> None:
        _, writer = await asyncio.open_connection("127.0.0.1", served.port)
        writer.write(head + body)
        await writer.drain()
        writer.transport.abort()

    asyncio.run(ask_and_leave())

    def states() -> list[str]:
        return [each["status"] for each in client.get(f"/conversations/{talk}/messages").json()["items"]]

    until("the answer has ended", lambda: states()[1:] in (["done"], ["error"]))
    assert states() == ["done", "done"]
    client.delete(f"/conversations/{talk}")


def test_the_program_ends_in_good_order(tmp_path_factory: pytest.TempPathFactory, machine: Machine) -> None:
    """SIGTERM: the serving process is gone with its parent, the code is 0, and whoever waits is answered.

    A second question waits for the model to say it in full, which it does not.
    """
    program = Program(tmp_path_factory.mktemp("end"))
    with fake_endpoint(streamed(["What "], hang=True)) as endpoint, ThreadPoolExecutor(1) as beside:
        model = {"PENSTOCK_ANSWERER": endpoint.url, "PENSTOCK_ANSWERING_MODEL": "fake"}
        with serving(program, env=model) as served, served.client() as client:
            talk = client.post("/conversations", json={"workspace_id": LOCAL_WORKSPACE}).json()["id"]
            assert client.post(f"/conversations/{talk}/messages", json={"content": QUESTION}).is_success
            asking = beside.submit(client.post, f"/conversations/{talk}/messages", json={"content": "Why?"})
            assert endpoint.arrived.wait(PATIENCE)
            began = time.monotonic()
            assert served.stop() == 0
            answer = asking.result(PATIENCE).json()["answer"]
            took = time.monotonic() - began
        assert (answer["status"], answer["error_code"]) == ("error", "ERR_INTERRUPTED")
        assert took < 8.0 + machine.lost(began)
        assert not [line for line in served.lines if "rror" in line]
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{served.address}/api/me")


def test_a_port_that_is_taken_is_told(served: Served, tmp_path_factory: pytest.TempPathFactory) -> None:
    """With what to do, and the code of a wrong configuration; nothing else is said, and nothing is made."""
    program = Program(tmp_path_factory.mktemp("taken"))
    (program.folder / "docs").mkdir()
    (program.folder / "docs" / "a.md").write_text("Tea is at five.")
    for words in (("serve",), ("run", "--sample", "docs")):
        ran = program(*words, "--port", str(served.port))

        assert ran.code == 3
        assert ran.err.startswith(f"error: 127.0.0.1:{served.port} cannot be listened on")
        assert "another program listens there, perhaps a Penstock of this folder" in ran.err
        assert f"PENSTOCK_HTTP_PORT={served.port + 1} make run" in ran.err
        assert "--port or http.port" in ran.err
        assert ran.out == ""
        assert not program.data.exists()


def test_a_post_under_a_key_makes_one_thing(client: httpx.Client) -> None:
    """A workspace, a collection, a job: answered as before, and another request under the key is refused."""
    local = f"/workspaces/{LOCAL_WORKSPACE}"
    job = client.get(f"{local}/jobs", params={"status": "success"}).json()["items"][-1]["id"]
    for key, path, body, other in (
        ("k-space", "/workspaces", {"name": "Kept"}, {"name": "Else"}),
        ("k-shelf", f"{local}/collections", {"name": "kept"}, {"name": "else"}),
        ("k-job", f"{local}/jobs/{job}/retry", None, None),
    ):
        headers = {"Idempotency-Key": key}
        first = client.post(path, json=body, headers=headers)
        assert first.status_code in (201, 202), first.text
        again = client.post(path, json=body, headers=headers)
        assert (again.status_code, again.json()) == (first.status_code, first.json())
        if other is not None:
            problem(client.post(path, json=other, headers=headers), 409, "ERR_IDEMPOTENCY_MISMATCH")
    runs = [each for each in client.get(f"{local}/jobs").json()["items"] if each["replay_of"] == job]
    assert len(runs) == 1
    made = [each for each in client.get("/workspaces").json()["items"] if each["name"] in ("Kept", "Else")]
    assert len(made) == 1
    for path in (f"/workspaces/{made[0]['id']}", f"{local}/collections/kept"):
        assert client.delete(path).status_code == 202


def test_a_request_under_two_keys_is_refused(client: httpx.Client) -> None:
    """Nobody could say which of them it is known by when it is sent again."""
    keys = [("Idempotency-Key", "one"), ("Idempotency-Key", "two")]
    talk = client.post("/conversations", json={"workspace_id": LOCAL_WORKSPACE}).json()["id"]
    for path, body in (
        ("/workspaces", {"name": "Twice"}),
        (f"/conversations/{talk}/messages", {"content": QUESTION}),
    ):
        problem(client.post(path, json=body, headers=keys), 422, "ERR_IDEMPOTENCY_KEY_INVALID")
    assert client.get(f"/conversations/{talk}/messages").json()["items"] == []
    assert client.delete(f"/conversations/{talk}").status_code == 204


def test_of_equal_collections_at_once_one_is_made(client: httpx.Client) -> None:
    """One is told that it was made, the others that it was there."""
    at = f"/workspaces/{LOCAL_WORKSPACE}/collections"
    with ThreadPoolExecutor(8) as threads:
        codes = sorted(threads.map(lambda _: client.post(at, json={"name": "rush"}).status_code, range(8)))
    assert codes == [*[200] * 7, 201]
    assert client.delete(f"{at}/rush").status_code == 202


def test_of_changes_to_what_was_seen_at_once_one_is_made(client: httpx.Client) -> None:
    """The tag of what was seen lets one through; whoever has it already is told so."""
    made = client.post("/workspaces", json={"name": "Seen"}).json()["id"]
    at = f"/workspaces/{made}"
    tag = client.get(at).headers["etag"]
    assert client.get(at, headers={"If-None-Match": tag}).status_code == 304

    def rename(number: int) -> httpx.Response:
        return client.patch(at, json={"name": f"Seen {number}"}, headers={"If-Match": tag})

    with ThreadPoolExecutor(6) as threads:
        replies = list(threads.map(rename, range(6)))
    assert sorted(each.status_code for each in replies) == [200, *[412] * 5]
    (won,) = (each for each in replies if each.status_code == 200)
    assert client.get(at).headers["etag"] == won.headers["etag"] != tag
    weak = {"If-Match": f"W/{won.headers['etag']}"}
    problem(client.patch(at, json={"name": "Weak"}, headers=weak), 412, "ERR_PRECONDITION")
    for lost in ("", ",", '""'):
        reply = client.patch(at, json={"name": "Lost"}, headers={"If-Match": lost})
        problem(reply, 412, "ERR_PRECONDITION")
    lines = [("If-Match", '"another"'), ("If-Match", won.headers["etag"])]
    assert client.patch(at, json={"name": "Lines"}, headers=lines).status_code == 200
    shelf = f"/workspaces/{LOCAL_WORKSPACE}/collections/papers"
    known = {"If-None-Match": client.get(shelf).headers["etag"]}
    assert client.get(shelf, headers=known).status_code == 304
    assert client.delete(at).status_code == 202


def test_a_conversation_under_a_key_is_opened_once_and_answered_once(client: httpx.Client) -> None:
    """So is an answer written anew; another question under the key of one is refused."""
    body = {"workspace_id": LOCAL_WORKSPACE, "title": "Keyed"}
    key = {"Idempotency-Key": "talk-1"}
    talk = client.post("/conversations", json=body, headers=key)
    assert talk.status_code == 201
    assert client.post("/conversations", json=body, headers=key).json() == talk.json()
    other = client.post("/conversations", json={**body, "title": "Else"}, headers=key)
    problem(other, 409, "ERR_IDEMPOTENCY_MISMATCH")

    at = f"/conversations/{talk.json()['id']}/messages"
    answer = client.post(at, json={"content": QUESTION}, headers=key).json()["answer"]
    other = client.post(at, json={"content": "Who counts the keys?"}, headers=key)
    problem(other, 409, "ERR_IDEMPOTENCY_MISMATCH")
    anew = {"Idempotency-Key": "anew"}
    more = client.post(f"{at}/{answer['id']}/regenerate", headers=anew)
    assert (more.status_code, more.json()["status"]) == (200, "done")
    assert client.post(f"{at}/{answer['id']}/regenerate", headers=anew).json() == more.json()
    assert len(client.get(at).json()["items"]) == 3
    client.delete(f"/conversations/{talk.json()['id']}")


def test_a_conversation_is_changed_as_a_whole_or_not_at_all(client: httpx.Client) -> None:
    """What is wrong in one word leaves the others as they were; of changes to what was seen one is made."""
    at = (
        "/conversations/" + client.post("/conversations", json={"workspace_id": LOCAL_WORKSPACE}).json()["id"]
    )
    wrong = {"collections": ["papers"], "title": "x" * 999}
    problem(client.patch(at, json=wrong), 422, "ERR_TITLE_INVALID")
    problem(client.patch(at, json={"title": "Set", "collections": ["none"]}), 404, "ERR_COLLECTION_UNKNOWN")
    seen = client.get(at)
    assert (seen.json()["collections"], seen.json()["title"]) == ([], "")

    tag = {"If-Match": seen.headers["etag"]}
    done = client.patch(at, json={"collections": ["papers"], "title": "Set"}, headers=tag)
    assert (done.status_code, done.json()["collections"], done.json()["title"]) == (200, ["papers"], "Set")
    problem(client.patch(at, json={"title": "Late"}, headers=tag), 412, "ERR_PRECONDITION")
    known = {"If-None-Match": done.headers["etag"]}
    assert client.get(at, headers=known).status_code == 304
    client.delete(at)

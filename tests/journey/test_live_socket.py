"""The WebSocket of a real server process: who is let in, what is told, and how each connection ends."""

import asyncio
import contextlib
import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from socket import create_connection
from statistics import median

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from penstock.doors.live.strangers import STRANGERS_MAX
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.conversations import MessageDelta, MessageId
from penstock.model.events import DocumentStatusUpdated
from penstock.model.principals import Principal
from penstock.model.rules import Rules
from penstock.ports.database import Transaction
from tests.support.live import PATIENCE, LiveServer, a_token, a_user, closed, heard, live_server
from tests.support.stalls import Machine

pytestmark = pytest.mark.xdist_group("live")
HANDSHAKE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)

TEAR = """CREATE TRIGGER "torn {user}" AFTER INSERT ON events WHEN NEW.user_id = '{user}' AND NEW.seq = 2
BEGIN UPDATE events SET payload_json = {damage} WHERE user_id = NEW.user_id AND seq = 2; END"""
"""Damage one event before anybody can read it."""
SHORT_LIFE = 8.0
"""Seconds of a token that is to end in a test, and not before it was shown."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("live"), per_user=3, replay=50, slow_seconds=1.0) as server:
        yield server


@pytest.fixture
async def store(server: LiveServer) -> Iterator[SqliteStore]:  # type: ignore[misc]
    """Another process' way to the same data."""
    store = await open_sqlite(server.log.parent, rules=Rules(), clock=SystemClock(), synchronous="normal")
    yield store
    await store.close()


def moved(user: str, times: int = 1, text: str = "parsed") -> Callable[[Transaction], None]:
    def work(tx: Transaction) -> None:
        for _ in range(times):
            tx.append_event(user, DocumentStatusUpdated(workspace_id="w", document_id="d", status=text))

    return work


async def test_each_way_to_sign_in_is_let_in(server: LiveServer, store: SqliteStore) -> None:
    """Header, address, ticket and first message: all are told where they stand."""
    user = a_user()
    ticket = await store.tickets.issue(Principal(user=user))
    ways: list[dict[str, object]] = [
        {"headers": {"Authorization": f"Bearer {a_token(user)}"}},
        {"token": a_token(user)},
        {"ticket": ticket},
    ]
    for way in ways:
        async with server.connect(**way) as socket:  # type: ignore[arg-type]
            assert await heard(socket) == {"type": "ready", "payload": {"seq": 0, "ts": None}}
    async with server.connect() as socket:
        await socket.send(json.dumps({"type": "auth", "token": a_token(user)}))
        assert (await heard(socket))["type"] == "ready"
    assert a_token(user).split(".")[0] not in server.log.read_text()
    assert ticket not in server.log.read_text()


async def test_who_came_by_ticket_goes_on_with_another_and_since(
    server: LiveServer, store: SqliteStore
) -> None:
    """The line breaks without a word: the used ticket opens nothing, a new one tells what was missed."""
    user = a_user()
    used = await store.tickets.issue(Principal(user=user))
    async with server.connect(ticket=used) as socket:
        where = (await heard(socket))["payload"]
        socket.transport.abort()
    await store.write(moved(user, 2))

    async with server.connect(ticket=used, since=where["seq"]) as socket:
        assert await closed(socket) == (4401, "ERR_TICKET_INVALID")
    again = await store.tickets.issue(Principal(user=user))
    async with server.connect(ticket=again, since=where["seq"]) as socket:
        told = [await heard(socket) for _ in range(3)]

    assert [(each["type"], each.get("seq")) for each in told] == [
        ("document.status_updated", 1),
        ("document.status_updated", 2),
        ("ready", None),
    ]


@pytest.mark.parametrize(
    ("words", "ending"),
    [
        ({"token": "nonsense"}, (4401, "ERR_TOKEN_INVALID")),
        ({"token": a_token(a_user(), seconds=-5)}, (4401, "ERR_TOKEN_EXPIRED")),
        ({"ticket": "t" * 40}, (4401, "ERR_TICKET_INVALID")),
        ({"token": a_token(a_user()), "since": "soon"}, (4400, "ERR_SINCE_INVALID")),
        ({"token": a_token(a_user()), "since": "-1"}, (4400, "ERR_SINCE_INVALID")),
    ],
)
async def test_a_refusal_is_a_close_with_its_code(
    server: LiveServer, words: dict[str, object], ending: tuple[int, str]
) -> None:
    """The upgrade is made, so that a browser is shown why."""
    async with server.connect(**words) as socket:  # type: ignore[arg-type]
        assert await closed(socket) == ending


async def test_who_says_nothing_is_closed_in_time(server: LiveServer, machine: Machine) -> None:
    """Without a token there are five seconds for a first message."""
    begun = time.monotonic()
    async with server.connect() as socket:
        assert await closed(socket) == (4401, "ERR_TOKEN_MISSING")
    assert 4.0 < time.monotonic() - begun < 20.0 + machine.lost(begun)


async def test_connections_that_say_nothing_keep_nobody_out(server: LiveServer) -> None:
    """However many there are: who brings a token is let in, and who says at once who he is."""
    token = a_token(a_user())
    with contextlib.ExitStack() as stack:
        for _ in range(STRANGERS_MAX + 10):
            raw = stack.enter_context(create_connection(("127.0.0.1", server.port), timeout=PATIENCE))
            raw.sendall(HANDSHAKE)
            assert raw.recv(12) == b"HTTP/1.1 101"

        async with server.connect(headers={"Authorization": f"Bearer {token}"}) as socket:
            assert (await heard(socket))["type"] == "ready"
        async with server.connect() as socket:
            await socket.send(json.dumps({"type": "auth", "token": token}))
            assert (await heard(socket))["type"] == "ready"


async def test_a_foreign_page_gets_no_upgrade(server: LiveServer) -> None:
    """Its Origin gives it away; it is answered in plain HTTP, and never connected."""
    with pytest.raises(InvalidStatus) as refused:
        async with server.connect(headers={"Origin": "https://evil.example"}, token=a_token(a_user())):
            pass
    assert refused.value.response.status_code == 403
    assert json.loads(refused.value.response.body)["code"] == "ERR_ORIGIN_FORBIDDEN"


@pytest.mark.parametrize(
    ("message", "ending"),
    [
        ('{"type": "subscribe"}', (4400, "ERR_FRAME_INVALID")),
        ("hello", (4400, "ERR_FRAME_INVALID")),
        ("[" * 10_000, (4400, "ERR_FRAME_INVALID")),
        (b"\x00\x01", (4400, "ERR_FRAME_INVALID")),
        ('{"type": "auth", "token": "' + "x" * 9_000 + '"}', (4401, "ERR_TOKEN_INVALID")),
        (json.dumps({"type": "auth", "token": a_token(a_user())}), (4401, "ERR_TOKEN_INVALID")),
    ],
    ids=["another message", "no JSON", "deep", "bytes", "long", "another user's token"],
)
async def test_a_message_we_do_not_read_closes(
    server: LiveServer, message: str | bytes, ending: tuple[int, str]
) -> None:
    """Also the token of another user: a connection belongs to one."""
    async with server.connect(token=a_token(a_user())) as socket:
        await heard(socket)
        await socket.send(message)
        assert await closed(socket) == ending


async def test_a_message_too_large_closes(server: LiveServer) -> None:
    """It is not even read to its end."""
    async with server.connect(token=a_token(a_user())) as socket:
        await heard(socket)
        await socket.send("x" * 20_000)
        assert (await closed(socket))[0] == 1009


async def test_a_connection_ends_with_its_token_unless_it_is_given_a_newer_one(server: LiveServer) -> None:
    """4401 when the time is over; a newer token of the same user moves the end."""
    user = a_user()
    async with server.connect(token=a_token(user, seconds=SHORT_LIFE)) as goes_on:
        await heard(goes_on)
        await goes_on.send(json.dumps({"type": "auth", "token": a_token(user)}))
        said = await heard(goes_on)
        assert said["type"] == "auth"
        assert datetime.fromisoformat(said["payload"]["expires_at"]).tzinfo == UTC  # as everywhere else
        async with server.connect(
            token=a_token(user, seconds=SHORT_LIFE)
        ) as ends:  # later than the other's first one
            await heard(ends)
            assert await closed(ends) == (4401, "ERR_TOKEN_EXPIRED")
        await (await goes_on.ping())


async def test_every_tab_of_a_user_is_told_and_nobody_else(server: LiveServer, store: SqliteStore) -> None:
    """The documented envelope, with number and time beside it, once for each tab."""
    ann, bo = a_user(), a_user()
    async with (
        server.connect(token=a_token(ann)) as first,
        server.connect(token=a_token(ann)) as second,
        server.connect(token=a_token(bo)) as foreign,
    ):
        for socket in (first, second, foreign):
            await heard(socket)
        await store.write(moved(ann))
        await store.write(moved(bo, text="ingested"))

        told = [await heard(first), await heard(second)]
        assert told[0] == told[1]
        assert told[0].pop("ts").endswith("Z")
        assert told[0] == {
            "type": "document.status_updated",
            "payload": {"workspace_id": "w", "document_id": "d", "status": "parsed"},
            "seq": 1,
        }
        assert (await heard(foreign))["payload"]["status"] == "ingested"


async def test_what_was_missed_is_told_first(server: LiveServer, store: SqliteStore) -> None:
    """From the number the client has, in order, then live."""
    user = a_user()
    await store.write(moved(user, 7))
    async with server.connect(token=a_token(user), since=3) as socket:
        told = [await heard(socket) for _ in range(4)]
        assert [each["seq"] for each in told] == [4, 5, 6, 7]
        assert await heard(socket) == {"type": "ready", "payload": {"seq": 7, "ts": told[-1]["ts"]}}
        await store.write(moved(user))
        assert (await heard(socket))["seq"] == 8


@pytest.mark.parametrize("damage", ["'{'", "'[1]'", "'NaN'", "''", "x'7b7d'", "CAST(x'7bc3' AS TEXT)"])
async def test_a_damaged_row_of_the_log_is_a_gap_that_is_told(
    server: LiveServer, store: SqliteStore, damage: str
) -> None:
    """Nobody is sent what is no message: live or missed, his client is told to read anew, and goes on."""
    user, other = a_user(), a_user()

    def work(tx: Transaction) -> None:
        moved(user, 3)(tx)
        moved(other)(tx)

    async with (
        server.connect(token=a_token(user)) as live,
        server.connect(token=a_token(other)) as neighbour,
    ):
        for socket in (live, neighbour):
            assert (await heard(socket))["type"] == "ready"
        await store.change(lambda db: db.execute(TEAR.format(damage=damage, user=user)))
        await store.write(work)
        assert (await heard(live))["payload"]["reason"] == "forgotten"
        assert (await heard(neighbour))["seq"] == 1
        await store.write(moved(user))
        assert (await heard(live))["seq"] == 4
    async with server.connect(token=a_token(user), since=0) as socket:
        told = await heard(socket)
        assert (told["type"], told["payload"]["reason"], told["payload"]["seq"]) == ("resync", "forgotten", 4)
        assert (await heard(socket))["type"] == "ready"
    async with server.connect(token=a_token(user), since=2) as socket:
        assert [(await heard(socket))["seq"] for _ in range(2)] == [3, 4]


@pytest.mark.parametrize(
    ("since", "reason"), [(0, "too_many"), (59, "future"), (9, "forgotten")], ids=lambda each: str(each)
)
async def test_a_gap_that_is_not_told_is_a_snapshot(
    server: LiveServer, store: SqliteStore, since: int, reason: str
) -> None:
    """Too far back, never given, no longer kept: the client is told to read anew, and from where on."""
    user = a_user()
    await store.write(moved(user, 58))
    if reason == "forgotten":
        await store.change(
            lambda db: db.execute("DELETE FROM events WHERE user_id = ? AND seq < 20", (user,))
        )
    async with server.connect(token=a_token(user), since=since) as socket:
        told = await heard(socket)
        assert (told["type"], told["payload"]["reason"], told["payload"]["seq"]) == ("resync", reason, 58)
        assert (told["payload"]["documents"], told["payload"]["answers"]) == ([], [])
        assert (await heard(socket))["type"] == "ready"
        await store.write(moved(user))
        assert (await heard(socket))["seq"] == 59


async def test_words_of_an_answer_another_process_writes_are_told(
    server: LiveServer, store: SqliteStore
) -> None:
    """As deltas without a number, from what the owner keeps in the message; and in the snapshot."""
    user = a_user()

    def work(tx: Transaction) -> MessageId:
        tx.accounts.sign_in(user)
        workspace = tx.accounts.open(user, "mine").id
        talk = tx.conversations.open(workspace)
        posted = tx.conversations.post(workspace, talk.id, "Who?", owner="other")
        assert tx.conversations.take(posted.answer.id, "other") is not None
        return posted.answer.id

    answer = await store.write(work)
    async with server.connect(token=a_token(user)) as socket:
        assert (await heard(socket))["type"] == "ready"
        await store.transcript.renew("other", {answer: "It is "})
        first = await heard(socket)
        await store.transcript.renew("other", {answer: "It is Ann."})
        second = await heard(socket)

    assert [each["type"] for each in (first, second)] == ["message.delta", "message.delta"]
    assert "seq" not in first
    assert [(each["payload"]["start"], each["payload"]["text"]) for each in (first, second)] == [
        (0, "It is "),
        (6, "Ann."),
    ]
    async with server.connect(token=a_token(user), since=1_000) as socket:
        (running,) = (await heard(socket))["payload"]["answers"]
        assert (running["message_id"], running["content"]) == (answer, "It is Ann.")


async def test_connections_of_a_user_are_bounded(server: LiveServer) -> None:
    """The one too many is told so; a place that is left is free again."""
    user = a_user()
    sockets = [await server.connect(token=a_token(user)) for _ in range(3)]
    for socket in sockets:
        await heard(socket)
    async with server.connect(token=a_token(user)) as socket:
        assert await closed(socket) == (4429, "ERR_CONNECTIONS")
    await sockets.pop().close()
    async with server.connect(token=a_token(user)) as socket:
        assert (await heard(socket))["type"] == "ready"
    for socket in sockets:
        await socket.close()


async def test_a_reader_that_stands_still_is_closed(server: LiveServer, store: SqliteStore) -> None:
    """With a code of its own, while its neighbour gets everything."""
    user = a_user()
    async with (
        server.connect(token=a_token(user)) as still,
        server.connect(token=a_token(user)) as brisk,
    ):
        await heard(still)
        await heard(brisk)
        still.transport.pause_reading()
        for _ in range(30):
            await store.write(moved(user, 10, "x" * 20_000))
            seen = [(await heard(brisk))["seq"] for _ in range(10)]
        assert seen[-1] == 300
        await until_a_place_is_free(server, user)  # it is closed; some seconds later it would be cut off
        still.transport.resume_reading()
        assert await closed(still) == (4408, "ERR_READER_SLOW")


async def until_a_place_is_free(server: LiveServer, user: str) -> None:
    """Of the three one user has, two of which were taken."""
    async with server.connect(token=a_token(user)) as third, asyncio.timeout(PATIENCE):
        assert (await heard(third))["type"] == "ready"
        while True:
            async with server.connect(token=a_token(user)) as fourth:
                with contextlib.suppress(ConnectionClosed):
                    assert (await heard(fourth))["type"] == "ready"
                    return


@pytest.mark.crash_full
def test_a_peer_that_answers_no_ping_is_cut_off(server: LiveServer) -> None:
    """A ping after twenty seconds, an end after twenty more, though nobody is there to close with."""
    begun = time.monotonic()
    with create_connection(("127.0.0.1", server.port), timeout=60.0) as dead:
        dead.sendall(
            f"GET /ws?token={a_token(a_user())} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
            "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n".encode()
        )
        heard = b""
        with contextlib.suppress(ConnectionResetError):
            while data := dead.recv(4096):
                heard += data
    assert b"\x89\x04" in heard  # a ping with four bytes
    assert 35.0 < time.monotonic() - begun < 50.0


async def test_a_server_that_ends_tells_clients_to_come_again(tmp_path: Path) -> None:
    """1012, for those who wait and those who have just come; the next server goes on where they were."""
    user = a_user()
    with live_server(tmp_path) as server:
        async with server.connect(token=a_token(user)) as socket:
            await heard(socket)
            ending = asyncio.create_task(asyncio.to_thread(server.stop))
            assert await closed(socket) == (1012, "ERR_RESTARTING")
            assert await ending == 0
    assert "Traceback" not in server.log.read_text()


async def test_words_another_process_writes_come_as_they_are_written(
    server: LiveServer, store: SqliteStore, machine: Machine
) -> None:
    """Past the database: half of them within some milliseconds, in order, to their user's tabs alone."""
    user = a_user()
    async with server.connect(token=a_token(user)) as one, server.connect(token=a_token(a_user())) as other:
        for socket in (one, other):
            assert (await heard(socket))["type"] == "ready"
        took = []
        for number in range(25):
            words = MessageDelta(
                workspace_id="w", conversation_id="c", message_id="m", start=number * 5, text="words"
            )
            began = time.monotonic()
            store.feed.whisper(user, words)
            said = await heard(one)
            ended = time.monotonic()
            took.append(ended - began - machine.lost(began, ended))
            assert (said["type"], said["payload"]["start"]) == ("message.delta", number * 5)
            assert "seq" not in said
        assert median(took) < 0.05
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await other.recv()

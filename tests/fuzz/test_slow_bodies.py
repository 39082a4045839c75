"""Bodies that stall or drip: each is cut after its bound, and nobody else waits for them."""

import asyncio
import json
import time
from collections.abc import Iterator

import pytest

from penstock.doors.http.guards import JSON_BODY_SECONDS
from tests.support.command_line import PATIENCE, Program
from tests.support.served import Served, serving

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(300)]
FORM = (
    "Content-Type: multipart/form-data; boundary=b",
    b'--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\nsome words',
)
JSON = ("Content-Type: application/json", b'{"question": "wh')
DRIP_SECONDS = 2.0
SLACK_SECONDS = 5.0


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(Program(tmp_path_factory.mktemp("slow"))) as served:
        yield served


async def answered(served: Served, head: str, body: bytes = b"") -> bytes:
    """A whole request on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    writer.write(f"{head} HTTP/1.1\r\nHost: {served.host}\r\nConnection: close\r\n\r\n".encode() + body)
    reply = await reader.read()
    writer.close()
    return reply


async def stalled(served: Served, path: str, said: tuple[str, bytes], *, drips: bool) -> tuple[float, bytes]:
    """Begin a body and never end it; when the other end had enough of it, and what it said."""
    reader, writer = await asyncio.open_connection("127.0.0.1", served.port)
    kind, begun = said
    head = f"POST {path} HTTP/1.1\r\nHost: {served.host}\r\n{kind}\r\nContent-Length: 5000\r\n\r\n"
    began = time.monotonic()
    writer.write(head.encode() + begun)
    reading = asyncio.create_task(reader.read())
    while drips and not reading.done():
        await asyncio.wait({reading}, timeout=DRIP_SECONDS)
        if not reading.done():
            writer.write(b"a")
    reply = await reading
    writer.close()
    return time.monotonic() - began, reply


async def test_a_body_that_stalls_is_cut_and_holds_up_nobody(served: Served) -> None:
    """408 at the bound for silence and for drops alike; meanwhile a hundred requests are answered at once."""
    workspace = json.loads((await answered(served, "GET /api/workspaces")).partition(b"\r\n\r\n")[2])
    upload = f"/api/workspaces/{workspace['items'][0]['id']}/documents"
    async with asyncio.timeout(PATIENCE + JSON_BODY_SECONDS):
        slow = [
            asyncio.create_task(stalled(served, path, said, drips=drips))
            for _ in range(10)
            for path, said, drips in (
                ("/api/query", JSON, False),
                ("/api/query", JSON, True),
                (upload, FORM, False),
            )
        ]
        took = []
        for _ in range(100):
            began = time.monotonic()
            assert (await answered(served, "GET /api/me")).startswith(b"HTTP/1.1 200")
            took.append(time.monotonic() - began)
        ends = await asyncio.gather(*slow)
    assert sorted(took)[-5] < 1.0
    for seconds, reply in ends:
        assert JSON_BODY_SECONDS - 1 < seconds < JSON_BODY_SECONDS + SLACK_SECONDS
        assert reply.startswith(b"HTTP/1.1 408")
        assert b"ERR_BODY_SLOW" in reply

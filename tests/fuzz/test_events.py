"""The stream of events, asked for in ways a client could get wrong: a documented answer, or events.

schemathesis cannot ask it, for an answer that does not end is none to it. So requests are drawn here, from
what a reader may say and from what nobody would, over plain sockets that are closed as soon as it is clear
what they are told.
"""

import json
import os
import random
import re
import socket
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from penstock.doors.live.arrivals import SEQ_MAX
from tests.support.command_line import PATIENCE, Program
from tests.support.live import a_token
from tests.support.served import Served, serving
from tests.support.tenants import SIGNED_IN, Tenant

pytestmark = [pytest.mark.fuzz, pytest.mark.timeout(600)]
CASES = int(os.environ.get("PENSTOCK_FUZZ_CASES", "1000"))
SEED = int(os.environ.get("PENSTOCK_FUZZ_SEED", "5"))
NUMBERS = ("0", "1", "2", "3", str(SEQ_MAX), str(SEQ_MAX + 1), "9" * 19, "9" * 20, "9" * 5_000)
ODD = (
    "",
    " ",
    "-1",
    "+1",
    "1.0",
    "1e3",
    "0x1",
    "٣",
    "\x00",
    "1\t",
    "null",
    "[]",
    "a" * 300,
    "é",
    "%",
    "%ff",
    "'--",
)
BEGIN = b"retry: 1000\n\n"
HEAD_MAX = 256 * 1024
CONTROLS = re.compile(r"[\x00-\x1f\x7f]")


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving(Program(tmp_path_factory.mktemp("events")), "run", "--role=all", env=SIGNED_IN) as served:
        yield served


class Asker:
    """Draws requests for one tenant, and reads what they are told."""

    def __init__(self, served: Served, tenant: Tenant) -> None:
        self.served = served
        self.tenant = tenant
        self.chance = random.Random(SEED)  # the same requests every time
        reference = tenant.client.get("/openapi.json").json()
        self.documented = {int(each) for each in reference["paths"]["/api/events"]["get"]["responses"]}

    def value(self) -> str:
        chance = self.chance.random()
        if chance < 0.5:
            return self.chance.choice(NUMBERS)
        if chance < 0.9:
            return self.chance.choice(ODD)
        return "".join(chr(self.chance.randrange(1, 0x500)) for _ in range(self.chance.randrange(1, 40)))

    def request(self) -> bytes:
        """A request that can be sent: its head is lines, whatever they say."""
        names = self.chance.choices(("since", "ticket", "token", "other", "since[]", "Since"), k=3)
        query = "&".join(f"{name}={quote(self.value())}" for name in names[: self.chance.randrange(4)])
        method = self.chance.choices(("GET", "HEAD", "POST", "PUT", "OPTIONS", "QUERY"), (20, 1, 1, 1, 1, 1))[
            0
        ]
        lines = [f"{method} /api/events{'?' if query else ''}{query} HTTP/1.1", f"Host: {self.served.host}"]
        if self.chance.random() < 0.8:
            lines.append(f"Authorization: Bearer {self.tenant.token}")
        for name in ("Last-Event-ID", "Accept", "Authorization", "Origin", "Cache-Control", "X-Odd"):
            if self.chance.random() < 0.2:
                lines.append(f"{name}: {CONTROLS.sub('', self.value())}")
        return "\r\n".join([*lines, "", ""]).encode("utf-8")

    def told(self, request: bytes) -> tuple[int, bytes, bytes]:
        """The status, the head, and what follows it: of a stream its beginning, else the whole body."""
        with socket.create_connection(("127.0.0.1", self.served.port), timeout=PATIENCE) as line:
            line.sendall(request)
            said = b""
            while b"\r\n\r\n" not in said and (more := line.recv(65_536)):
                said += more
                assert len(said) < HEAD_MAX
            head, _, body = said.partition(b"\r\n\r\n")
            status = int(head.split(b" ", 2)[1])
            length = re.search(rb"content-length: (\d+)", head.lower())
            wanted = 0 if request.startswith(b"HEAD ") or length is None else int(length[1])
            while (len(body) < wanted or (status == 200 and BEGIN not in body)) and (
                more := line.recv(65_536)
            ):
                body += more
            return status, head.lower(), body


def test_the_stream_answers_whatever_it_is_asked(served: Served) -> None:
    """A documented status with a problem document, or events as they are written; and no place is kept."""
    tenant = Tenant(served, "heron")
    tenant.settle()
    asker = Asker(served, tenant)
    streams = 0
    for _ in range(CASES):
        request = asker.request()
        status, head, body = asker.told(request)
        shown = request[:2_000]
        if status == 200:
            streams += 1
            assert b"content-type: text/event-stream" in head, shown
            assert BEGIN in body, shown
            continue
        assert status in asker.documented | {405}, (status, shown)
        if not request.startswith(b"HEAD "):
            assert b"application/problem+json" in head, (status, shown)
            assert json.loads(body)["status"] == status, shown
    assert streams > CASES // 20
    assert "a request failed" not in "".join(served.lines)
    assert "Traceback" not in "".join(served.lines)
    fresh = "\r\n".join(
        [
            "GET /api/events?since=0 HTTP/1.1",
            f"Host: {served.host}",
            f"Authorization: Bearer {a_token(tenant.user)}",
            "",
            "",
        ]
    )
    assert asker.told(fresh.encode())[0] == 200, "the places of those who left are not free"
    tenant.client.close()

"""An endpoint that speaks the OpenAI protocol over real HTTP on loopback, and can be told to misbehave.

It stands in for somebody else's model only: connections, headers, streams and deadlines are real.
"""

from __future__ import annotations

import base64
import json
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSION = 8
WAIT_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer: a whole body, or parts sent one after another; `cut` drops the connection at the end."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: object = None
    parts: tuple[bytes, ...] = ()
    cut: bool = False
    hang: bool = False
    """Whether the server falls silent after the parts, until it is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the server was asked."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        texts: list[str] = self.body["input"]
        return texts


@dataclass(slots=True, kw_only=True)
class FakeEndpoint:
    """The server: scripted replies come first, then `usual` answers."""

    url: str = ""
    script: deque[Reply] = field(default_factory=deque)
    usual: Callable[[Request], Reply] = field(default_factory=lambda: usual)
    requests: list[Request] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    arrived: threading.Event = field(default_factory=threading.Event)

    def reply_to(self, request: Request) -> Reply:
        self.requests.append(request)
        self.arrived.set()
        return self.script.popleft() if self.script else self.usual(request)


@contextmanager
def fake_endpoint(*script: Reply, port: int = 0) -> Iterator[FakeEndpoint]:
    """A running server, at any port unless one is named; every thread of it has ended at the end."""
    endpoint = FakeEndpoint(script=deque(script))

    class Handler(_Handler):
        fake = endpoint

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield endpoint
    finally:
        endpoint.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    fake: FakeEndpoint
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(b"{}")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["content-length"])))

    def _answer(self, content: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.fake.reply_to(Request(path=self.path, headers=headers, body=json.loads(content)))
        body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        given = {name.lower() for name, _ in reply.headers}
        for name, value in reply.headers:
            self.send_header(name, value)
        if "content-type" not in given:
            self.send_header("content-type", "application/json")
        if reply.parts or reply.hang:
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            self._send(reply)
        else:
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def _send(self, reply: Reply) -> None:
        for part in reply.parts:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()
        if reply.hang:
            self.fake.closing.wait(WAIT_SECONDS)
        if reply.cut or reply.hang:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def usual(request: Request) -> Reply:
    """What a healthy endpoint answers."""
    if request.path.endswith("/embeddings"):
        encoded = request.body.get("encoding_format") == "base64"
        return Reply(body=embeddings([numbers_of(text) for text in request.texts], encoded=encoded))
    if request.body.get("stream"):
        return streamed(["The ", "answer ", "is 42."])
    return Reply(body=completion("The answer is 42."))


def numbers_of(text: str, dimension: int = DIMENSION) -> list[float]:
    """The vector this endpoint gives a text, not of length one."""
    return [byte - 127.5 for byte in sha256(text.encode()).digest()[:dimension]]


def embeddings(vectors: Sequence[Sequence[float]], *, encoded: bool = False) -> dict[str, object]:
    """The body of an embeddings answer."""
    data = [
        {
            "object": "embedding",
            "index": index,
            "embedding": base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
            if encoded
            else list(vector),
        }
        for index, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": len(vectors), "total_tokens": len(vectors)}
    return {"object": "list", "data": data, "model": "fake", "usage": usage}


def completion(text: str | None, *, finish: str | None = "stop") -> dict[str, object]:
    """The body of a chat answer in one piece."""
    message = {"role": "assistant", "content": text}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "fake",
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12},
    }


def chunk(delta: dict[str, object], *, finish: str | None = None) -> dict[str, object]:
    """One event of a streamed chat answer."""
    return {
        "id": "c1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "fake",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }


def streamed(words: Iterable[str], *, cut: bool = False, hang: bool = False) -> Reply:
    """A streamed chat answer; cut off or silent before its end if asked so."""
    parts: list[object] = [chunk({"role": "assistant", "content": ""})]
    parts += [chunk({"content": word}) for word in words]
    if not (cut or hang):
        parts.append(chunk({}, finish="stop"))
        used = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
        parts.append({**chunk({}), "choices": [], "usage": used})
    sent = [f"data: {json.dumps(part)}\n\n".encode() for part in parts]
    return Reply(
        headers=(("content-type", "text/event-stream"),),
        parts=(*sent, *(() if cut or hang else (b"data: [DONE]\n\n",))),
        cut=cut,
        hang=hang,
    )


def refusal(status: int, message: str = "no", **headers: str) -> Reply:
    """An error as the protocol documents it."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": None}
    return Reply(
        status=status,
        headers=tuple((name.replace("_", "-"), value) for name, value in headers.items()),
        body={"error": error},
    )

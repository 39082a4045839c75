"""The handshake of a WebSocket whose head has been read as that of any other request.

The library would read it a second time, by bounds of its own that a long token does not fit into, and refuse
in plain text. So it is handed what was read, and its refusals are problem documents as everywhere.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.protocol import Protocol
from websockets.server import ServerProtocol

from penstock.doors.http.guards import guard
from penstock.doors.http.problems import problem

VERSION = "13"
CODES = {405: "ERR_METHOD_UNKNOWN", 426: "ERR_UPGRADE_REQUIRED", 500: "ERR_UNEXPECTED"}
"""Of refusals; any other is of a request that has not the documented shape."""


def request_of(method: bytes, target: bytes, headers: Iterable[tuple[bytes, bytes]]) -> Request:
    """What was read, in the library's words."""
    told = Headers([(name.decode("ascii"), value.decode("latin-1")) for name, value in headers])
    return Request(target.decode("ascii"), told, method.decode("ascii"))


class Handshake(ServerProtocol):
    """A server's side of one connection, from a request that was read to the last frame."""

    def accept(self, request: Request) -> Response:
        """Agree, or refuse; nothing but frames may follow the head."""
        if request.headers.get("Content-Length", "0") != "0" or "Transfer-Encoding" in request.headers:
            return self.reject(400, "a request for a WebSocket has no body")
        return super().accept(request)

    def reject(self, status: int, text: str) -> Response:
        """A refusal as a problem document, with the version that is spoken here."""
        code = CODES.get(int(status), "ERR_REQUEST_INVALID")
        refusal = problem(int(status), code, text.partition("\n")[0], headers={"Connection": "close"})
        guard(refusal.headers)
        response = super().reject(status, "")
        response.body = bytes(refusal.body)
        response.headers = Headers(refusal.headers.items())
        response.headers["Sec-WebSocket-Version"] = VERSION
        return response

    def parse(self) -> Generator[None]:
        """Frames from the first byte on."""
        yield from Protocol.parse(self)

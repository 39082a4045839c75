"""`python -m bench.live.asking PORT get|post COUNT`: requests over a few kept connections, one after another.

It prints how long they took, after a first tenth that does not count. Bare sockets cost the machine less than
any library, and so leave more of it to the server.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
import uuid

CONNECTIONS = 4
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)


class Line:
    """One kept connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def ask(self, method: str, path: str, body: object = None) -> bytes:
        """The body of the answer, which must be a good one."""
        data = b"" if body is None else json.dumps(body).encode()
        head = f"{method} /api{path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\n"
        if data:
            head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
        self._socket.sendall(head.encode() + b"\r\n" + data)
        said = b""
        while b"\r\n\r\n" not in said:
            said += self._socket.recv(65_536)
        head_said, _, told = said.partition(b"\r\n\r\n")
        assert head_said.split(b" ", 2)[1][:1] == b"2", said
        length = _LENGTH.search(head_said)
        while length is not None and len(told) < int(length[1]):
            told += self._socket.recv(65_536)
        return told


def settled(port: int) -> tuple[str, str]:
    """A workspace with a collection and a document: their paths."""
    line = Line(port)
    workspace = json.loads(line.ask("GET", "/workspaces"))["items"][0]["id"]
    at = f"/workspaces/{workspace}"
    line.ask("POST", f"{at}/collections", {"name": "papers"})
    body = {"collection": "papers", "name": "first", "content": "The first of them."}
    taken = json.loads(line.ask("POST", f"{at}/documents/text", body))
    return f"{at}/documents/text", f"{at}/documents/{taken['items'][0]['document_id']}"


def ask(port: int, what: str, count: int) -> float:
    """So many requests; how many seconds they took."""
    texts, document = settled(port)
    lines = [Line(port) for _ in range(CONNECTIONS)]

    def work(line: Line, times: int) -> None:
        for _ in range(times):
            if what == "get":
                line.ask("GET", document)
            else:
                words = f"A text like no other: {uuid.uuid4()}."
                line.ask("POST", texts, {"collection": "papers", "name": "a text", "content": words})

    def all_of(times: int) -> float:
        threads = [threading.Thread(target=work, args=(line, times // CONNECTIONS)) for line in lines]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.monotonic() - began

    all_of(count // 10)
    print("warm", flush=True)
    sys.stdin.readline()
    return all_of(count)


if __name__ == "__main__":
    print(ask(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])), flush=True)

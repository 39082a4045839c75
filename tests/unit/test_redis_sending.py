"""What is sent and not taken: `write_timeout` gives the connection up, before the operation is over."""

import asyncio
from pathlib import Path

import pytest

from penstock.engines.redis.client import connect
from penstock.engines.redis.dialling import Limits
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Unavailable
from tests.support.servers.redis import a_redis
from tests.support.stalls import Machine

LARGE = b"x" * (48 << 20)
"""More than the kernel keeps for a reader."""
PATIENT = 40.0


@pytest.mark.timeout(120)
async def test_a_server_that_does_not_read_is_given_up(tmp_path: Path, machine: Machine) -> None:
    """Long before the operation's deadline; the next one goes by another connection."""
    limits = Limits(operation_seconds=PATIENT, write_seconds=0.5)
    with a_redis(tmp_path) as server:
        async with connect(server.server, SystemClock(), limits=limits) as client:
            loop = asyncio.get_running_loop()
            began = loop.time()
            server.freeze()
            with pytest.raises(Unavailable, match="broke before the reply came"):
                await client.call("SET", "k", LARGE)
            took, lost = loop.time() - began, machine.lost(began)
            server.thaw()

            assert await client.call("PING") == b"PONG"

            assert 0.4 < took < PATIENT / 4 + lost
            assert client.standing.connections == 2


@pytest.mark.timeout(120)
async def test_a_server_that_reads_late_is_waited_for(tmp_path: Path) -> None:
    """Within the time for writing nothing is given up, however little the server has read."""
    limits = Limits(operation_seconds=PATIENT, write_seconds=20.0)
    with a_redis(tmp_path) as server:
        async with connect(server.server, SystemClock(), limits=limits) as client:
            server.freeze()
            asked = asyncio.create_task(client.call("SET", "k", LARGE))
            await asyncio.sleep(1.5)
            server.thaw()

            assert await asked == b"OK"
            assert client.standing.connections == 1

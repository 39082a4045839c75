"""A real server that cannot or will not write says so inside a script by the same codes as outside."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.engines.redis.client import Client, connect
from penstock.engines.redis.scripts import Script
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Unavailable
from penstock.settings import Secret
from tests.support.servers.redis import a_redis

WRITE = Script.of("write", "return redis.call('SET', KEYS[1], ARGV[1])")
Trouble = Callable[[Client, Path], Awaitable[None]]


async def full(client: Client, folder: Path) -> None:
    await client.call("CONFIG", "SET", "maxmemory", 1)


async def demoted(client: Client, folder: Path) -> None:
    await client.call("REPLICAOF", "127.0.0.1", 1)


async def alone(client: Client, folder: Path) -> None:
    await client.call("CONFIG", "SET", "min-replicas-to-write", 1)


async def unsaved(client: Client, folder: Path) -> None:
    """Its folder is gone, so no snapshot can be written."""
    await client.call("CONFIG", "SET", "appendonly", "no")
    await client.call("CONFIG", "SET", "save", "3600 1")
    shutil.rmtree(folder)
    await client.call("BGSAVE")
    async with asyncio.timeout(30):
        while b"rdb_last_bgsave_status:err" not in await client.call("INFO", "persistence"):  # noqa: ASYNC110  # it tells nobody
            await asyncio.sleep(0.01)


@pytest.mark.parametrize(
    ("trouble", "code"),
    [
        (full, "ERR_STORE_FULL"),
        (demoted, "ERR_STORE_READ_ONLY"),
        (alone, "ERR_STORE_UNAVAILABLE"),
        (unsaved, "ERR_STORE_READ_ONLY"),
    ],
)
async def test_a_script_is_refused_as_a_command_is(tmp_path: Path, trouble: Trouble, code: str) -> None:
    """Whatever words this server's generation uses."""
    with a_redis(tmp_path / "redis") as redis:
        async with connect(redis.server, SystemClock()) as client:
            await trouble(client, tmp_path / "redis")
            codes = []
            with pytest.raises(Unavailable) as bare:
                await client.call("SET", "k", "v", deadline=0.3)
            codes.append(bare.value.code)
            with pytest.raises(Unavailable) as inside:
                await client.run(WRITE, keys=["k"], args=["v"], deadline=0.3)
            codes.append(inside.value.code)

    assert codes == [code, code]


@pytest.mark.parametrize("rules", [("~*", "-set"), ("~ours*", "+set")], ids=["command", "key"])
async def test_who_may_not_is_told_so_inside_a_script_too(tmp_path: Path, rules: tuple[str, str]) -> None:
    """A right that is missing is somebody's to give: no fault of ours, and no crash."""
    inner = Script.of("inner", "return redis.call('SET', 'theirs', 'v')")
    with a_redis(tmp_path) as redis:
        with redis.bare() as bare:
            bare.call("ACL", "SETUSER", "ann", "on", ">one", "+@all", *rules)
        server = replace(redis.server, username="ann", password=Secret("one"))
        async with connect(server, SystemClock()) as client:
            with pytest.raises(Unavailable) as found:
                await client.run(inner)

    assert found.value.code == "ERR_STORE_SIGN_IN"

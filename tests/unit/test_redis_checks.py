"""What a Redis server must be to hold a queue: found on real servers, refused or warned about by profile."""

import re
from pathlib import Path

import pytest

from penstock.engines.redis.checks import examine, findings, refuse_unfit
from penstock.engines.redis.client import connect
from penstock.engines.system.clock import SystemClock
from penstock.model.diagnosis import Finding, Verdict
from penstock.model.errors import Refused
from penstock.settings import load
from penstock.settings.addresses import redis_server
from penstock.wiring.redis import open_redis, redis_findings
from tests.support.servers.redis import Redis, a_redis

GOOD = {
    "redis_version": "7.2.4",
    "redis_mode": "standalone",
    "role": "master",
    "aof_enabled": "1",
    "config.appendfsync": "everysec",
    "config.save": "",
    "maxmemory_policy": "noeviction",
}


async def examined(redis: Redis, *, production: bool) -> list[Finding]:
    async with connect(redis.server, SystemClock()) as client:
        return await examine(client, production=production)


def sentences(found: list[Finding], verdict: Verdict) -> str:
    return " ".join(finding.sentence for finding in found if finding.verdict is verdict)


async def test_a_server_with_a_log_and_without_eviction_is_fit(tmp_path: Path) -> None:
    """The server the tests themselves use passes as production."""
    with a_redis(tmp_path) as redis:
        found = await examined(redis, production=True)
        with redis.bare() as bare:
            told = bare.call("INFO", "server").decode()

    refuse_unfit(found)
    assert {finding.verdict for finding in found} == {Verdict.OK}
    version = re.search(r"valkey_version:(\S+)", told) or re.search(r"redis_version:(\S+)", told)
    assert version is not None
    assert f" is {'Valkey' if 'valkey' in told else 'Redis'} {version[1]}." in found[0].sentence


async def test_a_memory_only_evicting_cache_is_refused_in_production(tmp_path: Path) -> None:
    """Both faults are told in one message, each with what to do; development is warned."""
    with a_redis(tmp_path, appendonly="no", **{"maxmemory-policy": "allkeys-lru"}) as redis:
        production = await examined(redis, production=True)
        development = await examined(redis, production=False)

    with pytest.raises(Refused, match=r"memory alone.*appendonly yes.*allkeys-lru.*noeviction") as refused:
        refuse_unfit(production)
    assert refused.value.code == "ERR_STORE_UNFIT"
    refuse_unfit(development)
    assert "memory alone" in sentences(development, Verdict.WARNING)
    assert "allkeys-lru" in sentences(development, Verdict.WARNING)


async def test_a_cluster_is_refused_whatever_the_profile(tmp_path: Path) -> None:
    """A queue's scripts touch keys of many slots; the message says what to use instead."""
    with a_redis(tmp_path, **{"cluster-enabled": "yes"}) as redis:
        found = await examined(redis, production=False)

    with pytest.raises(Refused, match="part of a Redis Cluster"):
        refuse_unfit(found)


async def test_a_cluster_that_was_never_examined_is_told_by_its_answers(tmp_path: Path) -> None:
    """Even without the check the first command says what is wrong."""
    with a_redis(tmp_path, **{"cluster-enabled": "yes"}) as redis:
        with redis.bare() as bare:
            bare.call("CLUSTER", "ADDSLOTS", *range(16_384))
        async with connect(redis.server, SystemClock()) as client:
            with pytest.raises(Refused, match="Cluster") as refused:
                await client.call("MSET", "a", 1, "b", 2, deadline=10)

    assert refused.value.code == "ERR_STORE_UNFIT"


async def test_a_replica_is_refused(tmp_path: Path) -> None:
    """At the start somebody named the wrong server."""
    with a_redis(tmp_path) as redis:
        with redis.bare() as bare:
            bare.call("REPLICAOF", "127.0.0.1", 1)
        found = await examined(redis, production=False)

    with pytest.raises(Refused, match="is a replica"):
        refuse_unfit(found)


async def test_a_user_who_may_not_ask_is_warned(tmp_path: Path) -> None:
    """Managed servers forbid CONFIG, some INFO as well: nothing is claimed, and the start goes on."""
    with a_redis(tmp_path) as redis:
        with redis.bare() as bare:
            bare.call("ACL", "SETUSER", "ann", "on", ">secret", "~*", "+@all", "-info", "-config")
            bare.call("ACL", "SETUSER", "bob", "on", ">secret", "~*", "+@all", "-config")
        verdicts = {}
        for user in ("ann", "bob"):
            server = redis_server(f"redis://{user}:secret@127.0.0.1:{redis.server.port}")
            async with connect(server, SystemClock()) as client:
                found = await examine(client, production=True)
            verdicts[user] = {finding.verdict for finding in found}

    assert verdicts == {"ann": {Verdict.WARNING}, "bob": {Verdict.OK}}


async def test_the_start_refuses_in_production_and_warns_in_development(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The profile decides; `doctor` shows the same findings either way."""
    with a_redis(tmp_path, appendonly="no") as redis:
        url = f"redis://127.0.0.1:{redis.server.port}/0"
        development = load(None, {"PENSTOCK_QUEUE": url}, {})
        production = load(None, {"PENSTOCK_QUEUE": url, "PENSTOCK_PROFILE": "production"}, {})
        async with open_redis(development, SystemClock()) as client:
            assert await client.call("PING") == b"PONG"
        assert "memory alone" in caplog.text
        with pytest.raises(Refused, match="memory alone"):
            async with open_redis(production, SystemClock()):
                pass
        assert "memory alone" in sentences(await redis_findings(production), Verdict.WRONG)

    (gone,) = await redis_findings(production)
    assert (gone.verdict, "cannot be reached" in gone.sentence) == (Verdict.WRONG, True)
    assert await redis_findings(load(None, {}, {})) == []


@pytest.mark.parametrize(
    ("facts", "verdict", "words"),
    [
        ({"redis_version": "6.0.16"}, Verdict.WRONG, "too old"),
        ({"redis_version": "6.2.0"}, Verdict.OK, "Redis 6.2.0"),
        ({"redis_mode": "sentinel"}, Verdict.WRONG, "Sentinel"),
        ({"aof_enabled": "0", "config.save": "3600 1"}, Verdict.WARNING, "snapshots only"),
        ({"config.appendfsync": "no"}, Verdict.WARNING, "power cut"),
        ({"aof_last_write_status": "err"}, Verdict.WARNING, "fails to write"),
        ({"maxmemory_policy": "volatile-ttl"}, Verdict.WRONG, "volatile-ttl"),
    ],
)
def test_each_fact_has_its_finding(facts: dict[str, str], verdict: Verdict, words: str) -> None:
    """What cannot be started here is judged by what such servers say of themselves."""
    assert words in sentences(findings(GOOD | facts, "redis://host:6379/0", production=True), verdict)

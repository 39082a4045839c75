"""Hints that something was committed: heard by others, told sparingly, and never missed for long."""

import asyncio
import json
import re
import time
from pathlib import Path

from penstock.engines.redis.client import connect
from penstock.engines.redis.hints import Hints
from penstock.engines.redis.listening import Wake
from penstock.engines.system.clock import SystemClock
from penstock.model.catalogue import LOCAL_USER
from penstock.model.events import DocumentStatusUpdated
from penstock.ports.database import Transaction
from penstock.settings import RedisServer, Settings, load
from penstock.wiring.booked import BookedStore, heeding
from penstock.wiring.store import open_store
from tests.support.servers.bare import Bare
from tests.support.servers.redis import a_redis
from tests.support.stalls import Machine

LONG = "20s"
PATIENCE = 60.0
CHANNEL = "rag:ingest:commits"


def settings_of(folder: Path, server: RedisServer, *, hinted: str = LONG) -> Settings:
    file = folder / "penstock.yaml"
    url = f"redis://{server.host}:{server.port}/{server.db or 0}"
    file.write_text(json.dumps({"queue": url, "live": {"hinted_look_interval": hinted}}))
    return load(file, {}, {"data": str(folder / "data")})


def an_event(tx: Transaction) -> None:
    tx.append_event(LOCAL_USER, DocumentStatusUpdated(workspace_id="w", document_id="d", status="parsed"))


async def heard(bell: Wake) -> None:
    """Until it listens, and nothing has rung for a while."""
    while await bell.wait(0.3) or not bell.listening:
        pass


async def test_many_commits_are_few_words(redis: RedisServer) -> None:
    """And where nobody listens, one a second."""
    async with connect(redis, SystemClock()) as one, connect(redis, SystemClock()) as other:
        with Bare(redis) as bare:
            hints = Hints(one, CHANNEL)
            bare.call("CONFIG", "RESETSTAT")
            for _ in range(200):
                hints.committed()
            for _ in range(400):
                if calls := _publishes(bare):
                    break
                await asyncio.sleep(0.05)
            assert calls == 1

            bell = Hints(other, CHANNEL).listen()
            await heard(bell)
            bare.call("CONFIG", "RESETSTAT")
            await asyncio.sleep(1.0)  # the rest after a word nobody heard
            for _ in range(200):
                hints.committed()
            assert await bell.wait(20)
            assert 1 <= _publishes(bare) <= 10
            await hints.close()
            hints.committed()


def _publishes(bare: Bare) -> int:
    """How many words the server was given."""
    told = bare.call("INFO", "commandstats")
    assert isinstance(told, bytes)
    found = re.search(rb"cmdstat_publish:calls=(\d+)", told)
    return 0 if found is None else int(found[1])


async def test_a_serving_process_hears_of_commits_by_redis(
    tmp_path: Path, redis: RedisServer, machine: Machine
) -> None:
    """Long before it would look for itself; events of a commit are there when the hint comes."""
    settings = settings_of(tmp_path, redis)
    async with open_store(settings) as store, open_store(settings) as other:
        assert isinstance(store, BookedStore)
        async with heeding(settings, store):
            await heard(store.hints.listen())
            assert store.feed.look_seconds() == 20.0
            await store.feed.changes(0.0)
            took = []
            for number in range(1, 6):
                await asyncio.sleep(0.05)
                waiting = asyncio.create_task(store.feed.changes(15.0))
                await asyncio.sleep(0.05)
                began = time.monotonic()
                await other.write(an_event)
                assert await waiting
                ended = time.monotonic()
                took.append(ended - began - machine.lost(began, ended))
                assert (await store.feed.bounds([LOCAL_USER]))[LOCAL_USER].last == number
            assert sorted(took)[2] < 1.0


async def test_without_redis_a_serving_process_looks_for_itself(tmp_path: Path, machine: Machine) -> None:
    """A commit whose hint is lost is noticed after the longer interval at most, later ones sooner."""
    folder = tmp_path / "redis"
    folder.mkdir()
    with a_redis(folder) as server:
        settings = settings_of(tmp_path, server.server, hinted="500ms")
        async with open_store(settings) as store, open_store(settings) as other:
            assert isinstance(store, BookedStore)
            async with heeding(settings, store):
                await heard(store.hints.listen())
                assert store.feed.look_seconds() == 0.5
                server.kill()
                for _ in range(2):
                    waiting = asyncio.create_task(store.feed.changes(15.0))
                    await asyncio.sleep(0.05)
                    began = time.monotonic()
                    await other.write(an_event)
                    assert await waiting
                    while (await store.feed.bounds([LOCAL_USER]))[LOCAL_USER].last == 0:
                        assert await store.feed.changes(15.0)
                    assert time.monotonic() - began < 10.0 + machine.lost(began)
                async with asyncio.timeout(PATIENCE):
                    while store.feed.look_seconds() >= 0.5:  # noqa: ASYNC110  # nobody tells of it
                        await asyncio.sleep(0.02)

"""The slow sweep: processing lists whose worker nobody knows."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.engines.redis.protocol import Reply, Word
from penstock.engines.redis.reaping import RedisReaper
from penstock.engines.redis.scripts import Script
from penstock.engines.redis.store import RedisPorts
from penstock.model.errors import Unavailable
from penstock.model.jobs import WorkerId
from tests.conformance.redis.foreign import QUEUE, id_of, message
from tests.support.clock import FakeClock
from tests.support.jobs import a_job
from tests.support.servers.bare import Bare

W1, W2 = WorkerId("w1"), WorkerId("w2")


@dataclass
class Scans:
    words: list[tuple[Word, ...]] = field(default_factory=list)
    seconds: float = 0.0


async def swept(reaper: RedisReaper) -> int:
    """Everything there is, page by page."""
    moved, over = await reaper.page()
    while not over:
        more, over = await reaper.page()
        moved += more
    return moved


async def test_a_list_of_another_make_is_given_back(ports: RedisPorts, bare: Bare) -> None:
    """A message a foreign worker had moved to its processing list returns at the claiming end."""
    bare.call("LPUSH", f"{QUEUE}:high", message(2))
    bare.call(
        "LPUSH", "jobqueue:worker:old-7:processing", message(1, origin_queue=f"{QUEUE}:high"), message(3)
    )

    assert await swept(ports.reaper()) == 2

    assert bare.call("LINDEX", f"{QUEUE}:high", -1) == message(1, origin_queue=f"{QUEUE}:high")
    assert bare.call("LINDEX", QUEUE, -1) == message(3)
    assert bare.call("EXISTS", "jobqueue:worker:old-7:processing") == 0


async def test_a_worker_with_a_heartbeat_is_left_alone(ports: RedisPorts, bare: Bare) -> None:
    """Whoever beats, known to us or not, keeps what it holds."""
    bare.call("LPUSH", "jobqueue:worker:old-7:processing", message())
    bare.call("SET", "worker:hb:old-7", "alive", "EX", 9)
    await ports.queue.submit([a_job()])
    await ports.queue.beat(W1, concurrency=1)
    await ports.queue.claim(W1, 1)
    bare.call("DEL", "worker:hb:w1")

    assert await swept(ports.reaper()) == 0

    assert bare.call("LLEN", "jobqueue:worker:old-7:processing") == 1
    assert (await ports.desk.counts()).leased == 1


async def test_a_worker_that_never_beat_loses_its_jobs(ports: RedisPorts, bare: Bare) -> None:
    """Its job is claimable again long before the lease has run out, and the death is counted."""
    bare.call("LPUSH", QUEUE, message())
    await ports.queue.claim(W1, 1)

    assert await swept(ports.reaper()) == 1

    (lease,) = await ports.queue.claim(W2, 1)
    assert (lease.job_id, lease.attempt, lease.crashes) == (id_of(), 2, 1)


async def test_a_pass_keeps_its_place(ports: RedisPorts, bare: Bare, clock: FakeClock) -> None:
    """Page after page, all lists are met, whatever else there is."""
    for number in range(300):
        bare.call("SET", f"other:{number}", "x")
        bare.call("LPUSH", f"jobqueue:worker:old-{number}:processing", message(number))
    reaper = ports.reaper(count=50)
    passes = 0
    while bare.call("LLEN", QUEUE) < 300:
        clock.advance(1)
        await reaper.page()
        passes += 1

    assert passes > 3


@pytest.fixture
def scans(ports: RedisPorts, clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Scans:
    """Every SCAN that goes out, and how long each takes by the clock."""
    seen, call = Scans(), ports.client.call

    async def asked(*words: Word, **how: Any) -> Reply:
        if words[0] == "SCAN":
            seen.words.append(words)
            clock.advance(seen.seconds)
        return await call(*words, **how)

    monkeypatch.setattr(ports.client, "call", asked)
    return seen


async def test_a_page_asks_for_as_many_keys_as_it_is_told(
    ports: RedisPorts, bare: Bare, scans: Scans
) -> None:
    """`reaper.scan_count` is the COUNT of every SCAN, a hundred by default, and the pattern its MATCH."""
    for number in range(300):
        bare.call("SET", f"other:{number}", "x")

    await swept(ports.reaper(count=70))
    chosen, scans.words = scans.words, []
    await swept(ports.reaper())

    pattern = "jobqueue:worker:*:processing"
    assert {words[2:] for words in chosen} == {("MATCH", pattern, "COUNT", 70)}
    assert {words[2:] for words in scans.words} == {("MATCH", pattern, "COUNT", 100)}
    assert 3 <= len(scans.words) < len(chosen)


@pytest.mark.parametrize(("seconds", "pages"), [(1 / 16, 4), (1 / 8, 2), (1 / 4, 1), (5.0, 1)])
async def test_a_pass_stops_after_a_fifth_of_a_second_and_the_next_goes_on(
    ports: RedisPorts, bare: Bare, scans: Scans, seconds: float, pages: int
) -> None:
    """However many keys are left: a pass begins where the last one stopped, until all were looked at."""
    for number in range(300):
        bare.call("LPUSH", f"jobqueue:worker:old-{number}:processing", message(number))
    scans.seconds = seconds
    reaper = ports.reaper(count=10)
    passes = []

    while bare.call("LLEN", QUEUE) < 300:
        before, over = len(scans.words), False
        while not over:
            _, over = await reaper.page()
        passes.append(len(scans.words) - before)

    assert len(passes) > 3
    assert set(passes[:-1]) == {pages}
    assert len({words[1] for words in scans.words}) == len(scans.words)


async def test_a_page_of_many_lists_is_broken_off_and_gone_on_with(
    ports: RedisPorts, bare: Bare, scans: Scans, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list takes an eighth of a second to look into: two a pass, none of them twice, none forgotten."""
    for number in range(20):
        bare.call("LPUSH", f"jobqueue:worker:old-{number}:processing", message(number))
    run = ports.client.run

    async def slowly(script: Script, **told: Any) -> Any:
        clock.advance(1 / 8)
        return await run(script, **told)

    monkeypatch.setattr(ports.client, "run", slowly)
    reaper = ports.reaper(count=1000)
    passes = [await swept(reaper) for _ in range(10)]

    assert passes == [2] * 10
    assert len(scans.words) == 1
    assert bare.call("LLEN", QUEUE) == 20


async def test_a_sweep_that_was_interrupted_goes_on(
    ports: RedisPorts, bare: Bare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server was away for one list: the next pass looks into it, and begins its time anew."""
    for number in range(3):
        bare.call("LPUSH", f"jobqueue:worker:old-{number}:processing", message(number))
    run, asked = ports.client.run, 0

    async def away_once(script: Script, **told: Any) -> Any:
        nonlocal asked
        asked += 1
        if asked == 2:
            raise Unavailable("away", code="ERR_STORE_UNAVAILABLE")
        return await run(script, **told)

    monkeypatch.setattr(ports.client, "run", away_once)
    reaper = ports.reaper()
    with pytest.raises(Unavailable):
        await swept(reaper)

    assert await swept(reaper) == 2
    assert bare.call("LLEN", QUEUE) == 3


async def test_a_sweep_that_is_quick_is_one_pass(ports: RedisPorts, bare: Bare, scans: Scans) -> None:
    """It ends where the keys do."""
    for number in range(300):
        bare.call("SET", f"other:{number}", "x")

    await swept(ports.reaper(count=10))

    assert len(scans.words) > 10
    assert scans.words[0][1] == b"0"


@pytest.mark.parametrize("odd", [b"jobqueue:worker:\xff\xfe:processing", b"jobqueue:worker:z:processing"])
async def test_an_odd_list_holds_up_no_other(ports: RedisPorts, bare: Bare, odd: bytes) -> None:
    """A name that is no text, or a key that is no list, is passed; what lies beyond is given back."""
    if odd.endswith(b":z:processing"):
        bare.call("SET", odd, "theirs")
    else:
        bare.call("LPUSH", odd, message(1))
    for number in range(2, 12):
        bare.call("LPUSH", f"jobqueue:worker:old-{number}:processing", message(number))

    await swept(ports.reaper())

    left = [] if bare.call("TYPE", odd) == b"none" else [odd]
    assert bare.call("KEYS", "jobqueue:worker:*") == left
    assert bare.call("LLEN", QUEUE) == 11 - len(left)

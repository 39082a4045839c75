"""`penstock admin` on a real Redis, seen by a bare client, and on a database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE
from penstock.settings import RedisServer
from penstock.wiring.store import Store
from tests.support.jobs import a_job
from tests.support.near_program import NearProgram
from tests.support.redis_program import DEAD, QUEUE, RAG, RedisProgram

MINE = "somebody:else"


@pytest.fixture
def yard(tmp_path: Path, redis: RedisServer) -> Iterator[RedisProgram]:
    made = RedisProgram(tmp_path, redis)
    made.bare.call("SET", MINE, "stays")
    yield made
    made.bare.close()


async def beat(store: Store) -> None:
    await store.queue.beat(WorkerId("alive"), concurrency=1)


def test_every_list_is_counted_by_name(yard: RedisProgram) -> None:
    """Lists, processing lists and heartbeats, as `LLEN` and `EXISTS` would say."""
    yard.push(yard.message(1))
    assert len(yard.worked()) == 1
    yard.in_store(beat)
    for number, to in enumerate((QUEUE, QUEUE, f"{QUEUE}:high", f"{QUEUE}:{RAG}"), 2):
        yard.push(yard.message(number), to)
    yard.push(b"{", DEAD)

    told = yard.json("admin", "stats")
    lines = yard("admin", "stats").cells

    assert told["engine"] == "redis"
    assert {each["queue"]: each["length"] for each in told["queues"]} == {
        QUEUE: 2,
        "high": 1,
        "normal": 0,
        "low": 0,
        RAG: 1,
    }
    assert {each["queue"]: each["key"] for each in told["queues"]}["high"] == f"{QUEUE}:high"
    assert (told["heartbeats"], told["completed"], told["dead_letters"]) == (1, 0, 1)
    assert ["queue", "high", "1", f"{QUEUE}:high"] in lines
    assert ["heartbeats", "1"] in lines


def test_keys_are_counted_by_a_walk_that_ends(yard: RedisProgram) -> None:
    """By what they are, others' too; `--max-keys` breaks it off and says so. No `KEYS` is ever sent."""
    for number in range(3):
        yard.push(yard.message(number))
    assert len(yard.worked(DONE, limit=2)) == 2
    assert len(yard.worked()) == 1
    yard.in_store(beat)
    yard.bare.call("SET", "rag:ingest:rate-limit", 5, "PX", 60_000)

    told = yard.json("admin", "stats-keys")
    yard.bare.call("CONFIG", "RESETSTAT")
    cut = yard.json("admin", "stats-keys", "--max-keys", "1")
    called = yard.bare.call("INFO", "commandstats").decode()

    assert told["queue_lengths"][QUEUE] == 0
    assert (told["processing_lists"], told["processing_items"], told["heartbeats"]) == (1, 1, 1)
    assert (told["keys"]["job hashes"], told["keys"]["others"], told["keys"]["rate limit"]) == (5, 1, 1)
    assert (told["rate_limit_key"], told["whole"]) == ("rag:ingest:rate-limit", True)
    assert 0 < told["rate_limit_ttl_seconds"] <= 60
    assert told["looked_at"] == yard.bare.call("DBSIZE")
    assert not cut["whole"]
    assert "cmdstat_scan:" in called
    assert "cmdstat_keys:" not in called


def test_what_is_next_is_shown_and_stays(yard: RedisProgram) -> None:
    """The oldest first, at most so many; bytes that are no text in base64."""
    sent = [yard.push(yard.message(number), f"{QUEUE}:high") for number in range(3)]
    yard.push(b"\xff")

    told = yard.json("admin", "peek", "--queue", "high", "--n", "2")
    by_key = yard("admin", "peek", "--queue", f"{QUEUE}:high")
    plain = yard.json("admin", "peek")
    unknown = yard("admin", "peek", "--queue", "nobody")

    assert [each["message"].encode() for each in told["messages"]] == sent[:2]
    assert by_key.lines == [each.decode() for each in sent]
    assert [(each["message"], each["message_base64"]) for each in plain["messages"]] == [(None, "/w==")]
    assert unknown.code == 1
    assert yard.bare.call("LLEN", f"{QUEUE}:high") == 3


def test_everything_goes_only_when_that_is_meant_and_nobody_works(yard: RedisProgram) -> None:
    """Counted and refused without --yes, refused beside a live worker; then no job and no key is left."""
    for number in range(3):
        yard.push(yard.message(number))
    assert len(yard.worked(DONE, limit=1)) == 1
    assert len(yard.worked(limit=1)) == 1
    waiting = yard.submit(a_job("/papers/a.txt"))
    yard.push(yard.message(9))

    refused = yard("admin", "purge-all")
    yard.in_store(beat)
    beside = yard("admin", "purge-all", "--yes")
    yard.bare.call("ZADD", "rag:ingest:workers", 1, "alive")
    yard.bare.call("HSET", "rag:ingest:worker:alive", "beat_at", 1)

    assert refused.code == 1
    assert "--yes" in refused.err
    assert refused.cells[:2] == [["would_remove", "unfinished", "2"], ["would_remove", "ended", "1"]]
    assert (beside.code, "alive" in beside.err) == (1, True)
    assert {row[1] for row in yard.rows() if row[0] == waiting[0]} == {"pending"}
    gone = yard.json("admin", "purge-all", "--yes")
    assert (gone["unfinished"], gone["ended"], gone["keys"] > 5) == (2, 1, True)
    assert yard.bare.call("KEYS", "*") == [MINE.encode()]
    assert yard.rows() == []
    assert yard.worked() == []


def test_a_bench_says_how_fast_and_leaves_nothing(yard: RedisProgram) -> None:
    """On the same server, beside the queue, which does not notice."""
    yard.push(yard.message(1))
    yard.push(b"{", DEAD)

    told = yard.json("admin", "bench", "--count", "200")

    assert (told["engine"], told["count"]) == ("redis", 200)
    assert told["submit_per_second"] > 0
    assert told["drain_per_second"] > 0
    assert told["lap_p95_ms"] >= told["lap_p50_ms"] > 0
    assert sorted(yard.bare.call("KEYS", "*")) == sorted(name.encode() for name in (MINE, QUEUE, DEAD))


def test_a_database_says_what_applies_to_it(tmp_path: Path) -> None:
    """Numbers by high, normal and low; keys and lists it has none of, and says where to look instead."""
    program = NearProgram(tmp_path)
    program.end(a_job(), a_job())
    program.submit(a_job(priority=9), a_job())

    told = program.json("admin", "stats")
    keys, peeked = program("admin", "stats-keys"), program("admin", "peek")
    bench = program.json("admin", "bench", "--count", "100")
    refused = program("admin", "purge-all")
    gone = program.json("admin", "purge-all", "--yes")

    assert (told["engine"], told["completed"], told["dead_letters"]) == ("database", 2, 0)
    assert {each["queue"]: each["length"] for each in told["queues"]} == {"high": 1, "normal": 1, "low": 0}
    assert (keys.code, peeked.code) == (1, 1)
    assert "penstock queue list" in keys.err
    assert bench["engine"] == "database"
    assert [path.name for path in program.data.iterdir() if path.name.startswith("bench-")] == []
    assert refused.code == 1
    assert (gone["unfinished"], gone["ended"], gone["keys"]) == (2, 2, 0)
    assert program.rows() == []

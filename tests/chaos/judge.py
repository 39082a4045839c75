"""What must hold after every fault, read by raw SQL in the book and by raw commands in Redis.

I1  every accepted job ended, with a reason where it failed
I2  versions and vectors agree with the manifest: `fsck`
I3  nothing is left: messages, leases, lists, lines, heartbeats, processes
I4  counts balance on both sides, attempts are within their limit
I5  one effect and one end each, by the last attempt
I6  each user's events are without a gap
I7  bytes hash to what they are named by: `fsck`
I8  the drain needs no human: that the tests get here at all
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Mapping

from penstock.model.catalogue import LOCAL_USER
from tests.chaos.scene import Scene
from tests.crash.invariants import assert_all_is_well
from tests.support.processes import TOP

FREE_RUNS = 20
"""A fault of the outside spends no retry; a job may begin so often more than its retries say."""
LEFT = ("held:*", "strangers:*", "subjects:*", "line:*", "beyond:*", "aside:*", "barriers:*")
"""What Redis keeps of jobs only until they end."""
EMPTY = ("running", "due", "waiting", "tenants", "suspects", "lanes", "elements", "stale")


def judge(
    scene: Scene, accepted: Collection[str], *, failed: Mapping[str, str] | None = None, forgot: bool = False
) -> None:
    """Everything above, once all has ended and every worker has gone; `forgot`: Redis came back empty."""
    assert_all_is_well(scene, accepted, failed=failed, free_runs=FREE_RUNS)
    judge_effects(scene, accepted, failed=failed, forgot=forgot)


def judge_effects(
    scene: Scene, accepted: Collection[str], *, failed: Mapping[str, str] | None = None, forgot: bool = False
) -> None:
    """The same without the marks of handlers, which a hundred thousand jobs do not leave."""
    assert_booked(scene, accepted, failed or {})
    assert_effective_once(scene, set(accepted) - set(failed or {}))
    assert_events_without_gaps(scene)
    assert_both_sides_agree(scene, accepted, forgot=forgot)
    assert_redis_is_clean(scene)
    assert_counts_balance(scene)
    assert_sound(scene)
    assert scene.processes() == []


def poisoned(scene: Scene) -> dict[str, str]:
    """Jobs that ended because three workers were killed under them, the last one while it ran the job alone.

    That is the ruling; a test that kills blindly cannot know which jobs it will befall.
    """
    rows = scene.rows(
        "SELECT queue_id, error_code FROM unified_queue WHERE status = 'failed' AND crashes = 3"
    )
    return {row["queue_id"]: row["error_code"] for row in rows if row["error_code"] == "ERR_POISON"}


def assert_booked(scene: Scene, accepted: Collection[str], failed: Mapping[str, str]) -> None:
    """I1, I4: the book holds what was accepted, at its end; nobody was retried more often than allowed."""
    rows = scene.rows("SELECT queue_id, status, error_code, retry_count, max_retries FROM unified_queue")
    assert {row["queue_id"] for row in rows} == set(accepted)
    ends = {row["queue_id"]: row["error_code"] for row in rows if row["status"] != "done"}
    assert ends == failed
    assert [row for row in rows if row["retry_count"] > row["max_retries"]] == []


def assert_effective_once(scene: Scene, done: Collection[str]) -> None:
    """I5: an effect is written with the end of its job; there is one each."""
    # Of the local user himself it is told what was made for him; an effect's user is its job.
    events = scene.rows("SELECT user_id FROM events WHERE user_id <> ?", LOCAL_USER)
    effects = Counter(row["user_id"] for row in events)
    assert [job for job in done if job not in effects] == [], "lost"
    assert {job: times for job, times in effects.items() if times > 1} == {}, "effective twice"
    assert set(effects) <= set(done), "an effect of a job that is not done"


def assert_events_without_gaps(scene: Scene) -> None:
    """I6: each user's numbers follow one another."""
    gaps = scene.rows(
        "SELECT user_id FROM events GROUP BY user_id HAVING count(*) <> max(seq) - min(seq) + 1"
    )
    assert gaps == []


def assert_both_sides_agree(scene: Scene, accepted: Collection[str], *, forgot: bool) -> None:
    """I1: the documented hash tells the end that is booked; a Redis that forgot may know nothing of it."""
    booked = {row["queue_id"]: row for row in scene.rows("SELECT queue_id, status FROM unified_queue")}
    unlike = {}
    with scene.redis.bare() as bare:
        for job in accepted:
            shown = bare.call("HGET", f"rag:ingest:job:{job}", "status")
            if shown != booked[job]["status"].encode() and not (forgot and shown is None):
                unlike[job] = (booked[job]["status"], shown)
    assert unlike == {}


def assert_redis_is_clean(scene: Scene) -> None:
    """I3: no message, lease, line or heartbeat is left, and no message to Redis is unsent."""
    with scene.redis.bare() as bare:
        lists = [name.decode() for name in bare.call("KEYS", "rag:ingest:queue*")]
        assert [name for name in lists if not name.endswith(":dead-letter")] == []
        left = {name: bare.call("KEYS", f"rag:ingest:{name}") for name in LEFT}
        assert {name: keys for name, keys in left.items() if keys} == {}
        assert [name for name in EMPTY if bare.call("EXISTS", f"rag:ingest:{name}")] == []
        assert bare.call("KEYS", "jobqueue:worker:*:processing") == []
        # That of a killed worker goes by itself.
        assert [name for name in bare.call("KEYS", "worker:hb:*") if bare.call("TTL", name) < 0] == []
    assert scene.rows("SELECT count(*) AS n FROM queue_messages") == [{"n": 0}]


def assert_counts_balance(scene: Scene) -> None:
    """I4: what Redis counts as waiting is nothing, and what it counts is never less than nothing."""
    with scene.redis.bare() as bare:
        flat = [word.decode() for word in bare.call("HGETALL", "rag:ingest:counts")]
    counts = {name: int(number) for name, number in zip(flat[::2], flat[1::2], strict=True)}
    counts["ready"] = counts.get("seq", 0) - counts.get("unready", 0)
    waiting = ("ready", "delayed", "behind", "aside", "suspect", "stale")
    assert {name: counts[name] for name in waiting if counts.get(name)} == {}


def assert_sound(scene: Scene) -> None:
    """I2, I7: the program's own proof that everything kept agrees."""
    ran = subprocess.run(
        [sys.executable, "-m", "penstock", "fsck"],
        cwd=TOP,
        env=scene.environment(),
        capture_output=True,
        timeout=120,
        check=False,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr

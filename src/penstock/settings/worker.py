"""The worker's keys: those its contract documents, with their names, and ours beside them."""

# ruff: noqa: RUF009 -- setting(), documented() and section() return dataclass fields, not shared values.

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.model.payloads import ItemType
from penstock.settings.compound import ListOf, MapOf
from penstock.settings.fields import REQUIRED, documented, section, setting
from penstock.settings.numbers import Duration, Whole
from penstock.settings.texts import Pattern, Text

ITEM_TYPES = tuple(item_type.value for item_type in ItemType)

SPAN = Duration()
SPAN_OR_NONE = Duration(least=0)
LEASE = Duration(least=2)
"""Renewed every second at best: a shorter one would run out under every job that takes a while."""
NAME = Text()


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Doubling waits, in place of `worker.retry_delays`: retry n waits `min(base * 2^(n-1), max)`."""

    base: float = documented(SPAN, REQUIRED, "Wait before the first retry; each further one doubles it.")
    max: float = documented(SPAN, REQUIRED, "Longest wait between two attempts.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """How workers fetch, keep and give up jobs."""

    count: int = documented(Whole(1, 1024), 1, "Worker processes.")
    concurrency: int = setting(
        Whole(1, 10_000),
        16,
        "Jobs one worker process runs at once; those of files that are slow to read do not count.",
    )
    heartbeat_ttl: float = documented(Duration(least=5), "9s", "A worker silent for so long is dead.")
    heartbeat_interval: float = setting(
        SPAN,
        "2s",
        "Time between two heartbeats; if not given, never more than a third of worker.heartbeat_ttl.",
    )
    max_retries: int = documented(Whole(0, 100), 3, "Retries after the first attempt of a job.")
    retry_delays: tuple[float, ...] = setting(
        ListOf(SPAN_OR_NONE, least=1),
        ["5s", "10s", "30s"],
        "Wait before each retry, the last one repeated; used when worker.backoff is not given.",
    )
    backoff: Backoff | None = section(Backoff, optional=True)
    park_delay: float = setting(
        SPAN, "30s", "Wait before a dependency that is down is tried again, where it does not say itself."
    )
    park_max: float = setting(
        SPAN, "24h", "Longest time a job waits for a dependency that is down before it fails."
    )
    priorities: tuple[str, ...] = documented(
        ListOf(NAME, least=1), ["high", "normal", "low"], "Priorities fetched, the first one first."
    )
    queues: Mapping[str, str] = documented(
        MapOf(NAME),
        {
            "high": "rag:ingest:queue:high",
            "normal": "rag:ingest:queue:normal",
            "low": "rag:ingest:queue:low",
        },
        "Redis list of each priority.",
    )
    processing_list_pattern: str = documented(
        Pattern(), "jobqueue:worker:%s:processing", "Redis list of the jobs a worker holds."
    )
    heartbeat_key_pattern: str = documented(Pattern(), "worker:hb:%s", "Redis key of a worker's heartbeat.")
    completed_list: str = documented(NAME, "rag:ingest:completed", "Redis list of the jobs done last.")
    dead_letter_list: str = documented(
        NAME, "rag:ingest:queue:dead-letter", "Redis list of the jobs that failed."
    )
    brpoplpush_timeout: float = documented(
        SPAN,
        "1s",
        "Longest wait for news of a job; after five such waits in a row the queue is asked all the same.",
    )
    poll_interval: float = setting(
        SPAN, "250ms", "Time between two looks for rows other programs wrote by SQL."
    )
    lease: float = setting(LEASE, "5m", "Time a worker may hold a job before it must renew.")
    leases: Mapping[str, float] = setting(
        MapOf(LEASE, names=ITEM_TYPES), {}, "Lease by item type, where it differs from worker.lease."
    )
    timeout: float = setting(SPAN, "1h", "Longest run of one attempt.")
    timeouts: Mapping[str, float] = setting(
        MapOf(SPAN, names=ITEM_TYPES), {}, "Longest run by item type, where it differs from worker.timeout."
    )
    stall: float = setting(
        SPAN_OR_NONE, 0, "A lease is no longer renewed after so long without progress; 0 renews regardless."
    )
    grace: float = setting(
        SPAN_OR_NONE, "30s", "Time running jobs get to finish when the program is told to stop."
    )
    tenant_limit: int = setting(
        Whole(0, 1_000_000), 0, "Jobs of one tenant that run at once; 0 sets no limit."
    )
    longest_waiting_every: int = setting(
        Whole(0, 1_000_000),
        10,
        "Every so many claims take the longest-waiting job, whatever its priority; 0 never.",
    )

    def lease_for(self, item_type: str) -> float:
        return self.leases.get(item_type, self.lease)

    def timeout_for(self, item_type: str) -> float:
        return self.timeouts.get(item_type, self.timeout)

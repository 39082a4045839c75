"""The documents of `penstock admin`."""

from __future__ import annotations

from typing import TypedDict


class QueueLengthFacts(TypedDict):
    """One queue: its name, the Redis list it is (null in a database), and how much waits in it."""

    queue: str
    key: str | None
    length: int


class Stats(TypedDict):
    """A queue by its lists; `processing` is what each known worker holds."""

    engine: str
    queues: list[QueueLengthFacts]
    processing: dict[str, int]
    heartbeats: int
    completed: int
    dead_letters: int


class KeyStats(TypedDict):
    """The keys of a Redis by what they are; `whole` is false if the count stopped at `--max-keys`."""

    queue_lengths: dict[str, int]
    processing_lists: int
    processing_items: int
    heartbeats: int
    rate_limit_key: str
    rate_limit_ttl_seconds: float | None
    keys: dict[str, int]
    looked_at: int
    whole: bool


class PeekedMessage(TypedDict):
    """A message as it lies in its list: as text, or in base64 where the bytes are none."""

    queue: str
    message: str | None
    message_base64: str | None


class Peeked(TypedDict):
    """The messages that are next, the next one first."""

    queue: str
    key: str
    messages: list[PeekedMessage]


class Emptied(TypedDict):
    """What was removed, or would be: unfinished jobs are cancelled first."""

    unfinished: int
    ended: int
    keys: int
    dry_run: bool


class BenchFacts(TypedDict):
    """How fast the queue is: bulk submits, bulk claims and ends, and single jobs from submit to end."""

    engine: str
    count: int
    submit_per_second: float
    drain_per_second: float
    lap_p50_ms: float
    lap_p95_ms: float

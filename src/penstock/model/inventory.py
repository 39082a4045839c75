"""What a queue holds, list by list and key by key, as an operator asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLength:
    """One queue: its name, the Redis list it is, and how much waits in it."""

    name: str
    key: str | None
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """The queue at one moment, without walking through its keys."""

    queues: tuple[QueueLength, ...]
    processing: Mapping[str, int]
    """What each known worker holds."""
    heartbeats: int
    """Workers that beat."""
    completed: int
    dead_letters: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """A queue on Redis in the words of its contract's health check."""

    queue_name: str
    connection: str
    """The server, without what is secret."""
    queue_length: int
    """Messages in the list any program pushes to."""
    processing: int
    queued: int
    """Messages in all lists."""
    worker_connected: bool
    """Whether a worker has beaten within the last seconds."""


@dataclass(slots=True, kw_only=True)
class KeyCount:
    """All keys of a Redis by what they are; counted by a walk that may have been broken off."""

    families: dict[str, int] = field(default_factory=dict)
    processing_items: int = 0
    looked_at: int = 0
    whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What a purge of everything removed, or would."""

    unfinished: int
    """Jobs that had not ended, cancelled."""
    ended: int
    keys: int
    """Redis keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How fast a queue went through a number of jobs of its own."""

    jobs: int
    submit_seconds: float
    drain_seconds: float
    laps: tuple[float, ...]
    """Seconds from one submit to its end, one after another, in order of length."""

    def percentile(self, share: float) -> float:
        """The lap that this share of them does not exceed."""
        return self.laps[min(len(self.laps) - 1, int(share * len(self.laps)))]

"""The keys of live events: how many may listen, and what one connection may cost."""

from dataclasses import dataclass

from penstock.settings.fields import setting
from penstock.settings.numbers import Duration, Size, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Connections that are told what happens, by WebSocket or as a stream."""

    connections_max: int = setting(
        Whole(1, 100_000), 4_000, "Connections one process holds; further ones are told to come again."
    )
    connections_per_user: int = setting(
        Whole(1, 100_000), 32, "Connections one user may have to a process, tabs and programs together."
    )
    queue_messages: int = setting(
        Whole(1, 100_000),
        500,
        "Messages that wait for one connection; what is more is read from the log again when it has room.",
    )
    queue_bytes: int = setting(
        Size(1 << 30), "512KiB", "Characters those messages may have together, as a size."
    )
    replay_max: int = setting(
        Whole(1, 10_000_000), 10_000, "Missed events told one by one; whoever missed more is told to resync."
    )
    slow_after: float = setting(
        Duration(least=1), "10s", "Time after which a connection that takes nothing is closed."
    )
    ping_interval: float = setting(Duration(least=1), "20s", "Time between two pings of a WebSocket.")
    ping_timeout: float = setting(
        Duration(least=1), "20s", "Time after which a WebSocket that answers no ping is closed."
    )
    look_interval: float = setting(
        Duration(),
        "10ms",
        "Time between two looks for what other processes have committed, while somebody listens.",
    )
    hinted_look_interval: float = setting(
        Duration(),
        "250ms",
        "The same while a Redis that holds the queue tells of commits: how late a lost hint is noticed.",
    )

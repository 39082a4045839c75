"""`python -m bench.live.servers [--turns N] [--quick]`: the application on uvicorn and on granian, in turns.

Prints a table for the decision on the server: requests a second, and what each request and each message
costs of the server's processor time, which others on the machine change least.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

import psutil

from bench.live import measures
from bench.live.measures import CONNECTIONS, USERS, started

SERVERS = ("uvicorn", "granian")


@dataclass(slots=True, kw_only=True)
class Found:
    """What the turns of one server measured."""

    by_clock: list[float] = field(default_factory=list)
    """A second; of requests, for events come together and their time is that of the clients."""
    microseconds: list[float] = field(default_factory=list)
    """Of processor time, a request or message."""

    def told(self) -> str:
        """Medians."""
        if not self.microseconds:
            return ""
        cost = f"{statistics.median(self.microseconds):,.0f} µs"
        return f"{statistics.median(self.by_clock):,.0f}/s, {cost}" if self.by_clock else cost


@contextmanager
def standing(name: str, what: str, folder: Path) -> Iterator[tuple[int, psutil.Process]]:
    """A serving process on one of the servers, and its port."""
    with started("bench.live.standing", name, what, folder) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline()), psutil.Process(process.pid)


def requests(name: str, what: str, count: int, folder: Path, found: Found) -> None:
    """Requests of one kind."""
    with (
        standing(name, "api", folder) as (port, process),
        started("bench.live.asking", port, what, count) as asker,
    ):
        assert asker.stdin is not None
        assert asker.stdout is not None
        assert asker.stdout.readline().strip() == "warm"
        before = spent(process)
        asker.stdin.write("go\n")
        asker.stdin.flush()
        seconds = float(asker.stdout.readline())
        found.by_clock.append(count / seconds)
        found.microseconds.append((spent(process) - before) / count * 1e6)


def events(name: str, users: int, rounds: int, folder: Path, found: Found) -> None:
    """Events to a thousand connections, from commits of another process."""
    with standing(name, "live", folder) as (port, process), measures.crowd(port, users) as clients:
        for times in (measures.WARM_ROUNDS, rounds):
            before = spent(process)
            clients.listen(times * CONNECTIONS)
            measures._commit(folder, users, times)
            clients.heard()
            used = spent(process) - before
        found.microseconds.append(used / (rounds * CONNECTIONS) * 1e6)


def memory(name: str, folder: Path, found: list[float]) -> None:
    """What an idle connection adds, in kilobytes."""
    with standing(name, "live", folder) as (port, process):
        before = process.memory_info().rss
        with measures.crowd(port):
            found.append((process.memory_info().rss - before) / CONNECTIONS / 1024)


def spent(process: psutil.Process) -> float:
    """Processor seconds so far, of all its threads."""
    times = process.cpu_times()
    return float(times.user + times.system)


def table(found: dict[str, dict[str, Found]], idle: dict[str, list[float]]) -> Sequence[str]:
    """Rows of Markdown."""
    return [
        f"| | {' | '.join(f'{name} {version(name)}' for name in SERVERS)} |",
        "|---|---|---|",
        *(
            f"| {what} | {' | '.join(by_server[name].told() for name in SERVERS)} |"
            for what, by_server in found.items()
        ),
        "| an idle connection | "
        + " | ".join(f"{statistics.median(idle[name]):.0f} kB" for name in SERVERS if idle[name])
        + " |",
    ]


def main() -> int:
    """Measure in turns, and print."""
    parser = argparse.ArgumentParser(prog="bench.live.servers")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--requests", action="store_true", help="no events")
    parser.add_argument("--quick", action="store_true", help="one small turn: does it run?")
    given = parser.parse_args()
    turns, count, rounds = (1, 400, 5) if given.quick else (given.turns, 4_000, 60)
    kinds = ("GET a document", "POST a text", "an event to all", "an event to two tabs")
    found = {kind: {name: Found() for name in SERVERS} for kind in kinds}
    idle: dict[str, list[float]] = {name: [] for name in SERVERS}
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as root:
        folders = (Path(root) / str(number) for number in range(1_000))
        for turn in range(turns):
            for name in SERVERS if turn % 2 else reversed(SERVERS):
                requests(name, "get", count, next(folders), found[kinds[0]][name])
                requests(name, "post", count // 2, next(folders), found[kinds[1]][name])
                if not given.requests:
                    events(name, 1, rounds, next(folders), found[kinds[2]][name])
                    events(name, USERS, rounds, next(folders), found[kinds[3]][name])
                    memory(name, next(folders), idle[name])
                print(f"{name}: turn {turn + 1} of {turns}", file=sys.stderr)
    print("\n".join(table(found, idle)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""`python -m bench.live [--quick] [--write FILE]`: events to a thousand connections."""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from bench.live import measures
from bench.live.measures import CONNECTIONS, USERS, Latency, Rate
from bench.verdicts import Verdict, at_least, at_most, table, told

ROUNDS = 60
EVENTS = 1_000
PER_SECOND = 100.0
SHARE, P99_MS, KILOBYTES = 0.7, 50.0, 50.0


@dataclass(slots=True, kw_only=True)
class Found:
    """What one run measured."""

    bare: list[Rate] = field(default_factory=list)
    fanned: list[Rate] = field(default_factory=list)
    """Each event to every connection."""
    tabs: list[Rate] = field(default_factory=list)
    """Each event to the two tabs of one of many users."""
    latency: Latency | None = None
    kilobytes: float = 0.0
    load: float = field(default_factory=lambda: os.getloadavg()[0])

    def rates(self) -> dict[str, list[Rate]]:
        """All of them, by what they are."""
        return {
            "bare": self.bare,
            "ours, each event to all connections": self.fanned,
            "ours, each event to two tabs": self.tabs,
        }

    def share(self, ours: Sequence[Rate]) -> float:
        """Of what the bare server sends in a second of its processor's time."""
        return max(each.by_processor for each in ours) / max(each.by_processor for each in self.bare)

    def verdicts(self) -> list[Verdict]:
        """The targets."""
        assert self.latency is not None
        return [
            at_least(
                f"an event to {CONNECTIONS:,} connections, against bare", self.share(self.fanned), SHARE
            ),
            at_least(f"events to two tabs each of {USERS} users, against bare", self.share(self.tabs), SHARE),
            at_most(
                f"from commit to socket at {PER_SECOND:g} events a second, p99",
                self.latency.p99,
                P99_MS,
                " ms",
            ),
            at_most("memory of an idle connection", self.kilobytes, KILOBYTES, " kB"),
        ]


def measure(folder: Path, *, quick: bool) -> Found:
    """Everything, ours and bare in turns."""
    found = Found()
    rounds, turns, events = (20, 1, 200) if quick else (ROUNDS, 3, EVENTS)
    folders = (folder / str(number) for number in range(100))
    for _ in range(turns):
        found.bare.append(measures.rate_of_bare(next(folders), rounds))
        # Ten times as many: what goes together costs so little that the clock of the processor hardly moves.
        found.fanned.append(measures.rate_of_ours(next(folders), 10 * rounds, 1))
        found.tabs.append(measures.rate_of_ours(next(folders), rounds, USERS))
        for name, rates in found.rates().items():
            print(f"{name}: {_told(rates[-1:])} messages a second", file=sys.stderr)
    found.latency = measures.latency(next(folders), events, PER_SECOND)
    found.kilobytes = measures.kilobytes_idle(next(folders))
    return found


def page(found: Found, verdicts: Sequence[Verdict], seconds: float) -> str:
    """The page of results."""
    assert found.latency is not None
    lines = [
        "# Performance of live events",
        "",
        "Made by `make bench-live`, which measures everything in one run.",
        "The numbers are those of one machine on one day; the ratios are what to look at.",
        "",
        f"- Machine: {os.cpu_count()} cores, {platform.system()} {platform.release()}.",
        f"- Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"uvicorn {version('uvicorn')}, websockets {version('websockets')}.",
        f"- {CONNECTIONS:,} connections to one serving process, all clients in one other process, commits in "
        "a third.",
        "- Ours: every event is a row committed by the third process, found by the change counter, read, "
        "put into its envelope and given to every tab of its user.",
        "- Bare: the same server with an application that sends the same bytes to a list of connections.",
        "- Rates are of messages that reached the clients, from the first to the last. Clients and "
        "committers share the machine with the server, so the targets are about what it sends in a second "
        "of its own processor time.",
        f"- Ours and bare take turns, {len(found.bare)} of each; the best counts.",
        f"- The latency is that of {USERS} users with two tabs each, all connected.",
        "- Signing in is left out: a token is taken for the name of its user.",
        f"- The run took {seconds:.0f} s, at nice {os.getpriority(os.PRIO_PROCESS, 0)}; when it began, other "
        f"work kept {found.load:.1f} of the {os.cpu_count()} cores busy (load average of a minute).",
        "",
        "## Targets",
        "",
        *table(verdicts),
        "",
        "## Numbers",
        "",
        "| | messages a second of time (of the server's processor time), each turn |",
        "|---|---|",
        *(f"| {name} | {_told(rates)} |" for name, rates in found.rates().items()),
        "",
        "Events of one user that are read together are written to a connection together, where bare writes "
        "each by itself: so events to all cost the less the faster they come. An event for one user with two "
        "tabs is a row of its own to be found and read for every two messages.",
        "",
        f"From commit to socket, {found.latency.count:,} messages: median {found.latency.p50:.1f} ms, "
        f"p99 {found.latency.p99:.1f} ms, longest {found.latency.most:.1f} ms.",
        "Half of the way is waiting: other processes' commits are looked for every ten milliseconds.",
        "",
        "The application on another server is measured by `make bench-servers`; what that told is in "
        "[decision 18](../decisions/0018-a-serving-process-of-its-own.md).",
        "",
    ]
    return "\n".join(lines)


def _told(rates: Sequence[Rate]) -> str:
    return ", ".join(f"{each.by_clock:,.0f} ({each.by_processor:,.0f})" for each in rates)


def main() -> int:
    """Measure, tell, and write the page where asked for; 1 where a target is missed."""
    parser = argparse.ArgumentParser(prog="bench.live")
    parser.add_argument("--quick", action="store_true", help="less of everything: does it run?")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page of results")
    given = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as folder:
        found = measure(Path(folder), quick=given.quick)
    verdicts = found.verdicts()
    print("\n".join(told(verdicts)))
    if given.write is not None:
        given.write.write_text(page(found, verdicts, time.monotonic() - begun), encoding="utf-8")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())

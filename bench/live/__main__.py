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
    ours: list[Rate] = field(default_factory=list)
    latency: Latency | None = None
    kilobytes: float = 0.0

    def verdicts(self) -> list[Verdict]:
        """The targets."""
        assert self.latency is not None
        return [
            at_least(
                "messages a second of the server's processor time against the bare server",
                max(each.by_processor for each in self.ours) / max(each.by_processor for each in self.bare),
                SHARE,
            ),
            at_least(
                "messages a second of time against the bare server",
                max(each.by_clock for each in self.ours) / max(each.by_clock for each in self.bare),
                SHARE,
            ),
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
        found.ours.append(measures.rate_of_ours(next(folders), rounds))
        print(f"bare {_told(found.bare[-1:])}, ours {_told(found.ours[-1:])} messages/s", file=sys.stderr)
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
        f"- {CONNECTIONS:,} connections to one serving process: {USERS} users with {CONNECTIONS // USERS} "
        "tabs each; all clients in one other process, commits in a third.",
        "- Ours: every event is a row committed by the third process, found by the change counter, read, "
        "put into its envelope and given to both tabs of its user.",
        "- Bare: the same server with an application that sends the same bytes to a list of connections.",
        "- Rates are of messages that reached the clients, from the first to the last; each transaction "
        "holds an event for every user.",
        f"- Ours and bare take turns, {len(found.ours)} of each; the best counts. Clients and committers share "
        "the machine with the server, so its processor time is told beside the clock.",
        "- Signing in is left out: a token is taken for the name of its user.",
        f"- The run took {seconds:.0f} s, at nice {os.getpriority(os.PRIO_PROCESS, 0)}.",
        "",
        "## Targets",
        "",
        *table(verdicts),
        "",
        "## Numbers",
        "",
        "| | messages a second of time (of the server's processor time), each turn |",
        "|---|---|",
        f"| bare | {_told(found.bare)} |",
        f"| ours | {_told(found.ours)} |",
        "",
        f"From commit to socket, {found.latency.count:,} messages: median {found.latency.p50:.1f} ms, "
        f"p99 {found.latency.p99:.1f} ms, longest {found.latency.most:.1f} ms.",
        "Half of the way is waiting: other processes' commits are looked for every ten milliseconds.",
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

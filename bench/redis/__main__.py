"""`python -m bench.redis [--small] [--write FILE]`: measure, judge, and write the page of results."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from importlib.metadata import version
from pathlib import Path

from bench.queue.harness import REPEATS, middle
from bench.redis import measures
from bench.redis.drive import contender
from bench.redis.floors import FLOORS
from bench.verdicts import Verdict, at_least, at_most, table, told

OURS, BOOKED, YARDSTICK, BARE = "ours", "booked", "dramatiq", "bare"
QUICK = "huey"
"""The peer whose single submit is the fastest."""
SAFE = ("arq", "celery", "dramatiq", "rq", "saq", "streaq", "taskiq")
"""Peers that keep a job until it has run; of them the fastest is the yardstick."""
LISTS = 20
Numbers = dict[str, float | None]


def main() -> int:
    """Run everything once; 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.redis")
    parser.add_argument("--small", action="store_true", help="a fifth of the counts, to try the benchmark")
    parser.add_argument("--write", type=Path, help="write the results as Markdown")
    options = parser.parse_args()
    begin, busy = time.monotonic(), os.getloadavg()[0]
    found = measure(5 if options.small else 1)
    verdicts = judge(found)
    print("\n" + "\n".join(told(verdicts)))
    if options.write:
        options.write.write_text(page(found, verdicts, time.monotonic() - begin, busy), encoding="utf-8")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def measure(share: int) -> dict[str, Numbers]:
    """Everything, by contender; ours and those it is judged by in turns."""
    found: dict[str, Numbers] = {}

    def take(name: str, numbers: Numbers) -> None:
        found.setdefault(name, {}).update(numbers)
        shown = (f"{key} {'never' if value is None else f'{value:,.2f}'}" for key, value in numbers.items())
        print(f"{name}: " + ", ".join(shown), flush=True)

    turns: dict[str, list[dict[str, float]]] = {OURS: [], YARDSTICK: [], QUICK: []}
    for _ in range(REPEATS):
        for name, runs in turns.items():
            runs.append(measures.rates(name, share))
    for name, runs in turns.items():
        take(name, {key: middle([run[key] for run in runs]) for key in runs[0]})
    for peer in measures.PEERS:
        if peer not in turns:
            take(peer, dict(measures.rates(peer, share)))
    take(BOOKED, dict(measures.rates(BOOKED, share)))
    take(BARE, dict(measures.floors(5_000 // share)))
    seconds = 10.0 / share
    for name in (OURS, *measures.PEERS, BOOKED):
        waits = measures.pickup(name, 50, seconds if name == OURS else seconds / 2)
        take(name, {f"pickup {key}": value for key, value in waits.items()})
    foreign = measures.foreign_pickup(LISTS, 50, seconds)
    take(OURS, {f"foreign {key}": value for key, value in foreign.items()})
    everybody = (OURS, *measures.PEERS)
    for name, sent in measures.together("idle", everybody, 20.0 / share).items():
        take(name, {"idle commands": sent})
    for name, after in measures.together("recovery", everybody, 90.0 / share).items():
        take(name, {"runs again": after})
    return found


def judge(found: dict[str, Numbers]) -> list[Verdict]:
    """The targets, each against what was measured in this run."""

    def of(name: str, key: str) -> float:
        return found[name].get(key) or 0.0

    def best(*keys: str) -> float:
        return max(of(peer, key) for peer in measures.PEERS for key in keys)

    safe = {n: max(of(peer, f"drain x{n}") for peer in SAFE) for n in (1, 2)}
    after = found[OURS]["runs again"]
    return [
        at_least("drain with 1 against the best safe peer", of(OURS, "drain x1") / safe[1], 5.0),
        at_least("drain with 2 against the best safe peer", of(OURS, "drain x2") / safe[2], 3.0),
        at_least("single submit against the fastest peer", of(OURS, "submit") / best("submit"), 1.3),
        at_least("submit of many against the fastest peer", of(OURS, "bulk") / best("bulk", "submit"), 3.0),
        at_most("pickup p50 at 50 jobs a second", of(OURS, "pickup p50"), 1.5, " ms"),
        at_most("pickup p99 at 50 jobs a second", of(OURS, "pickup p99"), 3.0, " ms"),
        at_most(f"foreign push, {LISTS} lists watched, p99", of(OURS, "foreign p99"), 500.0, " ms"),
        at_most("commands of an idle worker", of(OURS, "idle commands"), 2.0, " a second"),
        at_most("a killed worker's job runs again", 1e9 if after is None else after, 10.0, " s"),
    ]


COLUMNS = {
    "submit": "single submit /s",
    "bulk": "submit of many /s",
    "drain x1": "drain, 1 process /s",
    "drain x2": "drain, 2 processes /s",
    "pickup p50": "pickup p50 ms",
    "pickup p99": "pickup p99 ms",
    "idle commands": "idle commands /s",
    "runs again": "runs again after s",
}


def _cell(numbers: Numbers, key: str) -> str:
    if key not in numbers:
        return "-"
    value = numbers[key]
    return "not seen" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _floors_told(found: dict[str, Numbers]) -> list[str]:
    """Why a single submit is what it is: the parts of one, measured in the same run."""
    fastest = max(found[peer].get("submit") or 0.0 for peer in measures.PEERS)
    told = (f"{1e6 / (found[BARE][name] or 1e-9):.0f} µs for {what}" for name, (what, _) in FLOORS.items())
    return [
        f"A single submit of ours takes {1e6 / (found[OURS]['submit'] or 1e-9):.0f} µs,"
        f" the fastest peer's {1e6 / (fastest or 1e-9):.0f} µs.",
        f"Over the same client a bare round trip takes {'; '.join(told)}.",
        "So the last of these is what any queue pays that keeps both pages' promises,"
        " before it has made a job, checked or ordered anything.",
    ]


def page(found: dict[str, Numbers], verdicts: list[Verdict], seconds: float, busy: float) -> str:
    """The page of results."""
    packages = (*measures.PEERS, "redis", "taskiq-redis", "hiredis", "uvloop")
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    names = (OURS, *measures.PEERS, BOOKED)
    shown = {OURS: "**penstock**", BOOKED: "penstock, booked"}
    foreign = found[OURS]
    lines = [
        "# Performance of the queue on Redis",
        "",
        "Made by `make bench-redis`, which measures everything in one run.",
        f"Ours, {YARDSTICK}, the fastest peer that keeps a job until it has run, and {QUICK}, the fastest to"
        f" submit one, are taken in turns, {REPEATS} times; each of the others once.",
        "The numbers are those of one machine on one day; the ratios are what to look at.",
        "",
        f"- Machine: {os.cpu_count()} cores, {platform.system()} {platform.release()}.",
        f"- Python {platform.python_version()}.",
        f"- {versions}.",
        f"- {measures.server()}, append-only, synced every second, on loopback, a fresh one to each"
        " measurement; nothing is tuned.",
        f"- Ours and {YARDSTICK} drain the same backlog of {contender(OURS).JOBS:,} jobs, slower ones less.",
        "- The job: one byte appended to a file.",
        "- Producers that are async run on uvloop, ours as the program does.",
        *(f"- {shown.get(name, name)}: {contender(name).SETTINGS}." for name in names),
        f"- The run took {seconds:.0f} s, at nice {os.getpriority(os.PRIO_PROCESS, 0)};"
        f" the load of the machine before it was {busy:.1f}.",
        "",
        "## Targets",
        "",
        *table(verdicts),
        "",
        "## Numbers",
        "",
        "| | " + " | ".join(COLUMNS.values()) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
        *(
            f"| {shown.get(name, name)} | " + " | ".join(_cell(found[name], key) for key in COLUMNS) + " |"
            for name in names
        ),
        "",
        f"A bare `LPUSH` to one of {LISTS} watched lists begins to run after"
        f" {foreign['foreign p50']:.2f} ms (p50), {foreign['foreign p99']:.2f} ms (p99).",
        "",
        *_floors_told(found),
        "",
        "*Submit of many* is a library's own call for it; where there is none, its single submits count.",
        "*Runs again*: a worker is killed with `kill -9` in the middle of a job, another is started at once;"
        " *not seen* means not within 90 s.",
        "*Booked* is the whole program: each job is also a row of the database, written before Redis hears of"
        " it, and has no target: no peer promises anything of the kind.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

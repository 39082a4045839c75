"""`python -m bench.queue [--quick] [--write FILE]`: measure, judge, and write the page of results."""

from __future__ import annotations

import argparse
import os
import platform
import sqlite3
import sys
import time
from importlib.metadata import version
from pathlib import Path

from bench import host
from bench.host import undisturbed
from bench.queue import measures, peers
from bench.queue.harness import REPEATS
from bench.verdicts import Verdict, at_least, at_most, table, told

CYCLE = "claim and settle, batches of 100, jobs a second"


def main() -> int:
    """Run everything once; 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.queue")
    parser.add_argument("--quick", action="store_true", help="a tenth of the counts, to try the benchmark")
    parser.add_argument("--write", type=Path, help="write the results as Markdown")
    options = parser.parse_args()
    small = 10 if options.quick else 1
    begin = time.monotonic()
    found: dict[str, dict[str, float]] = {}

    def take(name: str, numbers: dict[str, float]) -> None:
        found[name] = numbers
        print(f"{name}: " + ", ".join(f"{key} {value:,.2f}" for key, value in numbers.items()), flush=True)

    take("submits a second", undisturbed(lambda: measures.submits(20_000 // small, 2_000 // small)))
    take(CYCLE, undisturbed(lambda: measures.cycles(20_000 // small, 100)))
    take("drain, jobs a second", undisturbed(lambda: measures.drains(20_000 // small)))
    rates = measures.peer_rates(20_000 // small)
    for peer, numbers in rates.items():
        take(peer, numbers)
    take("claim, ms", measures.claim_costs(1_000_000 // small))
    take("pickup at 50 jobs a second, ms", undisturbed(lambda: measures.pickup(50, 20 / small)))
    take("4 processes, ms", undisturbed(lambda: measures.contention(4, 20 / small)))
    take("idle", undisturbed(lambda: measures.idle(20 / small)))
    verdicts = judge(found, rates)
    print()
    print("\n".join(told(verdicts)))
    if options.write:
        options.write.write_text(page(found, verdicts, time.monotonic() - begin), encoding="utf-8")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def judge(found: dict[str, dict[str, float]], rates: dict[str, dict[str, float]]) -> list[Verdict]:
    """The targets, each against what was measured in this run."""
    submits, drain, claim = found["submits a second"], found["drain, jobs a second"], found["claim, ms"]
    cycle = found[CYCLE]
    best = {n: max(r.get(f"drain x{n}", 0.0) for r in rates.values()) for n in (1, 2)}
    pickup, four = found["pickup at 50 jobs a second, ms"], found["4 processes, ms"]
    verdicts = [
        at_least("bulk submit against the raw batched limit", submits["bulk"] / submits["raw bulk"], 0.7),
        at_least("batched claim and settle against the raw limit", cycle["ours"] / cycle["raw"], 0.7),
    ]
    for n in (1, 2):
        ours = drain[f"penstock x{n}"]
        verdicts.append(at_least(f"drain with {n} against the best peer", ours / best[n], 4.0))
        verdicts.append(
            at_least(f"drain with {n} against a bare batched loop", ours / drain[f"bare loop x{n}"], 0.5)
        )
    for batch in (1, 16):
        few = claim[f"few batch {batch}"]
        for name, words in (("many", "1,000,000 waiting"), ("delayed", "1,000,000 delayed")):
            ratio = claim[f"{name} batch {batch}"] / few
            verdicts.append(at_most(f"claim of {batch} with {words} against 1,000", ratio, 1.25, "x"))
    limit = 50 + four["write p99.9"]
    return [
        *verdicts,
        at_most("pickup p50", pickup["p50"], 2.0, " ms"),
        at_most("pickup p99", pickup["p99"], 10.0, " ms"),
        at_most("claim p99.9 with 4 processes", four["claim p99.9"], limit, " ms"),
        at_most("idle worker", found["idle"]["percent"], 0.5, " % of a core"),
    ]


def page(found: dict[str, dict[str, float]], verdicts: list[Verdict], seconds: float) -> str:
    """The page of results."""
    names = ("huey", "litequeue", "persist-queue", "msgspec")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    lines = [
        "# Performance of the queue",
        "",
        "Made by `make bench`, which measures everything in one run.",
        f"Ours and the raw limit are taken in turns, {REPEATS} times; each peer is taken once.",
        "The numbers are those of one machine on one day; the ratios are what to look at.",
        "",
        f"- Machine: {os.cpu_count()} cores, {platform.system()} {platform.release()}.",
        f"- Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {versions}.",
        "- Ours: WAL, `synchronous=FULL`; every submit, every settle and a busy worker's claim are on disk "
        "before they are answered.",
        "- An idle worker's claim is not (decision 9): after a power cut its job simply waits again. "
        "That counts in drains and pickups; where claims are measured, all are on disk.",
        f"- Our workers run {measures.ours.CONCURRENCY} jobs at once.",
        "- Every contender drains the same backlog of 20,000 no-op jobs.",
        "- Raw: the same table with its indexes and triggers, the leanest statements, no queue around them.",
        *(f"- {peer}: {words}." for peer, words in peers.DURABILITY.items()),
        f"- All but the peers and the claims are taken up to {host.TRIES} times, until the host takes less "
        f"than {host.QUIET:.0%} of the processors' time away; the least disturbed counts.",
        f"- The run took {seconds:.0f} s, at nice {os.getpriority(os.PRIO_PROCESS, 0)}.",
        "",
        "## Targets",
        "",
        *table(verdicts),
        "",
        "## Numbers",
        "",
    ]
    for name, numbers in found.items():
        lines += [f"### {name[0].upper()}{name[1:]}", "", "| | |", "|---|---|"]
        lines += [f"| {key} | {value:,.2f} |" for key, value in numbers.items()] + [""]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())

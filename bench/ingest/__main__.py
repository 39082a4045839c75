"""`python -m bench.ingest [--quick] [--write FILE]`: measure, judge, and write the page of results."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sqlite3
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from bench.ingest import corpus, measures, peers
from bench.ingest.bare import CORES
from bench.queue.harness import scratch

DOCUMENTS = 960
QUICK_DOCUMENTS = 80
PART = 4
"""Memory is compared between the corpus and this part of it, which is also what is killed half-way."""
TURNS = 3
OTHERS_MAX = 0.03
"""Share of the machine other programs may take before the page says so."""
OURS = "Penstock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One target, what was measured, and whether it holds."""

    what: str
    measured: str
    target: str
    holds: bool


@dataclass(slots=True, kw_only=True)
class Found:
    """Everything one run measured."""

    megabytes: float = 0.0
    small: measures.Ingested | None = None
    turns: list[tuple[measures.Ingested, measures.Bare]] = field(default_factory=list)
    peers: dict[str, measures.Taken] = field(default_factory=dict)
    killed: dict[str, measures.Survived] = field(default_factory=dict)

    @property
    def ours(self) -> measures.Ingested:
        """The fastest of the turns."""
        return min((ingested for ingested, _ in self.turns), key=lambda each: each.first)

    @property
    def bare(self) -> measures.Bare:
        """The one that needed least."""
        return min((bare for _, bare in self.turns), key=lambda each: each.seconds)


def main() -> int:
    """Run everything once; 1 if a target is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench.ingest")
    parser.add_argument("--quick", action="store_true", help="a small corpus, to try the benchmark")
    parser.add_argument("--write", type=Path, help="write the results as Markdown")
    parser.add_argument("--documents", type=int, help="another size of the corpus; it is taken in one turn")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what was started is ended, what was made goes
    begin = time.monotonic()
    count, turns = (QUICK_DOCUMENTS, 1) if options.quick else (DOCUMENTS, TURNS)
    if options.documents:
        count, turns = options.documents, 1
    with scratch() as folder:
        found = measure(folder, count, turns)
    verdicts = judge(found)
    print()
    for verdict in verdicts:
        word = "ok  " if verdict.holds else "MISS"
        print(f"{word} {verdict.what}: {verdict.measured} (target {verdict.target})")
    if options.write:
        options.write.write_text(page(found, verdicts, time.monotonic() - begin), encoding="utf-8")
    return 0 if all(verdict.holds for verdict in verdicts) else 1


def measure(folder: Path, count: int, turns: int) -> Found:
    """Ours, the bare work and the peers in turns, then the kills."""
    found, few = Found(), count // PART
    whole, part = folder / "whole", folder / "part"
    found.megabytes = corpus.make(whole, count) / 1e6
    corpus.make(part, few)
    found.small = measures.ingest(_room(folder, "small"), part, few)
    _tell("a quarter", found.small)
    for turn in range(turns):
        ingested = measures.ingest(_room(folder, f"ours-{turn}"), whole, count)
        _tell(OURS, ingested)
        bare = measures.bare(_room(folder, f"bare-{turn}"), whole)
        _tell("bare", bare)
        found.turns.append((ingested, bare))
        for name in peers.RUNS:
            taken = measures.peer(name, _room(folder, f"{name}-{turn}"), whole)
            _tell(name, taken)
            found.peers[name] = min(found.peers.get(name, taken), taken, key=lambda each: each.first)
    texts = found.small.chunks
    found.killed[OURS] = measures.ours_killed(_room(folder, "killed"), part, few, texts)
    for name in peers.RUNS:
        room = _room(folder, f"{name}-killed")
        found.killed[name] = measures.peer_killed(name, room, part, few, texts)
    for name, survived in found.killed.items():
        _tell(f"{name}, killed", survived)
    return found


def _room(folder: Path, name: str) -> Path:
    room = folder / name
    room.mkdir()
    return room


def _tell(name: str, numbers: object) -> None:
    print(f"{name}: {numbers}", flush=True)


def judge(found: Found) -> list[Verdict]:
    """The targets, each against what was measured in this run."""
    assert found.small is not None
    ours, ratio = found.ours, found.ours.first / found.bare.ideal
    growth = ours.peak.bytes / found.small.peak.bytes
    verdicts = [
        Verdict(
            what=f"wall time against the bare work's processor time on {CORES} cores",
            measured=f"{ratio:.2f}x",
            target="at most 1.15x",
            holds=ratio <= 1.15,
        ),
        Verdict(
            what=f"peak memory with {ours.documents} documents against {found.small.documents}",
            measured=f"{growth:.2f}x",
            target="at most 1.2x",
            holds=growth <= 1.2,
        ),
        _at_least("taking in the unchanged corpus again against the first time", ours.first / ours.again, 50),
    ]
    for name, taken in found.peers.items():
        verdicts.append(_at_least(f"documents a second against {name}", taken.first / ours.first, 1))
    lost = found.killed[OURS]
    told = f"{lost.lost} lost, {lost.doubled} doubled"
    safe = not lost.lost and not lost.doubled
    return [
        *verdicts,
        Verdict(what="after a kill half-way", measured=told, target="none lost, none doubled", holds=safe),
    ]


def _at_least(what: str, value: float, target: float) -> Verdict:
    return Verdict(what=what, measured=f"{value:.2f}x", target=f"at least {target:g}x", holds=value >= target)


def page(found: Found, verdicts: Sequence[Verdict], seconds: float) -> str:
    """The page of results."""
    ours, small = found.ours, found.small
    assert small is not None
    names = ("onnxruntime", *peers.PACKAGES.values())
    lines = [
        "# Performance of ingesting",
        "",
        "Made by `make bench-ingest`, which measures everything in one run.",
        "The numbers are those of one machine on one day; the ratios are what to look at.",
        "",
        f"- Machine: {CORES} cores, {platform.system()} {platform.release()}.",
        f"- Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{', '.join(f'{name} {version(name)}' for name in names)}.",
        f"- Corpus: {ours.documents} documents made by the benchmark, {found.megabytes:.1f} MB, "
        f"{ours.chunks:,} chunks: Markdown, text and HTML, and a few PDF and Word files.",
        "- Ours: `penstock worker` at its default settings and `penstock ingest submit --wait` on the "
        "folder; the time is that of the whole command, the worker warm.",
        "- Bare: the same readers, splitter, model and SQL statements in one process, "
        "without queue, stages, events, blobs, child processes or commits of single documents.",
        f"- Ours, the bare work and the peers take turns, {len(found.turns)} of each; the best counts.",
        *(f"- {name}: {way}." for name, way in peers.WAYS.items()),
        "- Peers read with our readers, cut to the same count of tokens, embed with our model on all cores, "
        "and write to a plain SQLite table.",
        f"- The run took {seconds:.0f} s, at nice {os.getpriority(os.PRIO_PROCESS, 0)}.",
        "",
        "## Targets",
        "",
        *_table(
            ("what", "measured", "target", "holds"),
            ((v.what, v.measured, v.target, "yes" if v.holds else "no") for v in verdicts),
        ),
        "",
        "## Speed",
        "",
        *_table(
            ("", "seconds", "documents a second", "chunks", "chunks a second", "again, seconds"),
            _speeds(found),
        ),
        "",
        f"A worker that has just been started has its first documents searchable after {ours.cold:.1f} s: "
        "the program, a parser and the model are loaded by then.",
        "",
        "## Where the time goes",
        "",
        *_shares(found),
        "",
        "## Memory",
        "",
        *_table(
            ("documents", "peak of all processes, MB", "processes"),
            ((each.documents, f"{each.peak.megabytes:.0f}", each.peak.processes) for each in (small, ours)),
        ),
        "",
        "## Killed half-way",
        "",
        f"Every process is killed when half of the texts of {small.documents} documents are embedded, "
        "then started again.",
        "",
        *_table(
            ("", "searchable when killed", "lost", "doubled", "texts", "embedded twice"),
            ((name, s.found, s.lost, s.doubled, s.texts, s.repeated) for name, s in found.killed.items()),
        ),
        "",
    ]
    return "\n".join(lines)


def _speeds(found: Found) -> Iterable[tuple[object, ...]]:
    rows = {OURS: found.ours, **found.peers}
    for name, each in rows.items():
        rate, chunks = each.documents / each.first, each.chunks / each.first
        yield (
            name,
            f"{each.first:.1f}",
            f"{rate:.1f}",
            f"{each.chunks:,}",
            f"{chunks:.1f}",
            f"{each.again:.2f}",
        )


def _shares(found: Found) -> list[str]:
    bare, ours = found.bare, found.ours
    rows = [(trade, f"{seconds:.2f}") for trade, seconds in bare.trades.items()]
    rows += [
        ("bare work, all of it", f"{bare.seconds:.2f}"),
        ("the worker's processes for the same", f"{ours.cpu:.2f}"),
        ("the command that handed in and waited", f"{ours.command:.2f}"),
        ("other programs of the machine meanwhile", f"{ours.others:.2f}"),
        (f"{CORES} cores for as long as the command ran", f"{ours.first * CORES:.2f}"),
        ("embedding on one core while the others rest", f"{bare.rested:.2f}"),
    ]
    told = _table(("", "processor seconds"), rows)
    if ours.others > OTHERS_MAX * ours.first * CORES:
        told += ["", "**Other programs kept the machine busy during this run: its wall times say little.**"]
    return told


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    return lines + [f"| {' | '.join(map(str, row))} |" for row in rows]


if __name__ == "__main__":
    sys.exit(main())

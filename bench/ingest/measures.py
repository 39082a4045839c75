"""What is measured, one function a question; each starts from nothing in a folder of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench.ingest import corpus, ours, peers, trees
from bench.ingest.bare import CORES

TRADES = ("parse", "split", "embed", "index")
LIMIT_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """One run of the whole program over a corpus."""

    documents: int
    chunks: int
    cold: float
    """Seconds from starting the worker until its first few documents can be searched."""
    first: float
    again: float
    cpu: float
    """Processor seconds of the worker's processes during the first."""
    command: float
    """Processor seconds of the command that handed in and waited."""
    others: float
    """Processor seconds other programs took meanwhile; a machine at rest shows next to none."""
    peak: trees.Peak


@dataclass(frozen=True, slots=True, kw_only=True)
class Bare:
    """Processor seconds of the same work by itself."""

    trades: dict[str, float]
    rested: float
    """Of embedding on one core while the others rest."""
    chunks: int

    @property
    def seconds(self) -> float:
        return sum(self.trades.values())

    @property
    def ideal(self) -> float:
        """The wall time if the work were spread over all cores and nothing else were to do."""
        return self.seconds / CORES


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A peer's run over a corpus, and over the same corpus again."""

    documents: int
    chunks: int
    first: float
    again: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Survived:
    """What a kill half-way and a second run left."""

    documents: int
    found: int
    """Documents that could be searched when it was killed."""
    lost: int
    doubled: int
    repeated: int
    """Texts embedded a second time."""
    texts: int


def ingest(scratch: Path, folder: Path, documents: int) -> Ingested:
    """Warm the worker with a few documents, take the corpus in, and take it in again."""
    few = scratch / "few"
    corpus.make(few, 4, seed=99)
    plant = ours.Plant(scratch / "plant")
    begin = time.monotonic()
    with plant.worker() as worker, trees.watched(worker.pid) as peak:
        plant.ingest(few)
        cold, before = time.monotonic() - begin, plant.chunks()
        used, command, machine = _spent(worker.pid)
        first = plant.ingest(folder)
        used, command, machine = (
            after - since for after, since in zip(_spent(worker.pid), (used, command, machine), strict=True)
        )
        found = plant.documents() - 4
        again = plant.ingest(folder)
    if found != documents:
        raise RuntimeError(f"{found} of {documents} documents were ingested")
    return Ingested(
        documents=documents,
        chunks=plant.chunks() - before,
        cold=cold,
        first=first,
        again=again,
        cpu=used,
        command=command,
        others=machine - used - command,
        peak=peak,
    )


def _spent(worker: int) -> tuple[float, float, float]:
    """Processor seconds so far: of the worker's tree, of commands that have ended, of the whole machine."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return trees.processor_seconds(worker), ended.ru_utime + ended.ru_stime, trees.machine_seconds()


def bare(scratch: Path, folder: Path) -> Bare:
    """The same corpus without the system around it."""
    found = json.loads(_python("bench.ingest.bare", folder, scratch / "bare"))
    return Bare(
        trades={trade: found[trade] for trade in TRADES},
        rested=found["embed, other cores at rest"],
        chunks=found["chunks"],
    )


def peer(name: str, scratch: Path, folder: Path) -> Taken:
    """Whole runs of a peer's process, its start included."""
    state = scratch / "state"
    begin = time.monotonic()
    _python("bench.ingest.peers", name, folder, state)
    first = time.monotonic() - begin
    found = peers.contents(state)
    begin = time.monotonic()
    _python("bench.ingest.peers", name, folder, state)
    again = time.monotonic() - begin
    return Taken(documents=found["documents"], chunks=found["chunks"], first=first, again=again)


def ours_killed(scratch: Path, folder: Path, documents: int, texts: int) -> Survived:
    """Kill all of our processes when half of the texts are embedded, start again, and count."""
    mark = scratch / "mark"
    plant = ours.Plant(scratch / "plant", mark=mark)
    with plant.worker() as worker:
        plant.hand_in(folder)
        ours.until("half of the texts", lambda: ours.size(mark) >= texts // 2)
        trees.kill(worker.pid)
        worker.wait()
    found = plant.documents()
    with plant.worker():
        ours.until("all jobs have ended", lambda: not plant.unfinished())
    return Survived(
        documents=documents,
        found=found,
        lost=documents - plant.documents(),
        doubled=plant.doubled(),
        repeated=ours.size(mark) - plant.texts(),
        texts=plant.texts(),
    )


def peer_killed(name: str, scratch: Path, folder: Path, documents: int, texts: int) -> Survived:
    """The same for a peer: kill, run again, count."""
    mark, state = scratch / "mark", scratch / "state"
    command = [sys.executable, "-m", "bench.ingest.peers", name, str(folder), str(state)]
    environment = ours.environment(mark)
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        ours.until("half of the texts", lambda: ours.size(mark) >= texts // 2)
        trees.kill(process.pid)
    found = peers.contents(state)["documents"]
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, timeout=LIMIT_SECONDS, check=True)
    end = peers.contents(state)
    return Survived(
        documents=documents,
        found=found,
        lost=documents - end["documents"],
        doubled=end["doubled"],
        repeated=ours.size(mark) - end["chunks"],
        texts=end["chunks"],
    )


def _python(module: str, *words: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", module, *map(str, words)],
        capture_output=True,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"{module}: {done.returncode}\n{done.stderr[-4000:]}")
    return done.stdout

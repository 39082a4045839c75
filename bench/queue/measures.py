"""What is measured: each returns plain numbers, medians of a few repeats."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

import psutil

from bench.queue import ours, peers, raw
from bench.queue.harness import (
    REPEATS,
    drain_rate,
    middle,
    percentile,
    processes,
    python,
    rate,
    scratch,
)
from bench.queue.marks import STAMP

PEER_REPEATS = 1
"""Peers are slow: with the same backlog as ours one run of each takes longer than all of ours."""
FAR = 4_000_000_000.0
"""A due time that never comes."""
WARM_UP = 5
"""Claims of a turn that are not counted."""
CLAIM_TURNS = 9
"""So often is each table claimed from, in turns with the others."""


def submits(bulk: int, single: int) -> dict[str, float]:
    """Single and bulk submits a second, ours and raw, taken in turns."""
    got: dict[str, list[float]] = {"bulk": [], "raw bulk": [], "single": [], "raw single": []}
    for _ in range(REPEATS):
        with scratch() as folder:
            many, one = _raw_submits(folder, bulk, single)
            got["raw bulk"].append(many)
            got["raw single"].append(one)
        with scratch() as folder:
            jobs = ours.new_jobs(bulk + single)

            async def both(store: ours.SqliteStore, jobs: list[ours.NewJob] = jobs) -> tuple[float, float]:
                begin = time.perf_counter()
                await ours.submit_bulk(store, jobs[:bulk])
                between = time.perf_counter()
                await ours.submit_single(store, jobs[bulk:])
                return bulk / (between - begin), single / (time.perf_counter() - between)

            many, one = ours.with_store(folder, both)
            got["bulk"].append(many)
            got["single"].append(one)
    return {name: middle(values) for name, values in got.items()}


def _raw_submits(folder: Path, bulk: int, single: int) -> tuple[float, float]:
    db = raw.opened(folder)
    made = raw.rows(bulk + single)
    many = rate(bulk, lambda: raw.insert_bulk(db, made[:bulk], ours.BULK))
    one = rate(single, lambda: raw.insert_single(db, made[bulk:]))
    db.close()
    return many, one


def cycles(count: int, batch: int) -> dict[str, float]:
    """Jobs claimed and settled a second, ours and raw, taken in turns."""
    got: dict[str, list[float]] = {"ours": [], "raw": []}
    for _ in range(REPEATS):
        with scratch() as folder:
            db = raw.opened(folder)
            raw.insert_bulk(db, raw.rows(count), ours.BULK)

            def drained(db: raw.sqlite3.Connection = db) -> None:
                while raw.cycle(db, batch, "bench"):
                    pass

            got["raw"].append(rate(count, drained))
            db.close()
        with scratch() as folder:
            ours.fill(folder, count)

            async def drain(store: ours.SqliteStore) -> float:
                begin = time.perf_counter()
                while await ours.cycle(store, batch):
                    pass
                return count / (time.perf_counter() - begin)

            got["ours"].append(ours.with_store(folder, drain))
    return {name: middle(values) for name, values in got.items()}


def drains(count: int) -> dict[str, float]:
    """Jobs a second through worker processes: ours, a bare batched loop over our table, the peers."""
    got: dict[str, list[float]] = {}
    for _ in range(REPEATS):
        for workers in (1, 2):
            with scratch() as folder:
                ours.fill(folder, count)
                argv = python("bench.queue.ours", "worker", str(folder), str(workers))
                got.setdefault(f"penstock x{workers}", []).append(drain_rate(argv, count, 1, folder))
            with scratch() as folder:
                raw.insert_bulk(raw.opened(folder), raw.rows(count), ours.BULK)
                argv = python("bench.queue.raw", str(folder), str(ours.CONCURRENCY))
                got.setdefault(f"bare loop x{workers}", []).append(drain_rate(argv, count, workers, folder))
    return {name: middle(values) for name, values in got.items()}


def peer_rates(count: int) -> dict[str, dict[str, float]]:
    """Each peer's single submits and drains a second."""
    found: dict[str, dict[str, float]] = {}
    for peer in peers.PEERS:
        rates: dict[str, list[float]] = {}
        for _ in range(PEER_REPEATS):
            for workers in (1,) if peer in peers.ONE_CONSUMER else (1, 2):
                with scratch() as folder:
                    env = {**os.environ, "BENCH_STORE": str(folder / "peer.db")}
                    argv = python("bench.queue.peers", "submit", peer, str(count))
                    out = subprocess.run(argv, env=env, capture_output=True, text=True, check=True)
                    rates.setdefault("submit", []).append(count / float(out.stdout))
                    drained = drain_rate(peers.worker_argv(peer), count, workers, folder)
                    rates.setdefault(f"drain x{workers}", []).append(drained)
        found[peer] = {name: middle(values) for name, values in rates.items()}
    return found


def claim_costs(large: int, small: int = 1000, batches: tuple[int, ...] = (1, 16)) -> dict[str, float]:
    """Milliseconds a claim takes with few jobs waiting, with many, and with many delayed beside few.

    What a turn claimed is put in again before the next, so that as many wait at each turn's start. The stores
    stay open from turn to turn, as a worker's does.
    """
    with scratch() as folder:
        bases = {"few": folder / "few", "many": folder / "many", "delayed": folder / "delayed"}
        ours.fill(bases["few"], small)
        ours.fill(bases["many"], large)
        ours.fill(bases["delayed"], large, run_at=FAR, start=10_000_000)
        ours.fill(bases["delayed"], small)
        times = asyncio.run(_claim_turns(bases, small, batches))
    return {name: middle(values) * 1000 for name, values in times.items()}


async def _claim_turns(
    bases: dict[str, Path], small: int, batches: tuple[int, ...]
) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {}
    numbers = count(20_000_000, 10_000)
    async with AsyncExitStack() as open_stores:
        stores = {name: await open_stores.enter_async_context(ours.opened(at)) for name, at in bases.items()}
        for batch in batches:
            rounds = min(small // batch // 2, 60)
            for _ in range(CLAIM_TURNS):
                for name, store in stores.items():
                    times.setdefault(f"{name} batch {batch}", []).extend(
                        await _claim_times(store, batch, rounds)
                    )
                    again = ours.new_jobs((rounds + WARM_UP) * batch, next(numbers))
                    await ours.submit_bulk(store, again)
                    await asyncio.to_thread(os.sync)
    return times


async def _claim_times(store: ours.SqliteStore, batch: int, rounds: int) -> list[float]:
    times = []
    for _ in range(WARM_UP + rounds):
        begin = time.perf_counter()
        leases = await store.queue.claim(ours.WorkerId("bench"), batch, idle=False)
        times.append(time.perf_counter() - begin)
        await store.queue.settle([(lease, ours.DONE) for lease in leases])
    return times[WARM_UP:]


def pickup(per_second: float, seconds: float) -> dict[str, float]:
    """Milliseconds from just before a submit in another process to the handler's start."""
    with scratch() as folder:
        argv = python("bench.queue.ours", "worker", str(folder), "1")
        with processes(argv, 1, folder):
            time.sleep(3.0)
            pace = python("bench.queue.ours", "pace", str(folder), str(per_second), str(seconds))
            subprocess.run(pace, check=True)
            time.sleep(0.5)
        stamps = list(STAMP.iter_unpack((folder / "mark").read_bytes()))
    assert len(stamps) == int(per_second * seconds), "a job was lost"
    waits = [(start - sent) / 1e6 for sent, start in stamps]
    return {"p50": percentile(waits, 0.5), "p99": percentile(waits, 0.99), "max": max(waits)}


def contention(procs: int, seconds: float) -> dict[str, float]:
    """Milliseconds of a claim's 99.9th percentile among so many processes, and of a bare synced write."""
    with scratch() as folder:
        ours.fill(folder, 400_000)  # so many that none runs out before the time is over
        argv = python("bench.queue.contender", str(folder), str(seconds))
        outs = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(procs)]
        claims = [float(line) for out in outs for line in out.communicate()[0].split()]
        db = raw.opened(folder)
        writes = [raw.synced_write(db) * 1000 for _ in range(3000)]
        db.close()
    return {
        "claims": float(len(claims)),
        "claim p99.9": percentile(claims, 0.999),
        "claim max": max(claims),
        "write p99.9": percentile(writes, 0.999),
    }


def idle(seconds: float) -> dict[str, float]:
    """Percent of one core an idle worker and its supervisor use."""
    with scratch() as folder:
        argv = python("bench.queue.ours", "worker", str(folder), "1")
        with processes(argv, 1, folder) as (parent,):
            time.sleep(5.0)
            tree = [psutil.Process(parent.pid), *psutil.Process(parent.pid).children(recursive=True)]
            before = sum(sum(process.cpu_times()[:2]) for process in tree)
            time.sleep(seconds)
            used = sum(sum(process.cpu_times()[:2]) for process in tree) - before
            memory = sum(process.memory_info().rss for process in tree) / 2**20
    return {"percent": used / seconds * 100, "megabytes": memory}

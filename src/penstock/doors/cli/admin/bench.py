"""`penstock admin bench`: how fast this very queue is, here and now."""

from __future__ import annotations

import asyncio

import click

from penstock.doors.cli import output
from penstock.doors.cli.admin.shapes import BenchFacts
from penstock.doors.cli.admin.stats import engine_of
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import verb
from penstock.doors.cli.values import duration


@verb(
    "bench",
    examples=("penstock admin bench", "penstock admin bench --count 10000 --json"),
    shape=BenchFacts,
    notes=(
        "Jobs of nobody go through an empty queue beside yours, on the same server or disk, and are removed.",
        "It measures the queue alone: no worker process and no document is involved.",
    ),
)
@click.option(
    "--count",
    type=click.IntRange(100, 100_000),
    default=2_000,
    show_default=True,
    metavar="N",
    help="Jobs that go through.",
)
@click.option(
    "--timeout",
    type=duration,
    default="1m",
    show_default=True,
    metavar="DURATION",
    help="Longest time it may take.",
)
@click.pass_obj
def bench(given: Given, count: int, timeout: float) -> None:
    """Measure how fast the queue takes and hands out jobs."""
    from penstock.wiring.loop import run

    settings = given.settings()

    async def measured() -> BenchFacts:
        from penstock.wiring.measuring import measure

        async with asyncio.timeout(timeout):
            found = await measure(settings, count)
        return BenchFacts(
            engine=engine_of(settings),
            count=found.jobs,
            submit_per_second=round(found.jobs / found.submit_seconds, 1),
            drain_per_second=round(found.jobs / found.drain_seconds, 1),
            lap_p50_ms=round(found.percentile(0.5) * 1000, 3),
            lap_p95_ms=round(found.percentile(0.95) * 1000, 3),
        )

    told = run(measured())
    if given.as_json:
        output.document(told)
    else:
        output.table(told.items())

"""Slow, capped: a large folder handed in at once, and what is told while it is worked through."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests.support.papers import COLLECTION, Papers
from tests.support.processes import Plant

LINE = re.compile(
    r"(?P<ended>[\d,]+) of (?P<total>[\d,]+) ended, 0 failed(, [\d.]+/s)?(?P<left>, about .+ left)?"
)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("count", [500, pytest.param(2_000, marks=pytest.mark.crash_full)])
def test_many_files_in_one_drop(plant: Plant, count: int) -> None:
    """All are ingested from one command that tells how many of how many, how fast, and for how long yet."""
    papers = Papers(plant)
    for n in range(count):
        papers.write(f"in/{n % 7}/{n:05}.md", f"# Note {n}\n\nNote {n} is about the river number {n}.\n")
    worker = papers.worker()

    ran = subprocess.run(
        [
            *(sys.executable, "-m", "penstock", "ingest", "submit", "--rag", COLLECTION),
            *("--path", str(papers.folder / "in"), "--wait", "--timeout", "900s"),
        ],
        cwd=plant.folder,
        env=plant.environment(),
        capture_output=True,
        text=True,
        timeout=1000,
        check=False,
    )

    assert ran.returncode == 0, ran.stderr
    told = [match for line in ran.stderr.splitlines() if (match := LINE.fullmatch(line))]
    pairs = [(number(match["ended"]), number(match["total"])) for match in told]
    assert f"{count:,} done, 0 failed of {count:,} jobs" in ran.stderr
    assert len(pairs) >= 3
    assert all(0 <= ended <= total and total > 0 for ended, total in pairs)
    assert pairs[-1] == (count, count)
    assert [ended for ended, _ in pairs] == sorted(ended for ended, _ in pairs)
    assert any(match["left"] for match in told), "when it will be over was told"
    assert "nan" not in ran.stderr.lower()
    papers.rest(worker, 60)
    assert worker.stop() == 0
    assert papers.states() == {f"{n:05}.md": "ingested" for n in range(count)}
    papers.run("fsck")


def number(text: str) -> int:
    return int(text.replace(",", ""))

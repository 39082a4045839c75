"""One bad file: the worst ones go through the whole program beside good ones, and cost themselves alone."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from tests.support.files.hostile import HOSTILE, READ
from tests.support.files.pdf import content_bomb, shared_pages
from tests.support.papers import Papers
from tests.support.processes import Plant

pytestmark = [pytest.mark.xdist_group("hostile"), pytest.mark.timeout(600)]

PATIENCE = 240.0
"""Seconds for what takes ten on a machine that has time."""
SECONDS_OF_TRIES = 5.0
"""Until forty endless files are known to be slow one or two are tried, which costs each a child."""
WORST = (
    "laughs.docx", "foreign.docx", "flat.docx", "large-lie.docx", "members.docx", "tables.docx",
    "foreign.xlsx", "foreign.epub", "loop.pdf", "deep.pdf", "deep.json", "deep.html", "half.txt",
    "surrogates.txt", "marks.txt",
)  # fmt: skip
MEMORY_ENDS = {"ERR_PARSE_MEMORY", "ERR_PARSE_TIMEOUT"}


@pytest.fixture
def papers(plant: Plant) -> Papers:
    """A data folder whose parsers get little time and memory."""
    plant.choose(parser_memory="256MiB", parser_timeout="30s")
    return Papers(plant)


def test_hostile_files_beside_good_ones(papers: Papers) -> None:
    """Each hostile one fails with its code or is read, each good one is ingested, by the same worker."""
    plant = papers.plant
    (papers.folder / "in").mkdir()
    for name in WORST:
        (papers.folder / "in" / name).write_bytes(HOSTILE[name].make())
    (papers.folder / "in" / "bomb.pdf").write_bytes(content_bomb(400 << 20))
    good = [f"good-{n}.md" for n in range(20)]
    for n, name in enumerate(good):
        papers.write(f"in/{name}", f"# Cat {n}\n\nCat {n} sleeps beside a bomb.\n")
    worker = papers.worker()
    pids = plant.beating(worker.children())

    papers.submit(papers.folder / "in")
    papers.rest(worker, PATIENCE)

    assert plant.beating(worker.children()) == pids
    states, ends = papers.states(), ends_of(plant)
    assert {name: states[name] for name in good} == dict.fromkeys(good, "ingested")
    allowed = {**{name: HOSTILE[name].ends for name in WORST}, "bomb.pdf": MEMORY_ENDS}
    assert {name: end for name, end in ends.items() if name in allowed and end not in allowed[name]} == {}
    assert all((states[name] == "ingested") == (ends[name] == READ) for name in allowed)
    assert plant.rows("SELECT * FROM unified_queue WHERE retry_count > 0 OR crashes > 0") == []
    assert worker.stop() == 0
    read = [name for name in states if ends[name] == READ]
    papers.assert_all_is_well(read, failed=[name for name in states if name not in read])


def test_files_that_take_all_their_time_keep_nobody_waiting(plant: Plant) -> None:
    """Forty bad files before them: good ones are in while all of those still run."""
    _ingest_beside_endless_files(plant)


@pytest.mark.crash_full
def test_good_files_are_in_about_as_soon_as_ever(plant: Plant) -> None:
    """The same on a machine that does nothing else: what the clock says of it means something there."""
    waited, usual = _ingest_beside_endless_files(plant)

    assert waited < 2 * usual + SECONDS_OF_TRIES, (waited, usual)


def _ingest_beside_endless_files(plant: Plant) -> tuple[float, float]:
    """The seconds twenty good files take behind forty endless ones, and by themselves."""
    plant.choose(parser_children="2", parser_timeout="60s", parser_pages="200000", worker_count="1")
    papers = Papers(plant)
    worker = papers.worker()

    def good(batch: str) -> list[Path]:
        return [papers.write(f"{batch}-{n}.md", f"# {batch} {n}\n\nCat {n} sleeps.\n") for n in range(20)]

    papers.submit(*good("warm"))
    papers.rest(worker, PATIENCE)
    alone = papers.submit(*good("alone"))
    papers.rest(worker, PATIENCE)
    endless = [papers.folder / f"endless-{n}.pdf" for n in range(40)]
    pages = shared_pages(190_000)
    for n, path in enumerate(endless):
        path.write_bytes(pages + b"%% %d\n" % n)
    hostile = papers.submit(*endless)
    beside = papers.submit(*good("beside"))
    plant.wait_until(
        lambda: all(plant.job(job)["status"] == "done" for job in beside),
        "the good ones are in",
        worker,
        seconds=PATIENCE,
    )
    still = [plant.job(job)["status"] for job in hostile]
    papers.run("queue", "cancel", *hostile)
    papers.rest(worker, PATIENCE)

    assert still == ["in_progress"] * len(hostile)
    took = _seconds(plant, beside), _seconds(plant, alone)
    assert worker.stop() == 0
    names = [f"{batch}-{n}.md" for batch in ("warm", "alone", "beside") for n in range(20)]
    papers.assert_all_is_well(names, failed=[path.name for path in endless])
    return took


def _seconds(plant: Plant, jobs: list[str]) -> float:
    """From the first submit to the last end, by the queue's own times."""
    rows = [plant.job(job) for job in jobs]
    begun = min(datetime.fromisoformat(row["created_at"]) for row in rows)
    return (max(datetime.fromisoformat(row["finished_at"]) for row in rows) - begun).total_seconds()


def test_a_parser_that_dies_twice_on_a_file_is_poison(papers: Papers) -> None:
    """The worker lives, no retry is spent, the person is told; the file beside it is ingested."""
    plant = papers.plant
    bad = papers.write("bad.md", "# Glass\n\nThis is brittle.\n")
    worker = plant.start("-m", "tests.support.brittle")
    poison, good = papers.submit(bad, papers.write("good.md", "# Oak\n\nThis is sturdy.\n"))
    papers.rest(worker, PATIENCE)

    assert list(plant.beating([worker.pid])) == [worker.pid]
    assert worker.stop() == 0, worker.said()
    row = plant.job(poison)
    assert (row["status"], row["error_code"]) == ("failed", "ERR_POISON")
    assert (row["retry_count"], row["crashes"]) == (0, 0)
    assert plant.job(good)["status"] == "done"
    told = json.loads(papers.run("ingest", "status", "--job", poison, "--json"))
    assert told["suggestions"]
    papers.assert_all_is_well(["good.md"], failed=["bad.md"])


def ends_of(plant: Plant) -> dict[str, str]:
    """The code each file ended with, by name."""
    rows = plant.rows("SELECT payload_json, error_code FROM unified_queue WHERE item_type = 'file'")
    return {
        Path(json.loads(row["payload_json"])["file_path"]).name: row["error_code"] or READ for row in rows
    }

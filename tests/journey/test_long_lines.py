"""A single line of twenty megabytes goes through the real worker, in time and memory that fit its length."""

from __future__ import annotations

import re
from itertools import count
from pathlib import Path

import pytest

from tests.support.endpoint import fake_endpoint
from tests.support.papers import Papers
from tests.support.processes import Plant, Started

pytestmark = [pytest.mark.crash_full, pytest.mark.timeout(1800)]
MEGABYTE = 1_000_000
GROWTH_MAX = 400 << 20
"""Bytes a worker may need more for a line of twenty megabytes than for one of five."""


def a_line(characters: int) -> str:
    """Words that never come again, without an end of line or of a sentence."""
    words, length = [], 0
    for number in count():
        words.append(f"water{number}")
        length += len(words[-1]) + 1
        if length > characters:
            return " ".join(words)[:characters]
    raise AssertionError


def peak(worker: Started) -> int:
    """The most memory any process of the worker has had, in bytes."""
    most = 0
    for pid in worker.children():
        found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text(encoding="ascii"))
        most = max(most, int(found[1]) << 10 if found else 0)
    return most


def test_a_line_of_twenty_megabytes(plant: Plant) -> None:
    """Four times the length takes about four times the time and little more memory; the text is there."""
    seconds, memory = [], []
    with fake_endpoint() as endpoint:
        plant.choose(embedder=endpoint.url, embedding_model="fake", embedding_batch="128")
        papers = Papers(plant)
        for megabytes in (5, 20):
            worker = papers.worker()
            text = a_line(megabytes * MEGABYTE)
            (job,) = papers.submit(papers.write(f"{megabytes}.txt", text))
            papers.rest(worker, 900)
            (row,) = plant.rows(
                "SELECT (julianday(finished_at) - julianday(started_at)) * 86400 AS s FROM unified_queue"
                " WHERE queue_id = ?", job,
            )  # fmt: skip
            seconds.append(float(row["s"]))
            memory.append(peak(worker))
            assert worker.stop() == 0
            assert papers.visible()[f"{megabytes}.txt"].replace("\n", " ").endswith(text[-200:])
    papers.assert_all_is_well(["5.txt", "20.txt"])
    assert seconds[1] < 8 * max(seconds[0], 1.0), (seconds, memory)
    assert memory[1] - memory[0] < GROWTH_MAX, (seconds, memory)

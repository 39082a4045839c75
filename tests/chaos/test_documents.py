"""The whole program under fire: documents by the command line and by raw messages end ingested, once each."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time

import pytest

from tests.chaos.judge import assert_events_without_gaps, assert_redis_is_clean, assert_sound
from tests.chaos.scene import RAG, Scene
from tests.support.processes import TOP

PAGES = "The notice period of paper {number} is {number} days. " * 40


@pytest.mark.parametrize(
    ("rounds", "each"),
    [(1, 4), pytest.param(8, 12, marks=[pytest.mark.chaos_full, pytest.mark.timeout(900)])],
)
def test_documents_survive_everything_at_once(scene: Scene, rounds: int, each: int) -> None:
    """Workers and Redis are killed, connections break: every paper is there once, and fsck is content."""
    chance = random.Random(rounds)
    tree = scene.workers(2, handlers=None)
    scene.way.break_off(0.02)
    jobs: list[str] = []
    for _ in range(rounds):
        scene.keep_every_word()
        jobs += [scene.push(scene.message(PAGES.format(number=len(jobs)))) for _ in range(each)]
        jobs += submitted(scene, each)
        time.sleep(chance.uniform(0.0, 0.5))  # any moment is as good
        scene.kill_one(tree, chance)
        time.sleep(chance.uniform(0.0, 0.5))
        scene.redis.restart()
    scene.way.break_off(0.0)

    scene.drained(jobs, 120.0)
    assert tree.stop(60.0) == 0, tree.said()
    rows = scene.rows("SELECT queue_id, status, error_code FROM unified_queue")
    assert {row["queue_id"] for row in rows} == set(jobs)
    assert [row for row in rows if row["status"] != "done"] == []
    assert_ingested_once(scene, len(jobs))
    assert_events_without_gaps(scene)
    assert_redis_is_clean(scene)
    assert_sound(scene)
    assert scene.processes() == []


def submitted(scene: Scene, count: int) -> list[str]:
    """By `penstock ingest submit`, which prints the ids."""
    files = [
        str(scene.message(f"Paper {number} was submitted by hand.")["source_path"]) for number in range(count)
    ]
    paths = [word for file in files for word in ("--path", file)]
    ran = subprocess.run(
        [sys.executable, "-m", "penstock", "ingest", "submit", "--rag", RAG, *paths],
        cwd=TOP,
        env=scene.environment(),
        capture_output=True,
        timeout=60,
        check=False,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.split()


def assert_ingested_once(scene: Scene, count: int) -> None:
    """I1, I2, I5: each document is ingested, has one version, and was told to be ingested once."""
    documents = scene.rows("SELECT document_id, state FROM documents WHERE hidden_at IS NULL")
    assert [row for row in documents if row["state"] != "ingested"] == []
    assert len(documents) == count
    versions = scene.rows(
        "SELECT document, sum(state = 'current') AS shown, sum(state = 'building') AS building FROM versions"
        " GROUP BY document HAVING shown <> 1 OR building <> 0"
    )
    assert versions == []
    told = [json.loads(row["payload_json"]) for row in scene.rows("SELECT payload_json FROM events")]
    ends = [each["document_id"] for each in told if each.get("status") == "ingested"]
    assert len(ends) == len(set(ends)) == count

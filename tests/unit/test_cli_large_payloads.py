"""Large payloads: looking at many failed jobs takes memory for a few of them."""

import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.doors.cli.queue.listing import Choice, Page, look
from penstock.doors.cli.queue.retrying import failed_jobs
from penstock.doors.cli.words import Shown
from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import Failed
from penstock.model.rules import Rules
from tests.support.clock import FakeClock
from tests.support.jobs import a_note, an_error

NOTES, CHARACTERS = 60, 300_000


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    """A queue in which many large notes have failed."""
    opened = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock(), synchronous="normal")
    await opened.queue.submit([a_note(f"{number} ".ljust(CHARACTERS, "x")) for number in range(NOTES)])
    leases = await opened.queue.claim(WorkerId("w1"), NOTES)
    await opened.queue.settle([(lease, Failed(an_error())) for lease in leases])
    del leases
    tracemalloc.start()
    yield opened
    tracemalloc.stop()
    await opened.close()


@pytest.mark.parametrize("state", [None, Shown.FAILED])
async def test_a_listing_holds_no_payloads(store: SqliteStore, state: Shown | None) -> None:
    """However many jobs a page has, and however many were looked at for it."""
    page = Page(choice=Choice(), state=state, limit=NOTES, before=None)

    seen = await look(store.desk, page)

    assert len(seen.jobs) == NOTES
    assert_few_were_held()


async def test_finding_what_to_run_again_holds_no_payloads(store: SqliteStore) -> None:
    """Their ids are enough."""
    assert len(await failed_jobs(store.desk, Choice())) == NOTES
    assert_few_were_held()


def assert_few_were_held() -> None:
    """At no time was there memory for a quarter of them; reading one takes a few times its length."""
    _, peak = tracemalloc.get_traced_memory()
    assert peak < NOTES * CHARACTERS / 4

"""What many of these tests begin with: a clock they move, a store on it, an endpoint, logs put back."""

import logging
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from penstock.engines.sqlite import SqliteStore, open_sqlite, writer
from penstock.engines.telemetry.current import ATTEMPT, QUEUE, SPAN
from penstock.model.rules import Rules
from tests.support.clock import FakeClock
from tests.support.disks import Disk
from tests.support.endpoint import FakeEndpoint, fake_endpoint


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def store(tmp_path: Path, clock: FakeClock) -> AsyncIterator[SqliteStore]:
    made = await open_sqlite(tmp_path, rules=Rules(), clock=clock, synchronous="normal")
    yield made
    await made.close()


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    """What a store opened from now on syncs by."""
    disk = Disk()
    monkeypatch.setattr(writer, "sync_log", disk.sync)
    return disk


@pytest.fixture
def endpoint() -> Iterator[FakeEndpoint]:
    with fake_endpoint() as running:
        yield running


@pytest.fixture
def logs_as_before() -> Iterator[None]:
    """Leave the process's logging as it was; whatever attempt another test began is not told of here."""
    root, ours = logging.getLogger(), logging.getLogger("penstock")
    before = list(root.handlers), root.level, ours.level
    attempt, queue, span = ATTEMPT.set(None), QUEUE.set(None), SPAN.set(None)
    yield
    ATTEMPT.reset(attempt)
    QUEUE.reset(queue)
    SPAN.reset(span)
    root.handlers[:], root.level, ours.level = before

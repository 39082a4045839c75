"""Files of an incoming folder whose job has ended: the one that was judged is moved, and no other."""

# ruff: noqa: ASYNC240 -- a test's own loop may be held up by a file of its own.

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from penstock.engines.disk import DiskMover
from penstock.intake.admission import Admission, Order
from penstock.intake.moves import Moves
from penstock.model.catalogue import LOCAL_TENANT, DebtKind
from penstock.model.errors import ErrorReport
from penstock.model.files import FoundFile, mark_of
from penstock.model.options import Options, Origin
from penstock.model.outcomes import Failed
from penstock.settings import Settings, load
from penstock.wiring.store import Store, open_store
from penstock.wiring.watching import folders_of
from tests.support.ingested import WORKER, a_collection, ingested

TOO_LARGE = ErrorReport(code="ERR_FILE_TOO_LARGE", message="too large")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(None, {"PENSTOCK_DATA": str(tmp_path / "data")}, {})


@pytest.fixture
async def store(settings: Settings) -> AsyncIterator[Store]:
    async with open_store(settings) as opened:
        await a_collection(opened)
        yield opened


@pytest.fixture
def arrival(settings: Settings) -> Path:
    """A file that has just come."""
    path = folders_of(settings).incoming("notes") / "a.txt"
    path.parent.mkdir(parents=True)
    path.write_text("what came first")
    return path


def looks(path: Path) -> dict[str, str]:
    """How a watcher sees it."""
    about = path.stat()
    found = FoundFile(path=str(path), size=about.st_size, mtime_ns=about.st_mtime_ns, inode=about.st_ino)
    return {str(path): mark_of(found)}


async def refuse(store: Store, path: Path, *, demanded: bool = False) -> None:
    """A job on the file that fails before it has any bytes; one a message asked for knows no mark."""
    options = Options(origin=Origin.INCOMING, demanded=demanded)
    order = Order(tenant=LOCAL_TENANT, collection="notes", priority=5, options=options)
    await Admission(store).files(order, [str(path)], marks=None if demanded else looks(path))
    (lease,) = await store.queue.claim(WORKER, 1)
    await store.queue.settle([(lease, Failed(TOO_LARGE))])


async def move(store: Store, settings: Settings) -> list[str]:
    """Pay what is owed; what lies in `failed` afterwards."""
    folders = folders_of(settings)
    moves = Moves(store, store.desk, store.catalogue, DiskMover(), folders)
    for debt in await store.catalogue.take_debts((DebtKind.MOVE,), "me"):
        assert await moves.pay(debt)
    failed = folders.outcome("notes", done=False)
    return sorted(path.name for path in failed.iterdir()) if failed.exists() else []


async def until_files_are_later(store: Store, probe: Path) -> None:
    """Until a change of a file has a later time than now; the system counts it in steps."""
    now = store.clock.now()
    while True:
        probe.write_text("")
        if probe.stat().st_ctime > now:
            break
    probe.unlink()


def replace(path: Path, text: str) -> None:
    """As editors do."""
    aside = path.with_name("aside")
    aside.write_text(text)
    aside.rename(path)


def overwrite(path: Path, text: str) -> None:
    """As `cp` does."""
    path.write_text(text)


@pytest.mark.parametrize("demanded", [False, True])
async def test_a_file_nobody_could_read_is_moved_with_its_error(
    store: Store, settings: Settings, arrival: Path, demanded: bool
) -> None:
    """It has no bytes to be known by; it is the one that was judged."""
    await refuse(store, arrival, demanded=demanded)

    assert await move(store, settings) == ["a.txt", "a.txt.error.json"]
    assert not arrival.exists()


@pytest.mark.parametrize("demanded", [False, True])
@pytest.mark.parametrize("change", [replace, overwrite])
async def test_what_came_in_its_place_before_the_move_stays(
    store: Store, settings: Settings, arrival: Path, change: Callable[[Path, str], None], demanded: bool
) -> None:
    """M3: nobody has read it; it is a new arrival, and is not put among what failed."""
    await refuse(store, arrival, demanded=demanded)
    await until_files_are_later(store, arrival.with_name("probe"))
    change(arrival, "what came second")

    assert await move(store, settings) == []
    assert arrival.read_text() == "what came second"


async def test_a_move_that_was_cut_short_is_ended(store: Store, settings: Settings, arrival: Path) -> None:
    """The file has both names then, and goes by the new one alone."""
    await refuse(store, arrival, demanded=True)
    await until_files_are_later(store, arrival.with_name("probe"))
    failed = folders_of(settings).outcome("notes", done=False)
    failed.mkdir()
    os.link(arrival, failed / "a.txt")

    assert await move(store, settings) == ["a.txt", "a.txt.error.json"]
    assert not arrival.exists()


async def test_a_file_at_an_older_ones_place_is_moved_when_it_fails(
    store: Store, settings: Settings, arrival: Path
) -> None:
    """Its document has the bytes of the older one; the newer was judged by itself and must not lie there."""
    await ingested(store, settings.data, arrival, ["what came first"])
    replace(arrival, "what came second and cannot be read")

    await refuse(store, arrival)

    assert await move(store, settings) == ["a.txt", "a.txt.error.json"]
    assert not arrival.exists()

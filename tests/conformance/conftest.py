"""A store on a folder, and a plain connection of somebody else to the same file."""

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.rules import Rules
from tests.conformance.foreign import connect
from tests.support.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def rules() -> Rules:
    """The defaults, with the tenth-claim rule off, as the page's order knows none."""
    return Rules(longest_waiting_every=0)


@pytest.fixture
async def store(tmp_path: Path, rules: Rules, clock: FakeClock) -> AsyncIterator[SqliteStore]:
    opened = await open_sqlite(tmp_path, rules=rules, clock=clock, synchronous="normal")
    yield opened
    await opened.close()


@pytest.fixture
def db(store: SqliteStore) -> Iterator[sqlite3.Connection]:
    """The foreign program, while the store is open."""
    with closing(connect(store.path.parent)) as connection:
        yield connection


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database file as a first start leaves it."""
    folder = tmp_path_factory.mktemp("made")

    async def start() -> None:
        opened = await open_sqlite(folder, rules=Rules(), clock=FakeClock())
        await opened.close()

    asyncio.run(start())
    return folder / "penstock.db"


@pytest.fixture
def table(made: Path, tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """The foreign program alone with a copy of that file."""
    shutil.copy(made, tmp_path / "penstock.db")
    with closing(connect(tmp_path)) as connection:
        yield connection

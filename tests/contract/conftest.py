"""A fresh store per test, on every engine, with a clock the test moves."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.model.rules import Rules
from penstock.ports.batches import Batches
from penstock.ports.desk import Desk
from penstock.ports.queue import Queue
from tests.contract.engines import ENGINES, Home, Store
from tests.support.clock import FakeClock


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def rules(request: pytest.FixtureRequest) -> Rules:
    """The defaults, unless `with_rules` says otherwise."""
    chosen = getattr(request, "param", None)
    return chosen if isinstance(chosen, Rules) else Rules()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every test runs on every engine; a module about the database runs on those that hold one."""
    if "engine_name" in metafunc.fixturenames:
        needs = getattr(metafunc.module, "NEEDS_DATABASE", False)
        offers = [name for name, engine in sorted(ENGINES.items()) if engine.holds_database or not needs]
        metafunc.parametrize("engine_name", offers)


@pytest.fixture
async def home(engine_name: str, tmp_path: Path, rules: Rules, clock: FakeClock) -> AsyncIterator[Home]:
    """Where the test's store lives, to be opened, restarted and crashed."""
    home = Home(ENGINES[engine_name], tmp_path, rules, clock)
    yield home
    await home.close()


@pytest.fixture
async def store(home: Home) -> Store:
    return await home.open()


@pytest.fixture
def queue(store: Store) -> Queue:
    return store.queue


@pytest.fixture
def desk(store: Store) -> Desk:
    return store.desk


@pytest.fixture
def batches(store: Store) -> Batches:
    return store.batches

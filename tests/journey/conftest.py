"""The program on a folder of the test's own, such a folder with workers, and an API one signs in to."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import Program
from tests.support.person import Person
from tests.support.processes import Plant, a_plant
from tests.support.served import Served, serving
from tests.support.tenants import SIGNED_IN


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Plant]:
    with a_plant(tmp_path) as plant:
        yield plant


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Program:
    """The program on a data folder that the tests of a module share."""
    return Program(tmp_path_factory.mktemp("installed"))


@pytest.fixture(scope="module")
def served(installed: Program) -> Iterator[Served]:
    """Its API without workers, for whoever shows a token."""
    with serving(installed, "serve", env=SIGNED_IN) as served:
        yield served


@pytest.fixture
def person(served: Served, installed: Program) -> Person:
    """Somebody new who is signed in."""
    return Person(served, installed.folder)

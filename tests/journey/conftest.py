"""The program on a data folder of the test's own, and such a folder with workers on it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.command_line import Program
from tests.support.processes import Plant, a_plant


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Plant]:
    with a_plant(tmp_path) as plant:
        yield plant

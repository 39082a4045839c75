"""A data folder with processes on it, and the promise that none of them is left over."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import Plant, a_plant


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Plant]:
    with a_plant(tmp_path) as plant:
        yield plant

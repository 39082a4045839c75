"""A data folder with processes on it, and the promise that none of them is left over."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.processes import Plant


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Plant]:
    """A made data folder; at the end every process is gone, also those whose parents were killed."""
    plant = Plant(tmp_path)
    plant.make()
    try:
        yield plant
    finally:
        left = plant.close()
    assert left == [], "processes were left over"

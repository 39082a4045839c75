"""A scene for each test, and the promise that no process is left of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chaos.scene import Scene, a_scene


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with a_scene(tmp_path) as scene:
        yield scene

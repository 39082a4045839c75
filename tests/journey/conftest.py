"""The program on a data folder of the test's own."""

from pathlib import Path

import pytest

from tests.support.command_line import Program


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)

"""The SQLite that Python brings along: one that is too old is told before anything is made."""

from pathlib import Path

import pytest

from penstock.engines.sqlite import connection, open_sqlite
from penstock.model.errors import Refused
from penstock.model.rules import Rules
from tests.support.clock import FakeClock


async def test_an_old_library_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version there is and the one that is needed are both named, and no folder is left behind."""
    monkeypatch.setattr(connection, "LIBRARY_LEAST", (99, 1))

    with pytest.raises(Refused, match=r"has SQLite 3\..*, at least 99\.1 is needed") as caught:
        await open_sqlite(tmp_path / "data", rules=Rules(), clock=FakeClock())

    assert caught.value.code == "ERR_SQLITE_TOO_OLD"
    assert not (tmp_path / "data").exists()

"""The file all of it is in."""

from pathlib import Path

from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.rules import Rules


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.glob("penstock.db*")}


async def test_a_new_database_is_its_owners_to_read(tmp_path: Path) -> None:
    """What documents say is nobody's on the same machine; one that was shared on purpose stays so."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock())
    made = modes(tmp_path)
    await store.close()
    (tmp_path / "penstock.db").chmod(0o660)
    again = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock())
    shared = modes(tmp_path)
    await again.close()

    assert set(made) == {"penstock.db", "penstock.db-wal", "penstock.db-shm"}
    assert set(made.values()) == {0o600}
    assert set(shared.values()) == {0o660}

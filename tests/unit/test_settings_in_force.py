"""Settings reach what they are about: the store a process opens keeps to them."""

from pathlib import Path

from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.passages import Candidate
from penstock.settings import Settings, load
from penstock.wiring.store import open_store, rules_of
from penstock.wiring.workers import pace_of
from tests.support.cataloguing import ingested, question, scope_of, vector_of

TEXTS = [f"text {at}" for at in range(12)]


def settings_of(data: Path, **chosen: str) -> Settings:
    names = {f"PENSTOCK_{name.upper()}": value for name, value in chosen.items()}
    return load(None, {"PENSTOCK_DATA": str(data), **names}, {})


def test_how_long_a_parked_job_rests_is_a_setting(tmp_path: Path) -> None:
    """The delay of a dependency that says nothing itself, and the longest time of all."""
    usual = rules_of(settings_of(tmp_path))
    chosen = rules_of(settings_of(tmp_path, worker_park_delay="3s", worker_park_max="1m"))

    assert (usual.park_seconds, usual.park_seconds_max) == (30.0, 86_400.0)
    assert (chosen.park_seconds, chosen.park_seconds_max) == (3.0, 60.0)


async def test_how_many_vectors_are_kept_in_memory_is_a_setting(tmp_path: Path) -> None:
    """A process that may keep none finds the same as one that may keep many."""
    near = question("nothing", vector_of(TEXTS[7]))
    async with open_store(settings_of(tmp_path)) as store:
        await ingested(store, texts=TEXTS)

    async def nearest(settings: Settings, most: int) -> tuple[Candidate, ...]:
        async with open_store(settings) as store:
            assert vars(store.index)["_vectors_max"] == most
            (collection,) = await store.catalogue.collections(LOCAL_WORKSPACE)
            (found,) = await store.index.candidates(scope_of(collection.id), near)
            return found.dense

    many = await nearest(settings_of(tmp_path), 400_000)
    none = await nearest(settings_of(tmp_path, sqlite_vectors_max="0"), 0)

    assert many
    assert [each.chunk for each in none] == [each.chunk for each in many]


def test_the_sweep_waits_as_long_as_the_page_says_and_known_workers_do_not(tmp_path: Path) -> None:
    """W120: reaper.interval is the time between two passes; a dead worker that is known is noticed sooner."""
    usual, often = settings_of(tmp_path), settings_of(tmp_path, reaper_interval="100ms")

    assert (usual.reaper.interval, pace_of(usual).rescue) == (5.0, 0.5)
    assert (often.reaper.interval, pace_of(often).rescue) == (0.1, 0.1)

"""The first collection: made once, and taken up again by a start that follows one that died."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.model.errors import Refused
from penstock.ports.desk import Wanted
from penstock.settings import RecipeChoice, Settings, load
from penstock.wiring import collections
from penstock.wiring.sample import take_sample
from penstock.wiring.store import open_store


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(None, {}, {"data": str(tmp_path / "data")})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "docs"
    path.mkdir()
    return path


async def jobs_of(settings: Settings) -> list[str]:
    async with open_store(settings) as store:
        return [job.collection for job in await store.desk.jobs(Wanted())]


async def test_a_link_means_the_folder_it_leads_to(settings: Settings, folder: Path, tmp_path: Path) -> None:
    """The collection has the link's name; the job names the folder, for no link is followed later."""
    (tmp_path / "papers").symlink_to(folder)

    assert await take_sample(settings, tmp_path / "papers") == "papers"

    async with open_store(settings) as store:
        (job,) = await store.desk.jobs(Wanted())
    assert json.loads(job.payload_json)["folder_path"] == str(folder)


async def test_a_first_start_takes_the_folder_once(settings: Settings, folder: Path) -> None:
    """The second start finds the collection and leaves it alone."""
    taken = [await take_sample(settings, folder) for _ in range(2)]

    assert taken == ["docs", None]
    assert await jobs_of(settings) == ["docs"]


async def test_a_start_that_died_before_its_job_is_taken_up(settings: Settings, folder: Path) -> None:
    """Killed between the collection and the job, a newcomer would have an empty collection for ever."""
    async with open_store(settings) as store:
        await collections.create(
            store, settings, "docs", description="The folder docs.", choice=RecipeChoice()
        )

    assert await take_sample(settings, folder) == "docs"
    assert await jobs_of(settings) == ["docs"]


@pytest.mark.parametrize("name", ["mine", "docs"])
async def test_a_collection_of_ones_own_means_no_first_start(
    settings: Settings, folder: Path, name: str
) -> None:
    """Where anything was set up already, nothing is added to it."""
    async with open_store(settings) as store:
        await collections.create(store, settings, name, description="", choice=RecipeChoice())

    assert await take_sample(settings, folder) is None
    assert await jobs_of(settings) == []


async def test_a_folder_that_is_not_there_is_refused(settings: Settings, tmp_path: Path) -> None:
    """Before anything is made."""
    with pytest.raises(Refused) as caught:
        await take_sample(settings, tmp_path / "none")

    assert caught.value.code == "ERR_FOLDER_NOT_FOUND"
    assert not settings.data.exists()

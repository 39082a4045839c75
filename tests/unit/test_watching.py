"""Watching goes on when a collection's folders cannot be made for a while, or the collection is another."""

import asyncio
from pathlib import Path

import pytest

from penstock.model.catalogue import LOCAL_WORKSPACE, CollectionId
from penstock.settings import load
from penstock.wiring import watching
from penstock.wiring.store import open_store
from penstock.wiring.watching import watch_sources


async def test_folders_that_cannot_be_made_are_tried_again(tmp_path: Path) -> None:
    """A file where the sources should be is told, not died of; once it is gone, incoming is there."""
    settings = load(None, {"PENSTOCK_DATA": str(tmp_path)}, {})
    (tmp_path / "sources").write_text("in the way", encoding="utf-8")
    async with open_store(settings) as store:
        await store.write(lambda tx: tx.shelves.declare(LOCAL_WORKSPACE, "notes", recipe_json="{}"))
        watch = asyncio.create_task(watch_sources(settings, store))
        await asyncio.wait({watch}, timeout=0.5)
        assert not watch.done()

        (tmp_path / "sources").unlink()
        async with asyncio.timeout(60):
            while not (tmp_path / "sources/notes/incoming").is_dir():  # noqa: ASYNC110  # it tells nobody
                await asyncio.sleep(0.05)
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)


async def test_a_collection_deleted_and_declared_again_is_filled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name and its folder are the same, but nothing of the folder is known any more."""
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.1)
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "cats.md").write_text("Cats sleep.\n", encoding="utf-8")
    config = tmp_path / "penstock.yaml"
    config.write_text(f"collections: {{notes: {{sources: [{{path: {folder}}}]}}}}\n", encoding="utf-8")
    settings = load(config, {"PENSTOCK_DATA": str(tmp_path / "data")}, {})
    async with open_store(settings) as store, asyncio.timeout(60):
        watch = asyncio.create_task(watch_sources(settings, store))

        async def filled(other: CollectionId | None = None) -> CollectionId:
            while True:
                found = await store.catalogue.collection(LOCAL_WORKSPACE, "notes")
                if found is not None and found.id != other:
                    documents = await store.catalogue.documents(LOCAL_WORKSPACE, collection=found.id)
                    if [each.name for each in documents] == ["cats.md"]:
                        return found.id
                await asyncio.sleep(0.05)

        first = await filled()
        await store.write(lambda tx: tx.shelves.remove(first))

        assert await filled(first) != first
        watch.cancel()
        await asyncio.gather(watch, return_exceptions=True)

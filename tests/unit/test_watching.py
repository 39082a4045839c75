"""Watching goes on when a collection's folders cannot be made for a while."""

import asyncio
from pathlib import Path

from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.settings import load
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

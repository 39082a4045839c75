"""A collection's policy says whether a message that asks to reindex has the whole of it built anew."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.settings import load
from penstock.wiring.collections import declare_all, known_collection, reindex_for
from penstock.wiring.store import open_store
from tests.support.ingested import claimed, ingested


@pytest.mark.parametrize(
    ("policy", "filled", "builds"),
    [
        ("recreate", True, True),
        ("recreate", False, True),
        ("skip", True, False),
        ("skip", False, True),
        ("append", True, False),
        ("append", False, False),
    ],
)
async def test_a_message_follows_the_policy(tmp_path: Path, policy: str, filled: bool, builds: bool) -> None:
    """`skip` spares what is there, `append` takes the message's own file alone."""
    declared = {"PENSTOCK_COLLECTIONS": json.dumps({"notes": {"recreation_policy": policy}})}
    settings = load(None, declared, {"data": str(tmp_path / "data")})
    paper, other = tmp_path / "paper.txt", tmp_path / "other.txt"
    paper.write_text("words")
    async with open_store(settings) as store:
        await declare_all(store, settings)
        if filled:
            await ingested(store, settings.data, paper, ["words"])
        lease, _ = await claimed(store, other)

        await reindex_for(store, settings, lease)

        collection = await known_collection(store, settings, "notes")
    assert (collection.building is not None) is builds

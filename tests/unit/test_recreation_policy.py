"""A collection's policy says whether who asks to reindex has the whole of it built anew, whoever it is."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from penstock.model.catalogue import WorkspaceId
from penstock.model.collections import RecreationPolicy
from penstock.settings import Settings, load
from penstock.wiring.collections import declare_all, known_collection, policy_of, reindex, reindex_for
from penstock.wiring.store import open_store
from tests.support.ingested import claimed, ingested

CASES = pytest.mark.parametrize(
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


def settings_of(tmp_path: Path, policy: str) -> Settings:
    declared = {"PENSTOCK_COLLECTIONS": json.dumps({"notes": {"recreation_policy": policy}})}
    return load(None, declared, {"data": str(tmp_path / "data")})


@CASES
async def test_a_message_follows_the_policy(tmp_path: Path, policy: str, filled: bool, builds: bool) -> None:
    """`skip` spares what is there, `append` takes the message's own file alone."""
    settings = settings_of(tmp_path, policy)
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


@CASES
async def test_whoever_asks_follows_the_policy(
    tmp_path: Path, policy: str, filled: bool, builds: bool
) -> None:
    """Commands and the API ask in one place; what was told is what was done."""
    settings = settings_of(tmp_path, policy)
    paper = tmp_path / "paper.txt"
    paper.write_text("words")
    async with open_store(settings) as store:
        await declare_all(store, settings)
        if filled:
            await ingested(store, settings.data, paper, ["words"])
        else:
            await claimed(store, paper)  # a document that waits is none that could be spared
        before = await known_collection(store, settings, "notes")

        generation = await reindex(store, settings, before)

        after = await known_collection(store, settings, "notes")
    assert (after.building, generation is not None) == (None if generation is None else generation.id, builds)


async def test_a_policy_given_counts_more_than_the_configured_one(tmp_path: Path) -> None:
    """`--policy recreate` builds a collection anew that is to be left otherwise."""
    settings = settings_of(tmp_path, "append")
    async with open_store(settings) as store:
        await declare_all(store, settings)
        notes = await known_collection(store, settings, "notes")

        kept = await reindex(store, settings, notes)
        built = await reindex(store, settings, notes, RecreationPolicy.RECREATE)

    assert kept is None
    assert built is not None


async def test_another_workspaces_collection_has_no_policy(tmp_path: Path) -> None:
    """The configuration speaks of the local workspace: another's of the same name is built anew."""
    settings = settings_of(tmp_path, "append")
    async with open_store(settings) as store:
        ours = await known_collection(store, settings, "notes")

    theirs = replace(ours, workspace=WorkspaceId("another"))
    assert (policy_of(settings, ours), policy_of(settings, theirs)) == (
        RecreationPolicy.APPEND,
        RecreationPolicy.RECREATE,
    )

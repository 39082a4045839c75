"""Files people dropped: what is never taken of them, and where nobody takes any."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from penstock.engines.disk.faults import printable
from penstock.engines.disk.lying import Lying, lying
from penstock.intake.incoming import INCOMING
from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.collections import check_collection_name
from penstock.model.diagnosis import Finding, Verdict
from penstock.model.errors import Refused
from penstock.model.standing import counted
from penstock.settings import Settings
from penstock.wiring.store import Store
from penstock.wiring.watching import folders_of

CHECK = "incoming"
FOLDERS_MAX = 100
"""Folders of no collection that are looked into."""


async def lying_in(settings: Settings, collection: str) -> Lying:
    """What lies in a collection's incoming folder."""
    return await lying(folders_of(settings).incoming(collection))


async def dropped_findings(store: Store, settings: Settings) -> list[Finding]:
    """What lies in incoming folders for good, because of what it is or because nobody looks there."""
    names = {each.name for each in await store.catalogue.collections(LOCAL_WORKSPACE)}
    names |= settings.collections.keys()
    root = folders_of(settings).root
    strange = [name for name in await asyncio.to_thread(_folders_in, root) if name not in names]
    found = [
        *[each for name in sorted(names) for each in _untaken(name, await lying_in(settings, name))],
        *[
            each
            for name in strange[:FOLDERS_MAX]
            for each in _unwatched(root, name, await lying_in(settings, name))
        ],
    ]
    told = "Whatever lies in an incoming folder is taken in."
    return found or [Finding(check=CHECK, verdict=Verdict.OK, sentence=told)]


def _untaken(name: str, seen: Lying) -> list[Finding]:
    if not seen.untaken:
        return []
    told = (
        f"The incoming folder of {name} holds {_at_least(seen)}{counted(seen.untaken, 'thing')} never taken, "
        f"such as {seen.example}: {seen.why}."
    )
    advice = "Put the file itself there, by a name that is text, or remove it."
    return [Finding(check=CHECK, verdict=Verdict.WARNING, sentence=told, advice=advice)]


def _unwatched(root: Path, name: str, seen: Lying) -> list[Finding]:
    if not seen.files + seen.untaken:
        return []
    told = printable(
        f"{root / name / INCOMING} holds {_at_least(seen)}{counted(seen.files + seen.untaken, 'file')}, "
        f"such as {seen.first or seen.example}, and there is no collection {name}: nobody takes them."
    )
    elsewhere = "move them into the incoming folder of a collection there is: penstock collection list"
    try:
        check_collection_name(name)
    except Refused:
        advice = f"{elsewhere[0].upper()}{elsewhere[1:]}."
    else:
        advice = f"Make it: penstock collection create {name}; or {elsewhere}."
    return [Finding(check=CHECK, verdict=Verdict.WARNING, sentence=told, advice=advice)]


def _at_least(seen: Lying) -> str:
    return "" if seen.is_whole else "at least "


def _folders_in(root: Path) -> list[str]:
    try:
        with os.scandir(root) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []

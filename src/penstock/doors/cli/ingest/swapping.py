"""Waiting for a rebuild: until the index being built answers, or is given up."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.doors.cli import output
from penstock.doors.cli.exits import Exit
from penstock.doors.cli.ingest.shapes import WaitFacts
from penstock.doors.cli.words import plural
from penstock.model.catalogue import Collection, GenerationId

if TYPE_CHECKING:
    from penstock.wiring.store import Store

LOOK_SECONDS = 0.5


async def wait_for_swap(
    store: Store, name: str, generation: GenerationId, *, timeout: float | None, quiet: bool
) -> tuple[WaitFacts, Exit]:
    """Until this generation answers, or one that took its place; or it is given up, or the time is over.

    It may all have happened before somebody waits, so one look is always taken.
    """
    from penstock.wiring.collections import find

    deadline = None if timeout is None else time.monotonic() + timeout
    told = WaitFacts(end="timeout", total=0, done=0, failed=0, failures=[])
    while (found := await find(store, name)) is not None and _is_built(found, generation):
        generation = max(generation, found.building or generation)
        await _tell_how_far(store, found, told, quiet=quiet)
        left = LOOK_SECONDS if deadline is None else deadline - time.monotonic()
        if left <= 0:
            return told, Exit.TIMEOUT
        await asyncio.sleep(min(LOOK_SECONDS, left))
    if found is not None:
        counts = await store.catalogue.counts(found.id)
        told["failed"] = counts["error"]
        if found.generation < generation:
            told["end"] = "given up"
            return told, Exit.EXECUTION
        told["done"] = told["total"] = counts["visible"]
    told["end"] = "ended"
    return told, Exit.OK


def _is_built(found: Collection, generation: GenerationId) -> bool:
    return found.building is not None and found.generation < generation


async def _tell_how_far(store: Store, found: Collection, told: WaitFacts, *, quiet: bool) -> None:
    counts = await store.catalogue.counts(found.id)
    done, total = counts["built"], max(counts["visible"], counts["built"])
    if (told["done"], told["total"]) != (done, total) and not quiet:
        output.talk(f"{done:,} of {total:,} documents rebuilt")
    told["done"], told["total"] = done, total


def documents_in(counts: Mapping[str, int]) -> int:
    """How many documents a collection has, in whatever state."""
    return sum(counts[state] for state in ("pending", "parsed", "ingested", "error"))


def would_be_built(name: str, documents: int) -> str:
    """What a rebuild would do, for a dry run."""
    return f"{plural(documents, 'document')} of {name} would be built anew beside the index that answers"


def swap_sentence(name: str, found: WaitFacts) -> str:
    """How it ended, for a person."""
    errors = found["failed"]
    failed = f"; {plural(errors, 'document')} in error, see: penstock ingest list --state error"
    match found["end"]:
        case "timeout":
            return f"the time is over; the rebuild of {name} goes on, see: penstock collection show {name}"
        case "given up":
            return f"too much failed: {name} goes on answering from its old index{failed if errors else ''}"
        case _:
            return f"{name} answers from its new index{failed if errors else ''}"

"""From settings to parsers."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.engines.parsers.abilities import Abilities, abilities
from penstock.engines.parsers.nursery import Nursery
from penstock.engines.parsers.pool import Bounds, Parsers
from penstock.settings import Settings

COMMAND = (sys.executable, "-I", "-B", "-m", "penstock.doors.nursery")
"""A parser takes nothing from its surroundings: no environment, no current folder, no user's packages."""


@asynccontextmanager
async def open_parsers(settings: Settings) -> AsyncIterator[Parsers]:
    """The parsers the settings describe, all children gone at the end."""
    bounds = bounds_of(settings)
    parsers = Parsers(Nursery(COMMAND, bounds.memory_bytes), bounds)
    try:
        await parsers.open()
        yield parsers
    finally:
        await parsers.close()


def bounds_of(settings: Settings) -> Bounds:
    """What parsing may cost, as the settings say."""
    given = settings.parser
    return Bounds(
        children=given.children or os.cpu_count() or 1,
        documents=given.documents,
        seconds=given.timeout,
        memory_bytes=given.memory,
        text_bytes=given.text_bytes,
        pages=given.pages,
        unpacked_bytes=given.unpacked_bytes,
        strict=given.sandbox == "strict",
    )


def parser_abilities() -> Abilities:
    """How well a parser can be shut in on this machine."""
    return abilities()

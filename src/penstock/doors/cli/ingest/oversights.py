"""What a look at folders left out although nobody asked for that: told to the person, and in the document."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from penstock.doors.cli import output
from penstock.doors.cli.ingest.shapes import OverlookedFacts
from penstock.model.jobs import JobId
from penstock.model.surveys import EXAMPLES_MAX

if TYPE_CHECKING:
    from penstock.wiring.store import Store

SHOWN_MAX = 20
"""Told to a person."""


class Oversights:
    """How many there are, and the first of them by path and reason."""

    def __init__(self) -> None:
        self._total = 0
        self._named: list[str] = []

    def add(self, total: int, named: Sequence[str]) -> None:
        """So many more, some of them named."""
        self._total += total
        self._named += named[: EXAMPLES_MAX - len(self._named)]

    async def add_found(self, store: Store, jobs: Iterable[JobId]) -> None:
        """Those the jobs of folders and projects told when they had looked; others know of none."""
        for job in jobs:
            report = await store.catalogue.report(job)
            found = {} if report is None else json.loads(report)
            self.add(found.get("overlooked", 0), found.get("examples", {}).get("overlooked", []))

    def facts(self) -> OverlookedFacts:
        """As a document."""
        return OverlookedFacts(total=self._total, named=self._named)

    def tell(self) -> None:
        """Say each to the person, up to a number."""
        for each in self._named[:SHOWN_MAX]:
            output.talk(output.clean(f"left out: {each}"))
        if self._total > SHOWN_MAX:
            output.talk(f"… and {self._total - SHOWN_MAX:,} more left out")

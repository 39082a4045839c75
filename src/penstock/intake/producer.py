"""The producer: a folder is looked over again and again, and files that are new or changed become jobs.

A file is enqueued once per path and content. What the catalogue knows by size, time and inode is passed by;
one that was merely touched is read and its hash compared; and a job's id is made of the path and of how the
file looked, so that a second producer, or the same one after a restart, finds the job it would make.
All producers together keep one rate, taking places for a few files at a time: for those that have no job yet,
and where another producer was quicker after all, the places serve the next files.
"""

from __future__ import annotations

import asyncio
import logging
import random
import uuid
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath

from penstock.intake.admission import PORTION, Admission, Order
from penstock.intake.messages import Declared, Place, home_of
from penstock.model.catalogue import BlobId, Document
from penstock.model.catalogue import Collection as Shelf
from penstock.model.errors import Exhausted, Fault, Refused, Unavailable
from penstock.model.files import BlobHash, FoundFile, Selection, mark_of
from penstock.model.jobs import Accepted, JobId
from penstock.model.options import Options, Origin
from penstock.ports.catalogue import Catalogue
from penstock.ports.clock import Clock
from penstock.ports.database import Database, Transaction
from penstock.ports.files import Finder
from penstock.ports.lookup import collection_of
from penstock.ports.rate import Rate

log = logging.getLogger("penstock.producer")
INTERVAL_SECONDS = 5.0
"""Between two passes, give or take a quarter."""
QUIET_SECONDS = 1.0
"""A file changed this recently may still be written; the next pass takes it."""
PAUSE_SECONDS = 1.0
PAUSE_SECONDS_MAX = 30.0

Digest = Callable[[str, Path], Awaitable[BlobHash | None]]
"""The hash of a file below a root; None if it cannot be read now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a producer looks for, and what it makes of it."""

    root: Path
    selection: Selection
    declared: Declared
    priority: int
    high_priority: int
    high_endings: tuple[str, ...] = ()
    """Endings, in lower case with their dot, whose files take the high priority."""
    at_once: int = PORTION
    """Files enqueued together."""
    max_retries: int = 3

    def priority_of(self, path: str) -> int:
        """How urgent a file is."""
        name = PurePosixPath(path).name.lower()
        return self.high_priority if name.endswith(self.high_endings) else self.priority


@dataclass(slots=True, kw_only=True)
class Produced:
    """What one pass came to."""

    found: int = 0
    enqueued: int = 0
    """Jobs that were made, or that took over a waiting one."""
    known: int = 0
    """Files that were ingested or enqueued as they are."""
    unsettled: int = 0
    homeless: int = 0
    """Files that belong to no collection."""
    overlooked: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What producing needs."""

    database: Database
    catalogue: Catalogue
    admission: Admission
    finder: Finder
    digest: Digest
    clock: Clock
    rate: Rate | None = None
    """None sets no limit."""


@dataclass(slots=True)
class _Pass:
    """One pass: what it came to, and how each file looked that needs no second thought."""

    produced: Produced = field(default_factory=Produced)
    told: dict[str, str] = field(default_factory=dict)
    places: int = 0
    """Places that were taken and waited for, for files another producer has enqueued meanwhile."""


class Producer:
    """Looks over one folder."""

    def __init__(self, ground: Ground, plan: Plan) -> None:
        self._ground = ground
        self._plan = plan
        self._told: dict[str, str] = {}
        """How files looked that were enqueued or found unchanged: the next pass need not ask about them."""

    async def run(self, interval: float = INTERVAL_SECONDS) -> None:
        """Until cancelled; what cannot be done now is told and tried again."""
        while True:
            try:
                done = await self.scan()
                if done.enqueued:
                    log.info("%s: %d files enqueued of %d", self._plan.root, done.enqueued, done.found)
            except Fault as fault:
                log.warning("cannot produce from %s: %s", self._plan.root, fault.message)
            await asyncio.sleep(interval * random.uniform(0.75, 1.25))  # noqa: S311  # spreads load

    async def scan(self) -> Produced:
        """One pass over the folder."""
        this = _Pass()
        async with aclosing(self._ground.finder.walk(self._plan.root, self._plan.selection)) as walk:
            async for portion in walk:
                this.produced.found += len(portion.files)
                this.produced.overlooked += len(portion.overlooked)
                for place, root, files in self._homes(self._unknown(portion.files, this), this):
                    await self._take(place, root, files, this)
        self._told = this.told
        return this.produced

    def _unknown(self, files: Sequence[FoundFile], this: _Pass) -> list[FoundFile]:
        """Those that an earlier pass did not see as they are now, and that nobody is writing."""
        now, found = self._ground.clock.now(), []
        for file in files:
            mark = mark_of(file)
            if self._told.get(file.path) == mark:
                this.told[file.path] = mark
                this.produced.known += 1
            elif abs(now - file.mtime_ns / 1e9) < QUIET_SECONDS:
                this.produced.unsettled += 1
            else:
                found.append(file)
        return found

    def _homes(self, files: Iterable[FoundFile], this: _Pass) -> Iterable[tuple[Place, str, list[FoundFile]]]:
        """The files by the collection they belong to."""
        homes: dict[tuple[str, str], tuple[Place, str, list[FoundFile]]] = {}
        for file in files:
            try:
                place, root = home_of(file.path, self._plan.declared.places, self._plan.declared)
            except Refused as refused:
                if not this.produced.homeless:
                    log.warning("%s is left out: %s", file.path, refused.message)
                this.produced.homeless += 1
                continue
            homes.setdefault((place.collection, root), (place, root, []))[2].append(file)
        return homes.values()

    async def _take(self, place: Place, root: str, files: Sequence[FoundFile], this: _Pass) -> None:
        """Enqueue those that are new or changed, the urgent ones first."""
        collection = await self._ground.database.write(
            lambda tx: collection_of(tx, place.tenant, place.collection)
        )
        wanted = await self._changed(place, collection, files, this)
        by_priority: dict[int, list[FoundFile]] = {}
        for file in wanted:
            by_priority.setdefault(self._plan.priority_of(file.path), []).append(file)
        origin = Origin.INCOMING if root == place.incoming else Origin.SCANNED
        for priority in sorted(by_priority, reverse=True):
            order = Order(
                tenant=place.tenant,
                collection=place.collection,
                priority=priority,
                options=Options(origin=origin, root=root),
                max_retries=self._plan.max_retries,
            )
            some = by_priority[priority]
            for at in range(0, len(some), self._plan.at_once):
                await self._enqueue(order, some[at : at + self._plan.at_once], this)

    async def _changed(
        self, place: Place, collection: Shelf, files: Sequence[FoundFile], this: _Pass
    ) -> list[FoundFile]:
        paths = [file.path for file in files]
        marks = await self._ground.catalogue.marks(place.tenant, collection.id, paths)
        wanted = []
        for file in files:
            known = marks.get(file.path)
            if known == mark_of(file) or (known is not None and await self._is_same(place, collection, file)):
                this.told[file.path] = mark_of(file)
                this.produced.known += 1
            else:
                wanted.append(file)
        return wanted

    async def _is_same(self, place: Place, collection: Shelf, file: FoundFile) -> bool:
        """Whether a file that looks otherwise holds the bytes that were ingested."""
        document = await self._ground.database.write(
            partial(_document_at, place=place, collection=collection, path=file.path)
        )
        if document is None or document.blob is None or document.size != file.size:
            return False
        found = await self._ground.digest(file.path, self._plan.root)
        return found is not None and BlobId(found) == document.blob

    async def _enqueue(self, order: Order, files: Sequence[FoundFile], this: _Pass) -> None:
        """Within the rate; a store that is away is waited for."""
        marks = {file.path: mark_of(file) for file in files}
        ids = {path: _job_id(order, path, mark) for path, mark in marks.items()}
        pause = PAUSE_SECONDS
        while True:
            try:
                await self._wait_for(ids.values(), this)
                admitted = await self._ground.admission.files(order, list(marks), marks=marks, ids=ids)
                break
            except (Unavailable, Exhausted) as fault:
                log.warning("cannot enqueue files of %s: %s", self._plan.root, fault.message)
                await asyncio.sleep(pause)
                pause = min(pause * 2, PAUSE_SECONDS_MAX)
        this.told |= marks
        made = sum(each.how is not Accepted.EXISTING for each in admitted)
        this.produced.enqueued += made
        this.places = max(0, this.places - made)
        this.produced.known += len(files) - made

    async def _wait_for(self, ids: Collection[JobId], this: _Pass) -> None:
        """Have a place for each of these jobs that is not there yet."""
        if self._ground.rate is None:
            return
        wanted = await self._ground.database.write(lambda tx: sum(tx.job(each) is None for each in ids))
        if wanted > this.places:
            await asyncio.sleep(await self._ground.rate.take(wanted - this.places))
            this.places = wanted


def _document_at(tx: Transaction, place: Place, collection: Shelf, path: str) -> Document | None:
    return tx.documents.at(place.tenant, collection.id, path)


def _job_id(order: Order, path: str, mark: str) -> JobId:
    """The same for the same file as it looks now, whoever finds it."""
    name = f"produced:{order.tenant}:{order.collection}:{path}:{mark}"
    return JobId(str(uuid.uuid5(uuid.NAMESPACE_URL, name)))

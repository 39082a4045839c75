"""A process that dies by SIGKILL exactly before or after a durable edge: `python -m tests.support.doomed`.

The store is built with a writer whose connection looks at what passes: when a transaction that holds the
edge's statement comes to its COMMIT, the process is dead before or right after it, and nobody was answered.
Product code needs no hook for that. Without an edge it is a worker process like any other, only without a
parent.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import msgspec

from penstock.engines.disk import DiskBlobs
from penstock.engines.sqlite import store
from penstock.engines.sqlite.shortcut import Shortcut
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.turnstile import Turnstile
from penstock.engines.sqlite.writer import Writer
from penstock.intake.admission import Admission, Order
from penstock.model.catalogue import LOCAL_TENANT, BlobId
from penstock.model.ids import new_worker_id
from penstock.model.jobs import JobId, WorkerId
from penstock.model.uploads import Uploaded
from penstock.settings import Settings, load
from penstock.wiring.store import open_store
from penstock.wiring.workers import Orders, run_supervisor, serve
from tests.support.handlers_for_tests import HANDLERS
from tests.support.jobs import a_note

COLLECTION = "papers"
"""Where an upload goes."""
EDGES = {
    "submit": "submit_insert",
    "claim": "claim_take",
    "progress": "progress",
    "settle": "settle_done",
    "verdict": "settle_verdict",
    "promote": "promote_due",
    "rescue": "rescue_find",
    "leave": "leave",
    "cancel": "cancel_waiting",
    "tell": "cancel_running",
    "extend": "extend",
    "beat": "beat",
    "admit": "document_add",
    "begin": "version_add",
    "keep parse": "parse_keep",
    "describe": "document_describe",
    "keep vectors": "embedding_keep",
    "add chunks": "chunk_add",
    "publish": "version_publish",
    "hide": "document_hide",
    "rename": "document_rename",
    "point": "collection_point",
    "take debts": "debt_take",
    "purge": "chunk_remove",
    "pay": "debt_paid",
    "report": "report_keep",
    "open batch": "batch_open",
    "seal batch": "batch_seal",
}
"""Each durable edge and the statement that no other edge's transaction holds, or only together with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Doom:
    """Where to die: before or after the commit of the nth transaction that holds the edge; never, if None."""

    edge: str | None = None
    after: bool = False
    nth: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What the process is asked to do until then."""

    role: str = "worker"
    doom: Doom = Doom()
    handlers: str | None = HANDLERS
    """None for those the program brings."""
    job_id: str = ""
    text: str = ""


class DoomedConnection:
    """Passes everything on to a connection, and looks at it."""

    def __init__(self, db: sqlite3.Connection, doom: Doom, act: Callable[[], None]) -> None:
        self._db = db
        self._act = act
        self._doom = doom
        self._fatal = sql(EDGES[doom.edge]) if doom.edge else ""
        self._met = False
        self._left = doom.nth

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def executemany(self, statement: str, values: Any) -> sqlite3.Cursor:
        self._met = self._met or statement == self._fatal
        return self._db.executemany(statement, values)

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        if statement == "BEGIN IMMEDIATE":
            self._met = False
        if statement != "COMMIT":
            self._met = self._met or statement == self._fatal
            return self._db.execute(statement, *values)
        self._left -= self._met
        now = self._met and self._left == 0
        if now and not self._doom.after:
            self._act()
        found = self._db.execute(statement)
        if now and self._doom.after:
            self._act()
        return found


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def doom_writers(doom: Doom, act: Callable[[], None] = _die) -> None:
    """Every store this process opens from now on has a doomed writer; `act` is what befalls it."""

    def doomed(db: sqlite3.Connection) -> sqlite3.Connection:
        return cast(sqlite3.Connection, DoomedConnection(db, doom, act))

    class DoomedWriter(Writer):
        def __init__(self, db: sqlite3.Connection, *others: Any, **named: Any) -> None:
            super().__init__(doomed(db), *others, **named)

    class DoomedShortcut(Shortcut):
        def __init__(self, db: sqlite3.Connection, turnstile: Turnstile) -> None:
            super().__init__(doomed(db), turnstile)

    store.Writer = DoomedWriter  # type: ignore[attr-defined]  # the classes are the seams
    store.Shortcut = DoomedShortcut  # type: ignore[attr-defined]


async def work(settings: Settings, handlers: str | None) -> None:
    """A worker process without a parent."""
    orders = Orders(settings=settings, worker=WorkerId(new_worker_id()), alone=False, handlers=handlers)
    await serve(orders, asyncio.Event())


async def _submit(settings: Settings, task: Task) -> None:
    async with open_store(settings) as opened:
        await opened.queue.submit([a_note(task.text, id=JobId(task.job_id))])


async def _cancel(settings: Settings, task: Task) -> None:
    async with open_store(settings) as opened:
        await opened.desk.cancel([JobId(task.job_id)])


async def _upload(settings: Settings, task: Task) -> None:
    """Keep a text as a door keeps bytes, and hand it in under the name of the task."""
    blob = await DiskBlobs(settings.data / "blobs").put_bytes(task.text.encode())
    sent = Uploaded(blob=BlobId(blob.hash), size=blob.size, name=task.job_id)
    order = Order(tenant=LOCAL_TENANT, collection=COLLECTION, priority=5)
    async with open_store(settings) as opened:
        await Admission(opened).uploads(order, [sent])


def main() -> None:
    task = msgspec.json.decode(sys.argv[1], type=Task)
    settings = load(None, os.environ, {})
    if task.doom.edge is not None:
        doom_writers(task.doom)
    match task.role:
        case "worker":
            asyncio.run(work(settings, task.handlers))
        case "supervisor":
            run_supervisor(settings, handlers=HANDLERS)
        case "submit":
            asyncio.run(_submit(settings, task))
        case "cancel":
            asyncio.run(_cancel(settings, task))
        case "upload":
            asyncio.run(_upload(settings, task))
        case _:
            raise ValueError(f"no such role: {task.role}")


if __name__ == "__main__":
    main()

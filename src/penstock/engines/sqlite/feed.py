"""The feed port on SQLite: commits are noticed by the database's change counter, our own at once.

The counter is looked at every ten milliseconds, and only while somebody waits: a look takes microseconds, on
a connection of its own that never waits for a lock. Where others say that they have committed, it may be
looked at more seldom. The way not taken, a socket every committing process
writes to, would miss commits by raw SQL, and so need the counter anyway.
"""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from pathlib import Path

import msgspec

from penstock.engines.sqlite.access import Access
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import seconds, seconds_or_none
from penstock.engines.sqlite.untold import untold
from penstock.engines.sqlite.whispers import Whispers
from penstock.model.conversations import MessageDelta
from penstock.model.events import LoggedEvent
from penstock.model.feed import (
    SNAPSHOT_DOCUMENTS_MAX,
    AnswerSoFar,
    Bounds,
    JobProgress,
    OpenDocument,
    OpenUpload,
    Page,
    Snapshot,
    Underway,
    UploadProgress,
)

LOOK_SECONDS = 0.01
_json = msgspec.json.Encoder()
_object = msgspec.json.Decoder(dict[str, object])
_instant = lru_cache(256)(seconds)
"""Events of one transaction have one time."""


class SqliteFeed:
    """Reads beside the writer; `committed` is its ear in this process."""

    def __init__(self, store: Access, opened: Callable[[], sqlite3.Connection], folder: Path) -> None:
        """`opened` gives the connection of its own, asked for when somebody first waits.

        In the folder processes find each other.
        """
        self._store = store
        self._whispers = Whispers(folder)
        self._opened = opened
        self._db: sqlite3.Connection | None = None
        self._version = -1
        self.look_seconds: Callable[[], float] = lambda: LOOK_SECONDS
        """How long until the next look; longer where something else tells of commits too."""
        self._waiting: tuple[asyncio.AbstractEventLoop, asyncio.Future[bool]] | None = None

    async def changes(self, timeout: float) -> bool:
        """Wait until something was committed."""
        if self._changed():
            return True
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        deadline = loop.time() + timeout
        timer: asyncio.TimerHandle

        def look() -> None:
            nonlocal timer
            left = deadline - loop.time()
            if self._changed():
                _wake(waiter, found=True)
            elif left <= 0:
                _wake(waiter, found=False)
            else:
                timer = loop.call_later(min(self.look_seconds(), left), look)

        timer = loop.call_later(min(self.look_seconds(), timeout), look)
        self._waiting = (loop, waiter)
        try:
            return await waiter
        finally:
            self._waiting = None
            timer.cancel()

    def committed(self) -> None:
        """This process has committed, or another is said to have; called on any thread."""
        waiting = self._waiting
        if waiting is not None:
            with contextlib.suppress(RuntimeError):  # that loop is closed: nobody is left to wake
                waiting[0].call_soon_threadsafe(self._heard, waiting[1])

    async def pages(
        self, positions: Mapping[str, int], *, limit: int = 100, in_all: int = 5_000
    ) -> list[Page]:
        """Those who moved on, with their next events."""
        if not positions:
            return []
        asked = {"positions": _json.encode(positions).decode(), "limit": limit, "in_all": in_all}
        return await self._store.look(
            lambda db: untold(db, _pages(db.execute(sql("feed_pages"), asked).fetchall()))
        )

    async def bounds(self, users: Collection[str]) -> Mapping[str, Bounds]:
        """What is kept of each user's events."""
        asked = {"users": _array(users)}
        rows = await self._store.look(lambda db: db.execute(sql("feed_bounds"), asked).fetchall())
        found = {
            user: Bounds(oldest=oldest or last + 1, last=last, at=seconds_or_none(ts))
            for user, last, oldest, ts in rows
        }
        return {user: found.get(user, Bounds(oldest=1, last=0)) for user in users}

    async def stamp(self, user: str, seq: int) -> float | None:
        """When this number was given; None where that is no longer known, or it never was."""
        asked = {"user": user, "seq": seq}
        (ts,) = await self._store.look(lambda db: db.execute(sql("feed_stamp"), asked).fetchone())
        return seconds_or_none(ts)

    async def snapshot(self, user: str) -> Snapshot:
        """Where things stand for him."""

        def work(db: sqlite3.Connection) -> Snapshot:
            users = {"users": _array([user])}
            counted = db.execute(sql("feed_bounds"), users).fetchone()
            where = {"user": user, "limit": SNAPSHOT_DOCUMENTS_MAX + 1}
            documents = [
                OpenDocument(id=row[0], workspace_id=row[1], collection=row[2], name=row[3], status=row[4])
                for row in db.execute(sql("feed_documents"), where)
            ]
            return Snapshot(
                seq=0 if counted is None else counted[1],
                at=None if counted is None else seconds_or_none(counted[3]),
                documents=tuple(documents[:SNAPSHOT_DOCUMENTS_MAX]),
                documents_left_out=len(documents) > SNAPSHOT_DOCUMENTS_MAX,
                answers=tuple(_answer(row) for row in db.execute(sql("feed_answers"), users)),
                uploads=tuple(_open_upload(row) for row in db.execute(sql("feed_uploads"), users)),
            )

        return await self._store.look(work)

    async def underway(self, users: Collection[str]) -> list[Underway]:
        """What goes on for these users now."""
        asked = {"users": _array(users)}

        def work(db: sqlite3.Connection) -> list[Underway]:
            progress: dict[str, list[JobProgress]] = {}
            uploads: dict[str, list[UploadProgress]] = {}
            answers: dict[str, list[AnswerSoFar]] = {}
            for row in db.execute(sql("feed_progress"), asked):
                progress.setdefault(row[0], []).append(_progress(row))
            for row in db.execute(sql("feed_uploads"), asked):
                if row[5]:  # of one that has only begun, its event tells
                    uploads.setdefault(row[0], []).append(_upload(row))
            for row in db.execute(sql("feed_answers"), asked):
                answers.setdefault(row[0], []).append(_answer(row))
            return [
                Underway(
                    user=user,
                    progress=tuple(progress.get(user, ())),
                    uploads=tuple(uploads.get(user, ())),
                    answers=tuple(answers.get(user, ())),
                )
                for user in progress.keys() | uploads.keys() | answers.keys()
            ]

        return await self._store.look(work)

    def whisper(self, user: str, delta: MessageDelta) -> None:
        """Tell other processes the next words of an answer (S8)."""
        self._whispers.tell(user, delta)

    def hear(self, heard: Callable[[str, MessageDelta], None]) -> None:
        """Be called back with what others whisper (S8)."""
        self._whispers.hear(heard)

    def close(self) -> None:
        """Let go of the connection and the ear; closing twice is closing once."""
        self._whispers.close()
        if self._db is not None:
            self._db.close()
            self._db = None

    def _heard(self, waiter: asyncio.Future[bool]) -> None:
        if self._changed():
            _wake(waiter, found=True)

    def _changed(self) -> bool:
        """Whether anybody wrote since this last said so; whoever asks for more finds out what is wrong."""
        try:
            if self._db is None:
                self._db = self._opened()
                self._db.execute("PRAGMA busy_timeout = 0")
            version = int(self._db.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error:
            return True
        changed, self._version = version != self._version, version
        return changed


def _wake(waiter: asyncio.Future[bool], *, found: bool) -> None:
    if not waiter.done():
        waiter.set_result(found)


def _pages(rows: list[tuple[str, int, int | None, str, str, str]]) -> list[Page]:
    """Rows of one user stand together; one without an event tells that the next ones are forgotten."""
    found: dict[str, tuple[int, list[LoggedEvent]]] = {}
    for user, last, seq, ts, kind, payload in rows:
        known = found.get(user)
        if known is None:
            known = found[user] = (last, [])
        if seq is not None and _is_whole(payload):
            known[1].append(LoggedEvent(user, seq, _instant(ts), kind, payload))
    return [Page(user, last, tuple(events)) for user, (last, events) in found.items()]


def _is_whole(payload: object) -> bool:
    """Whether it can be put into a message; what was damaged counts as forgotten (S11)."""
    try:
        return isinstance(payload, str) and _object.decode(payload) is not None
    except (msgspec.DecodeError, RecursionError):
        return False


def _progress(row: tuple[str, str, str, str, str, int, int | None]) -> JobProgress:
    return JobProgress(
        job_id=row[1], job_type=row[2], document_id=row[3], workspace_id=row[4], done=row[5], total=row[6]
    )


def _upload(row: tuple[str, str, str, str, str, int, int | None]) -> UploadProgress:
    return UploadProgress(upload_id=row[1], workspace_id=row[2], done=row[5], total=row[6])


def _open_upload(row: tuple[str, str, str, str, str, int, int | None]) -> OpenUpload:
    return OpenUpload(id=row[1], workspace_id=row[2], name=row[3], status=row[4], done=row[5], total=row[6])


def _answer(row: tuple[str, str, str, str, str, str]) -> AnswerSoFar:
    return AnswerSoFar(
        workspace_id=row[1], conversation_id=row[2], message_id=row[3], status=row[4], content=row[5]
    )


def _array(users: Collection[str]) -> str:
    return _json.encode(list(users)).decode()

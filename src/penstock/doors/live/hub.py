"""The hub: everybody who listens in this process, and the one reader of the log for all of them.

A listener starts from the log: it reads page after page at its own pace, and goes live when it has all the
reader has given to others. The reader keeps one position a user, set before a listener's last page is read
and moved in the same step in which events are given out; so between log and live nothing is left out, and
what a listener has already is recognised by its number. Whoever falls behind goes back to the log.

Not taken: telling the hub of events as they are written. Only commits count, most are made in other
processes, and a hub that hears of some of them twice would have to tell them apart.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial

from penstock.doors.live.frames import (
    Frame,
    Passing,
    Reason,
    Run,
    frame_of,
    passing_frame,
    ready_frame,
    resync_frame,
    written,
)
from penstock.doors.live.listener import ROOM, Bookmark, Ending, Listener, Room, subject_of
from penstock.doors.live.words import Words
from penstock.model.conversations import MessageDelta
from penstock.model.errors import Exhausted, Fault, Unavailable
from penstock.model.feed import Page
from penstock.ports.clock import Clock
from penstock.ports.feed import Feed

log = logging.getLogger("penstock.live")
EXPIRED = Ending(4401, "ERR_TOKEN_EXPIRED")
SLOW = Ending(4408, "ERR_READER_SLOW")
RESTART = Ending(1012, "ERR_RESTARTING")
PAGE_EVENTS = 200
LOOK_EVENTS = 5_000
"""Read at one look, for all together."""
WAIT_SECONDS = 1.0
BREATH_SECONDS = 0.002
"""Between two looks at the log: commits that come quickly one after another are read together."""
BREATH_MESSAGES = 200
"""After which others may use the loop."""
BREATHS_MAX = 10
"""The rest after many messages, one breath for each such portion: the more there is, the more goes together.
By what was sent, not by how long it took: on a busy machine that would make the few wait as well."""
UNDERWAY_SECONDS = 0.3
SWEEP_SECONDS = 0.5
RETRY_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What one process holds."""

    per_user: int = 32
    in_all: int = 4_000
    replay: int = 10_000
    """Missed events that are still told one by one."""
    slow_seconds: float = 10.0
    """How long the other end may take for what it was sent before it is closed."""
    room: Room = ROOM


class Hub:
    """Listeners by user; runs on one event loop."""

    def __init__(self, feed: Feed, clock: Clock, limits: Limits | None = None) -> None:
        self._feed = feed
        self._clock = clock
        self._limits = limits or Limits()
        self._listeners: dict[str, list[Listener]] = {}
        self._positions: dict[str, int] = {}
        """The last event given out, for each user somebody listens for; those served last stand last."""
        self._count = 0
        self._somebody = asyncio.Event()
        self._news = False
        """Something was committed since what is underway was last looked at."""
        self._unread = False
        """Something was committed and could not be read yet: the feed tells of it once."""
        self._told: dict[str, Passing] = {}
        self._words = Words()
        self._draining = False

    @property
    def count(self) -> int:
        """How many listen."""
        return self._count

    @contextmanager
    def listening(
        self, user: str, since: Bookmark | None = None, *, expires_at: float | None = None
    ) -> Iterator[Listener]:
        """A place among those who listen; Exhausted where there is none, Unavailable near the end."""
        if self._draining:
            raise Unavailable("the server is about to restart", code="ERR_RESTARTING")
        beside = len(self._listeners.get(user, ()))
        if self._count >= self._limits.in_all or beside >= self._limits.per_user:
            raise Exhausted("too many connections are open", code="ERR_CONNECTIONS")
        listener = Listener(user, since, expires_at, self._read_on, self._limits.room)
        self._listeners.setdefault(user, []).append(listener)
        self._count += 1
        self._somebody.set()
        try:
            yield listener
        finally:
            self._leave(listener)

    def shower(self, user: str) -> Callable[[MessageDelta], Awaitable[None]]:
        """Where the words of an answer are shown while this process writes it."""

        async def show(delta: MessageDelta) -> None:
            self._words.written(delta)
            self._show(user, delta)
            self._feed.whisper(user, delta)

        return show

    def drain(self) -> None:
        """Close everybody, so that they come again elsewhere or later; nobody joins any more."""
        self._draining = True
        for listener in self._everybody():
            listener.end(RESTART)

    async def run(self) -> None:
        """Read the log for all, tell what is underway, and close whom it is time to close."""
        self._feed.hear(self._heard)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._again(self._follow))
            group.create_task(self._again(self._look_underway))
            group.create_task(self._again(self._sweep))

    async def _again(self, step: Callable[[], Awaitable[None]]) -> None:
        while True:
            await self._somebody.wait()
            try:
                await step()
            except Fault as fault:
                log.warning("events wait: %s", fault.message)
                await asyncio.sleep(RETRY_SECONDS)

    async def _follow(self) -> None:
        if self._unread or await self._feed.changes(WAIT_SECONDS):
            self._news = self._unread = True
            given, more = await self._give_out()
            while more:
                some, more = await self._give_out()
                given += some
            self._unread = False
            await asyncio.sleep(BREATH_SECONDS * min(1 + given // BREATH_MESSAGES, BREATHS_MAX))

    async def _give_out(self) -> tuple[int, bool]:
        """Read one page for each who has news; how many messages that were, and whether there may be more."""
        asked = self._positions.copy()
        pages = await self._feed.pages(asked, limit=PAGE_EVENTS, in_all=LOOK_EVENTS)
        given = breaths = 0
        for page in pages:
            # Where everybody left meanwhile, and perhaps somebody came, another position counts.
            if self._positions.get(page.user) == asked[page.user]:
                given += self._deliver(page)
            if given // BREATH_MESSAGES > breaths:
                breaths = given // BREATH_MESSAGES
                await asyncio.sleep(0)
        # A look that is full may have ended right behind somebody's page: who comes next is not among them.
        full = sum(len(page.events) or 1 for page in pages) >= LOOK_EVENTS
        return given, full or any(self._positions.get(page.user, page.last) < page.last for page in pages)

    def _deliver(self, page: Page) -> int:
        """Give a page to everybody it is for; how many messages that were."""
        position = self._positions.pop(page.user)
        listeners = self._listeners[page.user]
        if not page.follows(position):
            self._positions[page.user] = page.last
            for listener in listeners:
                if listener.live:
                    listener.fall_behind()
            return 0
        first, last = page.events[0].seq, page.events[-1].seq
        self._positions[page.user] = last
        run = Run(first, last, [frame_of(event) for event in page.events])
        for listener in listeners:
            listener.put_run(run)
        return len(page.events) * len(listeners)

    async def _read_on(self, listener: Listener) -> list[Frame]:
        """The next page of the log for one listener; it is live once there is nothing left to read."""
        user = listener.user
        # A position that is set only below may miss a commit between the look and that step: it looks again.
        watched = user in self._positions
        page, at = await self._next(listener)
        if isinstance(page, Reason):
            snapshot = await self._feed.snapshot(user)
            frames, seq, last, at = [resync_frame(page, snapshot)], snapshot.seq, snapshot.seq, snapshot.at
        elif page.events:
            frames, last = [frame_of(event) for event in page.events], page.last
            seq, at = page.events[-1].seq, page.events[-1].ts
        else:
            frames, seq, last = [], page.last, page.last
        if listener.ending is not None:
            return []
        listener.seq = listener.taken = seq
        position = self._positions.setdefault(user, last)
        if watched and seq >= max(position, last):
            listener.live = True
            if not listener.greeted:
                listener.greeted = True
                frames.append(ready_frame(seq, at))
        return frames

    async def _next(self, listener: Listener) -> tuple[Page | Reason, float | None]:
        """What follows what a listener has, or why it is not told; beside it the time of the last event."""
        since = listener.since
        if listener.seq is not None or since is None:
            return await self._page(listener.user, listener.seq)
        if since.seq and since.at is not None:
            stamp = await self._feed.stamp(listener.user, since.seq)
            if stamp is not None and written(stamp) != since.at:
                return Reason.REPLACED, None
            found = await self._page(listener.user, since.seq)
            # Not even the time of the event is kept: whether the next one follows it, nobody knows.
            return found if stamp is not None or found[0] is Reason.FUTURE else (Reason.FORGOTTEN, None)
        return await self._page(listener.user, since.seq)

    async def _page(self, user: str, seq: int | None) -> tuple[Page | Reason, float | None]:
        """What follows, or why it is not told; for None only where the log ends."""
        if seq is not None and (found := await self._feed.pages({user: seq}, limit=PAGE_EVENTS)):
            (page,) = found
            if page.last - seq > self._limits.replay:
                return Reason.TOO_MANY, None
            return page if page.follows(seq) else Reason.FORGOTTEN, None
        bounds = (await self._feed.bounds([user]))[user]
        if seq is None or bounds.last == seq:
            return Page(user=user, last=bounds.last), bounds.at
        # What was committed between the two looks is for the next page.
        return (Reason.FUTURE if bounds.last < seq else Page(user=user, last=seq)), None

    async def _look_underway(self) -> None:
        """What goes on between two events, in whichever process; a few times a second."""
        await asyncio.sleep(UNDERWAY_SECONDS)
        if not self._news or not self._positions:
            return
        self._news = False
        told: dict[str, Passing] = {}
        for each in await self._feed.underway(list(self._positions)):
            passing: tuple[Passing, ...] = (*each.progress, *each.uploads)
            for progress in passing:
                subject = subject_of(progress)
                told[subject] = progress
                if self._told.get(subject) != progress:
                    self._show(each.user, progress)
            for answer in each.answers:
                if (delta := self._words.kept(answer)) is not None:
                    self._show(each.user, delta)
        self._told = told

    def _heard(self, user: str, delta: MessageDelta) -> None:
        """The next words of an answer another process writes."""
        if user in self._listeners and (following := self._words.heard(delta)) is not None:
            self._show(user, following)

    def _show(self, user: str, value: Passing) -> None:
        listeners = self._listeners.get(user)
        if listeners:
            frame = passing_frame(value)
            for listener in listeners:
                listener.show(value, frame)

    async def _sweep(self) -> None:
        """Close those whose proof is over, and those who do not take what they are sent."""
        await asyncio.sleep(SWEEP_SECONDS)
        now, steady = self._clock.now(), asyncio.get_running_loop().time()
        for listener in self._everybody():
            if listener.expires_at is not None and now >= listener.expires_at:
                listener.end(EXPIRED)
            elif listener.busy_since is not None and steady - listener.busy_since > self._limits.slow_seconds:
                listener.end(SLOW)

    def _everybody(self) -> list[Listener]:
        return [listener for listeners in self._listeners.values() for listener in listeners]

    def _leave(self, listener: Listener) -> None:
        listeners = self._listeners[listener.user]
        listeners.remove(listener)
        self._count -= 1
        if not listeners:
            del self._listeners[listener.user]
            self._positions.pop(listener.user, None)
        if not self._count:
            self._somebody.clear()
            self._told.clear()


@asynccontextmanager
async def open_hub(feed: Feed, clock: Clock, limits: Limits | None = None) -> AsyncIterator[Hub]:
    """A hub that reads; at the end everybody was told to come again."""
    hub = Hub(feed, clock, limits)
    running = asyncio.create_task(hub.run())
    running.add_done_callback(partial(_tell, hub))
    try:
        yield hub
    finally:
        hub.drain()
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


def _tell(hub: Hub, ended: asyncio.Task[None]) -> None:
    """A hub that no longer reads is a mistake of ours, and must not look like a quiet day."""
    if not ended.cancelled() and (error := ended.exception()) is not None:
        log.critical("events are no longer sent", exc_info=error)
        hub.drain()

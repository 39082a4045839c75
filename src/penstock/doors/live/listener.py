"""One connection as the hub sees it: what waits to be sent on it, within bounds.

Events that do not fit are not kept: they are in the log, and are read from there when the other end has taken
what it has. So a burst closes nobody, and a reader that stands still holds a bounded piece of memory until it
is closed. What passes gives way to events, and is put together while it waits: of progress the last counts,
words of an answer that follow one another become one piece.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import assert_never

from penstock.doors.live.frames import Frame, Passing, Run, passing_frame
from penstock.model.conversations import MessageDelta
from penstock.model.feed import JobProgress, UploadProgress

FRAMES_MAX = 500
CHARACTERS_MAX = 512 * 1024
PASSING_MAX = 50
PASSING_CHARACTERS_MAX = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What may wait for one connection."""

    frames: int = FRAMES_MAX
    characters: int = CHARACTERS_MAX


ROOM = Room()


@dataclass(frozen=True, slots=True)
class Bookmark:
    """The last event somebody has: its number, and its time as it was told, if he says so."""

    seq: int
    at: str | None = None


@dataclass(frozen=True, slots=True)
class Ending:
    """Why a connection is closed: a code of the protocol and one of ours."""

    code: int
    reason: str


class Ended(Exception):
    """There is nothing more to take."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.reason)
        self.ending = ending


class _Waiting:
    """Something passing that waits to be sent, and can still become more."""

    __slots__ = ("frame", "value")

    def __init__(self, value: Passing, frame: Frame) -> None:
        self.value = value
        self.frame: Frame | None = frame
        """None once it is no longer what everybody gets."""

    def add(self, value: Passing, frame: Frame) -> None:
        """What comes later about the same; words that do not follow are left out."""
        match self.value, value:
            case MessageDelta() as before, MessageDelta() as after:
                if after.start == before.start + len(before.text) and _fits(before.text, after.text):
                    self.value, self.frame = replace(before, text=before.text + after.text), None
            case _:
                self.value, self.frame = value, frame

    def written(self) -> Frame:
        return self.frame or passing_frame(self.value)


class Listener:
    """Taken from by one task; put to by the hub."""

    __slots__ = (
        "_characters",
        "_ended",
        "_passing",
        "_pending",
        "_read_on",
        "_room",
        "_sleeper",
        "busy_since",
        "expires_at",
        "give_up",
        "greeted",
        "live",
        "push",
        "seq",
        "since",
        "taken",
        "user",
    )

    def __init__(
        self,
        user: str,
        since: Bookmark | None,
        expires_at: float | None,
        read_on: Callable[[Listener], Awaitable[list[Frame]]],
        room: Room = ROOM,
    ) -> None:
        """`read_on` gives what comes next in the log while the listener is not live."""
        self.user = user
        self.expires_at = expires_at
        self.since = since
        """The last event the other end says it has; None is that it wants only what comes."""
        self.seq: int | None = None
        """The last event it has, or has waiting; None until it has its place in the log."""
        self.taken: int | None = None
        """The last event that was taken."""
        self.live = False
        """Whether it is given events as they are committed."""
        self.greeted = False
        """Whether it was told that it has all there was."""
        self.busy_since: float | None = None
        """When it was last given something that is not sent yet; by the loop's clock."""
        self.give_up: Callable[[], object] = lambda: None
        """Called where it is closed while something is being sent: the other end may not be reading."""
        self.push: Callable[[bytes], bool] | None = None
        """Writes a frame at once, where nothing waits before it; used only while whoever takes is asleep."""
        self._read_on = read_on
        self._room = room
        self._pending: deque[Frame | _Waiting] = deque()
        self._passing: dict[str, _Waiting] = {}
        self._characters = 0
        self._sleeper: asyncio.Future[None] | None = None
        self._ended: Ending | None = None

    async def take(self) -> list[Frame]:
        """What is to be sent next, at least one frame; Ended once there is nothing more to come."""
        self.busy_since = None
        frames: list[Frame] = []
        while not frames:
            if self._ended is not None:
                raise Ended(self._ended)
            if not self.live:
                frames = await self._read_on(self)
            elif self._pending:
                frames = self._pop()
            else:
                await self._news()
        self.sending()
        return frames

    def sending(self) -> None:
        """From now on something is on its way to the other end, until the next is taken."""
        self.busy_since = asyncio.get_running_loop().time()

    def put(self, frame: Frame, seq: int) -> None:
        """The next event; one it has already is not given twice."""
        if not self.live or self.seq is None or seq <= self.seq:
            return
        if self._pushed(frame):
            self.seq = self.taken = seq
            return
        room, characters = self._room, self._characters + len(frame.text)
        if len(self._pending) >= room.frames or characters > room.characters:
            self.fall_behind()
        else:
            self.seq = seq
            self._characters = characters
            self._pending.append(frame)
        self._wake()

    def put_run(self, run: Run) -> None:
        """The next events; written together where whoever takes has nothing else to send."""
        if self.live and self.seq == run.first - 1 and self._pushed(run):
            self.seq = self.taken = run.last
            return
        for seq, frame in enumerate(run.frames, run.first):
            self.put(frame, seq)

    def show(self, value: Passing, frame: Frame) -> None:
        """Something that passes, told if there is room."""
        if not self.live:
            return
        key = subject_of(value)
        known = self._passing.get(key)
        if known is not None:
            known.add(value, frame)
        elif len(self._passing) < PASSING_MAX and len(self._pending) < self._room.frames:
            self._passing[key] = waiting = _Waiting(value, frame)
            self._pending.append(waiting)
            self._wake()

    def fall_behind(self) -> None:
        """Go on from the log with what was not taken."""
        self.live = False
        self.seq = self.taken
        self._clear()
        self._wake()

    def end(self, ending: Ending) -> None:
        """Close it; what was told first counts."""
        if self._ended is None:
            self._ended = ending
            self.live = False
            self._clear()
            self._wake()
            if self.busy_since is not None:
                self.give_up()

    @property
    def ending(self) -> Ending | None:
        """Why it was closed from our side, if it was."""
        return self._ended

    def _pop(self) -> list[Frame]:
        frames = [each if isinstance(each, Frame) else each.written() for each in self._pending]
        self.taken = self.seq
        self._clear()
        return frames

    def _clear(self) -> None:
        self._pending.clear()
        self._passing.clear()
        self._characters = 0

    def _pushed(self, frame: Frame | Run) -> bool:
        """Whether it could be sent on the spot: whoever takes has sent all there was, and sleeps."""
        push, sleeper = self.push, self._sleeper
        if push is None or sleeper is None or self._pending or sleeper.done():
            return False
        return bool(frame.wire) and push(frame.wire)

    async def _news(self) -> None:
        self._sleeper = asyncio.get_running_loop().create_future()
        try:
            await self._sleeper
        finally:
            self._sleeper = None

    def _wake(self) -> None:
        if self._sleeper is not None and not self._sleeper.done():
            self._sleeper.set_result(None)


def subject_of(value: Passing) -> str:
    """What it tells of: of two that wait, the later one takes the other's place, or is put to it."""
    match value:
        case JobProgress():
            return value.job_id
        case UploadProgress():
            return value.upload_id
        case MessageDelta():
            return value.message_id
    assert_never(value)


def _fits(before: str, after: str) -> bool:
    return len(before) + len(after) <= PASSING_CHARACTERS_MAX

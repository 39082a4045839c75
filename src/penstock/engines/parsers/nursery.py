"""The nursery as its parent sees it: a process that makes the children, so that a new one costs little.

To start an interpreter and load every reader takes a fifth of a second of a processor, a hundred times what a
small file does; and every file that hangs, crashes or grows costs a child, and so does every owner's first. A
copy of a process that has loaded them takes a few milliseconds. It is asked for over a line, and told of as
well: who made a child is the only one who learns how it ended.

A nursery that is gone takes its children with it, and the next child begins another one.

Not taken: the fork server of `multiprocessing`, which does not tell how much memory a child had, and whose
children are shut in only after they have got what to work on.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
from collections import deque
from collections.abc import Sequence
from typing import Protocol, assert_never

import msgspec

from penstock.engines.parsers.child import Child, Ended, kill_group, spawned
from penstock.engines.parsers.wire import FRAME_BYTES_MAX, HEADER, Born, Gone, Told, Unborn, told
from penstock.model.errors import Broken, Exhausted

BIRTH_SECONDS_MAX = 60.0


class Births(Protocol):
    """Where children come from."""

    async def born(self) -> Child:
        """A fresh child, shut in and waiting for a file."""

    async def close(self) -> None:
        """Have nothing left; children that still live end too."""


class Spawning:
    """Every child is a process started for itself: for commands that are children themselves."""

    def __init__(self, command: Sequence[str], memory_bytes: int) -> None:
        self._command = tuple(command)
        self._memory_bytes = memory_bytes

    async def born(self) -> Child:
        """A fresh child, from nothing."""
        return await Child.start(self._command, self._memory_bytes)

    async def close(self) -> None:
        """There is nothing to close."""


class Nursery:
    """Made anew when it is gone and somebody wants a child."""

    def __init__(self, command: Sequence[str], memory_bytes: int) -> None:
        self._command = tuple(command)
        self._memory_bytes = memory_bytes
        self._room: _Room | None = None
        self._opening = asyncio.Lock()
        self._closed = False

    async def born(self) -> Child:
        """A copy of the nursery, shut in; Broken or Exhausted if there can be none."""
        try:
            return await (await self._standing()).born()
        except _Left:
            return await (await self._standing()).born()

    async def _standing(self) -> _Room:
        async with self._opening:
            if self._closed:
                raise Broken("the parser processes were ended")
            if self._room is None or self._room.is_gone:
                self._room = await _Room.opened(self._command, self._memory_bytes)
            return self._room

    async def close(self) -> None:
        """End it, and with it every child; returns once it is gone, and there will be no other."""
        self._closed = True
        async with self._opening:
            room, self._room = self._room, None
        if room is not None:
            await room.close()


class _Left(Broken):
    """The nursery was there, and is gone."""


class _Room:
    """One such process, from its start to its end."""

    def __init__(
        self,
        pid: int,
        line: socket.socket,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ended: asyncio.Future[Ended],
    ) -> None:
        self._pid, self._ended = pid, ended
        self._line, self._reader, self._writer = line, reader, writer
        self._wanted: deque[asyncio.Future[tuple[int, asyncio.Future[Ended]]]] = deque()
        """Who asked for a child and was not told of it, the first one first."""
        self._alive: dict[int, asyncio.Future[Ended]] = {}
        self._trouble: Broken = _Left("the parser processes were ended")
        self._listening = asyncio.create_task(self._listen(), name="parser-nursery")

    @classmethod
    async def opened(cls, command: Sequence[str], memory_bytes: int) -> _Room:
        pid, line, ended = spawned(command, memory_bytes)
        line.setblocking(False)
        try:
            reader, writer = await asyncio.open_connection(sock=line)
        except BaseException:
            line.close()
            kill_group(pid)
            raise
        return cls(pid, line, reader, writer, ended)

    @property
    def is_gone(self) -> bool:
        return self._listening.done()

    async def born(self) -> Child:
        ours, theirs = socket.socketpair()
        wanted: asyncio.Future[tuple[int, asyncio.Future[Ended]]] = asyncio.get_running_loop().create_future()
        try:
            socket.send_fds(self._line, [b"c"], [theirs.fileno()])
            self._wanted.append(wanted)
            async with asyncio.timeout(BIRTH_SECONDS_MAX):
                pid, ended = await wanted
        except BaseException as error:
            ours.close()  # a child that was made all the same ends with its line
            if isinstance(error, TimeoutError):
                kill_group(self._pid)
                raise Broken("a parser process did not start: too slow") from error
            if isinstance(error, OSError):
                await self.close()
                raise self._trouble from error
            raise
        finally:
            theirs.close()
        return await Child.met(pid, ours, ended)

    async def close(self) -> None:
        self._writer.transport.abort()
        kill_group(self._pid)
        await asyncio.shield(self._ended)
        await asyncio.gather(self._listening, return_exceptions=True)

    async def _listen(self) -> None:
        """Until it is gone: tell everybody what becomes of his child."""
        try:
            while True:
                (length,) = HEADER.unpack(await self._reader.readexactly(HEADER.size))
                if length > FRAME_BYTES_MAX:
                    break
                self._heard(told(await self._reader.readexactly(length)))
        except (asyncio.IncompleteReadError, ConnectionError, msgspec.MsgspecError):
            pass  # whatever it was, it tells us no more
        finally:
            kill_group(self._pid)
            self._give_up()

    def _heard(self, message: Told) -> None:
        match message:
            case Born(pid=pid):
                ended = self._alive[pid] = asyncio.get_running_loop().create_future()
                wanted = self._wanted.popleft()
                if not wanted.done():
                    wanted.set_result((pid, ended))
            case Unborn(message=why, fatal=fatal):
                if fatal:
                    self._trouble = Broken(f"a parser process could not start: {why}")
                    return
                wanted = self._wanted.popleft()
                if not wanted.done():
                    wanted.set_exception(Exhausted(f"no parser process can be started: {why}"))
            case Gone(pid=pid, code=code, resident_kib=resident):
                self._alive.pop(pid).set_result(Ended(code=code, resident_kib=resident))
            case _:
                assert_never(message)

    def _give_up(self) -> None:
        for wanted in self._wanted:
            if not wanted.done():
                wanted.set_exception(self._trouble)
        for pid, ended in self._alive.items():
            kill_group(pid)
            ended.set_result(Ended(code=-signal.SIGKILL, resident_kib=0, taken_along=True))
        self._wanted.clear()
        self._alive.clear()
        with contextlib.suppress(RuntimeError):  # the loop may be closed by now
            self._writer.transport.abort()

"""One child process as its parent sees it: started with nothing, asked one file at a time, ended whole."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from penstock.engines.parsers.stopwatch import Stopwatch
from penstock.engines.parsers.wire import FRAME_BYTES_MAX, HEADER, Failure, Ready, Said, Task, framed, said
from penstock.model.errors import Broken, Exhausted

START_SECONDS_MAX = 60.0
STREAM_BYTES = 1 << 18
_PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a child ended: its exit code, or minus the signal that killed it, and the most memory it had."""

    code: int
    resident_kib: int
    taken_along: bool = False
    """What it came from was ended, and it with that: its file had no part in it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something to do once a file has taken so long."""

    seconds: float
    passed: Callable[[], None]


class Silent(Exception):
    """The child closed its end without an answer."""


class Nonsense(Exception):
    """The child said something no parser of ours would say."""


class Child:
    """A running child; `start` returns once it is shut in."""

    def __init__(
        self,
        pid: int,
        line: socket.socket,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ended: asyncio.Future[Ended],
    ) -> None:
        self.pid = pid
        self.ended = ended
        self.documents = 0
        self.owner: str | None = None
        """Whose files it reads; None while it has read none."""
        self.killed = False
        self.stepped_back = False
        """It leaves the processors to others, for good: only root could take that back."""
        self.charged = 0.0
        """Seconds it has worked on its file, not counting what it waited for a processor."""
        self.pace = 0.0
        """How much of a processor it has had lately, as far as it wanted one."""
        self.seen_kib = 0
        """The most memory it was seen to have."""
        self.ready = Ready(landlock=0, seccomp=False, unprivileged=False, resident_kib=0)
        self._line = line
        self._reader = reader
        self._writer = writer

    @classmethod
    async def start(cls, command: Sequence[str], memory_bytes: int) -> Self:
        """Start a process with an empty environment in a group of its own, which is a child itself."""
        pid, ours, ended = spawned(command, memory_bytes)
        return await cls.met(pid, ours, ended)

    @classmethod
    async def met(cls, pid: int, line: socket.socket, ended: asyncio.Future[Ended]) -> Self:
        """The child at the other end of a line, once it has greeted; it is gone if that fails."""
        line.setblocking(False)
        try:
            reader, writer = await asyncio.open_connection(sock=line, limit=STREAM_BYTES)
        except BaseException:  # nobody holds the child yet who could end it
            line.close()
            kill_group(pid)
            raise
        child = cls(pid, line, reader, writer, ended)
        try:
            async with asyncio.timeout(START_SECONDS_MAX):
                child.ready = await child._greeting()
        except BaseException as error:
            await child.end()
            if isinstance(error, TimeoutError | Silent | Nonsense):
                raise Broken(f"a parser process did not start: {str(error) or 'too slow'}") from error
            raise
        return child

    async def _greeting(self) -> Ready:
        first = await self.hear()
        if isinstance(first, Ready):
            return first
        if isinstance(first, Failure):
            raise Broken(f"a parser process could not start: {first.message}")
        raise Nonsense("no greeting")

    @property
    def is_alive(self) -> bool:
        return not self.ended.done()

    def ask(self, task: Task, handle: int, owner: str) -> None:
        """Hand over a file; it fits the socket's buffer, because nothing else is ever sent."""
        self.documents += 1
        self.owner = owner
        self.charged, self.pace = 0.0, 0.0
        try:
            socket.send_fds(self._line, [framed(task)], [handle])
        except OSError as error:
            raise Silent("it is gone") from error

    async def hear(self) -> Said:
        """The next message; Silent at the end of the line, Nonsense for what is no message."""
        try:
            (length,) = HEADER.unpack(await self._reader.readexactly(HEADER.size))
            if length > FRAME_BYTES_MAX:
                raise Nonsense("a frame that is too long")
            return said(await self._reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError) as error:
            raise Silent("the line was closed") from error
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise Nonsense(str(error)[:200]) from error

    @asynccontextmanager
    async def watched(
        self, every: float, seconds: float, limit: asyncio.Timeout, marks: Sequence[Mark]
    ) -> AsyncIterator[None]:
        """Look at its time and memory while it works: act at each mark, let `limit` run out in the end.

        Nobody else sets that limit: after a pause it would run out before anybody had looked.
        """
        task = asyncio.create_task(
            self._watch(every, seconds, limit, sorted(marks, key=lambda mark: mark.seconds))
        )
        try:
            yield
        finally:
            task.cancel()

    async def _watch(self, every: float, seconds: float, limit: asyncio.Timeout, marks: list[Mark]) -> None:
        loop = asyncio.get_running_loop()
        watch = Stopwatch(self.pid, seconds, loop.time())
        while self.is_alive:
            await asyncio.sleep(every)
            self.seen_kib = max(self.seen_kib, self._resident_kib())
            if watch.is_over(loop.time()) and not limit.expired():
                limit.reschedule(loop.time())
            self.charged, self.pace = watch.charged, watch.pace
            while marks and self.charged >= marks[0].seconds:
                marks.pop(0).passed()

    def _resident_kib(self) -> int:
        try:
            return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * _PAGE_KIB
        except (OSError, IndexError, ValueError):  # it is gone, or nothing is shown here
            return 0

    def step_back(self, niceness: int) -> None:
        """Give way to every other process from now on."""
        self.stepped_back = True
        with contextlib.suppress(OSError):  # it is gone, or was root's and is nobody's
            os.setpriority(os.PRIO_PROCESS, self.pid, niceness)

    def kill(self) -> None:
        """End the child and everything it started, now."""
        self.killed = True
        if self.is_alive:
            kill_group(self.pid)

    async def end(self) -> Ended:
        """Kill it and wait until the kernel has let go of it."""
        self.kill()
        try:
            return await asyncio.shield(self.ended)
        finally:
            self._writer.transport.abort()


def kill_group(pid: int) -> None:
    """End a process and everything it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def spawned(command: Sequence[str], memory_bytes: int) -> tuple[int, socket.socket, asyncio.Future[Ended]]:
    """A process of its own group with an empty environment, our end of the line to it, and its end."""
    ours, theirs = socket.socketpair()
    try:
        process = _opened(command, memory_bytes, theirs)
    except OSError as error:
        ours.close()
        raise Exhausted(f"no parser process can be started: {error}") from error
    finally:
        theirs.close()
    ended: asyncio.Future[Ended] = asyncio.get_running_loop().create_future()
    _reap(process, ended)
    return process.pid, ours, ended


def _opened(command: Sequence[str], memory_bytes: int, line: socket.socket) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603  # our own interpreter and module, named by wiring
        [*command, str(line.fileno()), str(memory_bytes), str(os.getpid())],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={},
        cwd="/",
        pass_fds=(line.fileno(),),
        process_group=0,  # in a session of its own it would share the processors session by session
    )


def _reap(process: subprocess.Popen[bytes], ended: asyncio.Future[Ended]) -> None:
    """Wait for its end in a thread of its own, which works on every system and tells its use of memory."""
    loop = asyncio.get_running_loop()

    def settle(how: Ended) -> None:
        if not ended.done():
            ended.set_result(how)

    def wait() -> None:
        try:
            _, status, usage = os.wait4(process.pid, 0)
            code, resident = os.waitstatus_to_exitcode(status), usage.ru_maxrss
        except ChildProcessError:  # someone else waited for it
            code, resident = 255, 0
        process.returncode = code
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody asks any more
            loop.call_soon_threadsafe(settle, Ended(code=code, resident_kib=resident))

    threading.Thread(target=wait, name=f"penstock-parser-{process.pid}", daemon=True).start()

"""The pool: a few warm children, each asked for one file at a time, none trusted.

Not a shared executor, which one segfault breaks for everybody: every seat has a child of its own. A child
that answered waits for the next file; one that died, ran out of time or memory, was cancelled or has read
many files is ended, and its seat gets a fresh one in the background before it is free again. So there are
never more children than seats, a caller has his answer at once, and the next one finds a warm child.

A child belongs to the owner of its first file: a file may take it over, and must then not meet another's. An
owner is given a child of his own where one is free, else a fresh one, for which he waits.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import signal
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.engines.parsers.child import Child, Ended, Nonsense, Silent
from penstock.engines.parsers.gathering import Gathering, checked
from penstock.engines.parsers.wire import NAME_CHARS_MAX, End, Failure, Ready, Task, Window
from penstock.model.codes import CODES
from penstock.model.errors import Broken, Fault, Refused
from penstock.model.parsed import Parsed

log = logging.getLogger("penstock.parsers")
MEMORY_DEATH_SHARE = 0.3
"""A child that died with so much of its memory in use is taken to have died of the limit: a buffer that
doubles dies with a third, while the new one does not fit beside the old."""
LOOK_SECONDS = 0.05
GROWTH_KIB_MAX = 192 * 1024
"""A child that grew by more gives the memory back by ending."""
_CRASHED = "ERR_PARSER_CRASHED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How many children there are, how long each lives, and what one document may cost."""

    children: int = 2
    documents: int = 500
    """Documents a child reads before it is replaced."""
    seconds: float = 60.0
    memory_bytes: int = 1 << 30
    text_bytes: int = 64 << 20
    pages: int = 20_000
    unpacked_bytes: int = 1 << 30
    strict: bool = False
    """Refuse to read anything where the kernel cannot keep a child from files and network."""


class _Seat:
    """A place for one child; who holds the seat may ask it."""

    def __init__(self) -> None:
        self.child: Child | None = None


class Parsers:
    """Reads files in child processes; `command` starts one, which then speaks the wire's language."""

    def __init__(self, command: Sequence[str], bounds: Bounds) -> None:
        self._command = tuple(command)
        self._bounds = bounds
        self._free = [_Seat() for _ in range(bounds.children)]
        self._seats = tuple(self._free)
        self._turn = asyncio.Semaphore(bounds.children)
        self._mending: set[asyncio.Task[None]] = set()
        self._closed = False

    async def open(self) -> None:
        """Start the first child, so that a set-up that cannot parse is told at once."""
        async with self._turn:
            seat = self._free.pop()
            try:
                await self._child_of(seat)
            finally:
                self._free.append(seat)

    async def close(self) -> None:
        """End every child and wait until all are gone; asked twice, it does nothing more."""
        self._closed = True
        children = [seat.child for seat in self._seats if seat.child is not None]
        for child in children:
            child.kill()
        for task in self._mending:
            task.cancel()
        await asyncio.gather(*self._mending, return_exceptions=True)
        await asyncio.gather(*(child.end() for child in children))

    @property
    def pids(self) -> tuple[int, ...]:
        """The children that run now."""
        return tuple(seat.child.pid for seat in self._seats if seat.child and seat.child.is_alive)

    async def parse(self, source: Path, name: str, *, lenient: bool = False, owner: str = "") -> Parsed:
        """Read a file in a child (R1 to R6)."""
        handle = _opened(source)
        try:
            async with contextlib.AsyncExitStack() as stack:
                await self._turn.acquire()
                seat = self._seat_for(owner)
                stack.callback(self._leave, seat)
                return await self._parse(seat, handle, name, lenient=lenient, owner=owner)
        finally:
            os.close(handle)

    # One document ------------------------------------------------------------------------------------

    async def _parse(self, seat: _Seat, handle: int, name: str, *, lenient: bool, owner: str) -> Parsed:
        bounds = self._bounds
        task = Task(
            nonce=secrets.token_hex(16),
            name=name[-NAME_CHARS_MAX:].encode(errors="replace").decode(),
            lenient=lenient,
            seconds=bounds.seconds,
            text_bytes=bounds.text_bytes,
            pages=bounds.pages,
            unpacked_bytes=bounds.unpacked_bytes,
        )
        child = await self._asked(seat, task, handle, owner)
        keep = False
        try:
            async with asyncio.timeout(bounds.seconds), child.watched(LOOK_SECONDS):
                said = await self._conversation(child, task.nonce)
            keep = not (isinstance(said, Failure) and said.fatal)
        except TimeoutError as error:
            raise self._too_slow() from error
        except Silent as error:
            raise self._death(child, await child.end()) from error
        except Nonsense as error:
            raise Broken(f"The parser gave {error}.", code=_CRASHED) from error
        finally:
            if not keep:
                child.kill()
        if isinstance(said, Failure):
            raise _refusal(said)
        return said

    async def _asked(self, seat: _Seat, task: Task, handle: int, owner: str) -> Child:
        """A child that has the file; one that died while it waited is replaced and no file's fault."""
        if seat.child is not None and seat.child.owner not in (None, owner):
            await seat.child.end()
        child = await self._child_of(seat)
        try:
            child.ask(task, handle, owner)
        except Silent:
            await child.end()
            child = await self._child_of(seat)
            child.ask(task, handle, owner)
        return child

    async def _conversation(self, child: Child, nonce: str) -> Parsed | Failure:
        gathering = Gathering(text_bytes=self._bounds.text_bytes, pages=self._bounds.pages)
        while True:
            said = await child.hear()
            if not isinstance(said, Ready) and said.nonce != nonce:
                raise Nonsense("an answer to another question")
            match said:
                case Window() as window:
                    gathering.take(window)
                case End() as end:
                    if end.resident_kib - child.ready.resident_kib > GROWTH_KIB_MAX:
                        child.documents = self._bounds.documents
                    return gathering.finish(end)
                case Failure() as failure:
                    checked(failure.message)
                    return failure
                case Ready():
                    raise Nonsense("a second greeting")

    def _too_slow(self) -> Refused:
        return Refused(f"Parsing took longer than {self._bounds.seconds:g} s.", code="ERR_PARSE_TIMEOUT")

    def _death(self, child: Child, ended: Ended) -> Fault:
        """Which of its deaths a child died."""
        if ended.code == -signal.SIGALRM:
            return self._too_slow()
        share = self._bounds.memory_bytes // 1024 * MEMORY_DEATH_SHARE
        # At its end the kernel counts what its parent had at its start as its own: that much proves nothing.
        if ended.code < 0 and (
            child.seen_kib > share or ended.resident_kib > share > child.ready.resident_kib
        ):
            return Refused(
                f"Parsing needed more than {self._bounds.memory_bytes} bytes of memory.",
                code="ERR_PARSE_MEMORY",
            )
        how = _signal_name(-ended.code) if ended.code < 0 else f"exit code {ended.code}"
        return Broken(f"The parser died on this file ({how}).", code=_CRASHED)

    # Seats -------------------------------------------------------------------------------------------

    def _seat_for(self, owner: str) -> _Seat:
        """A free seat, the one left last before others: with a child of the owner's, else with nobody's."""

        def rank(seat: _Seat) -> int:
            whose = None if seat.child is None else seat.child.owner
            return 2 if whose == owner else 1 if whose is None else 0

        best = max(reversed(self._free), key=rank)
        self._free.remove(best)
        return best

    async def _child_of(self, seat: _Seat) -> Child:
        """The seat's child, or a fresh one; only one that is shut in as asked ever takes the seat."""
        self._check_open()
        if seat.child is not None and seat.child.is_alive:
            return seat.child
        if seat.child is not None:
            await seat.child.end()
        child = await Child.start(self._command, self._bounds.memory_bytes)
        try:
            self._check_shut_in(child.ready)
            self._check_open()  # it may have been closed meanwhile, without knowing of this child
        except Fault:
            await child.end()
            raise
        seat.child = child
        return child

    def _check_open(self) -> None:
        if self._closed:
            raise Broken("The parsers are closed.")

    def _check_shut_in(self, ready: Ready) -> None:
        if self._bounds.strict and not (ready.landlock and ready.seccomp and ready.unprivileged):
            raise Refused(
                "parser.sandbox is strict, but this kernel cannot keep a parser from files and network "
                f"(Landlock {ready.landlock or 'missing'}, seccomp {'on' if ready.seccomp else 'missing'}"
                f"{'' if ready.unprivileged else ', root kept'})",
                code="ERR_CONFIGURATION",
            )

    def _leave(self, seat: _Seat) -> None:
        """Free a seat: at once if its child can go on, else once it has a fresh one."""
        child = seat.child
        if child is not None and child.is_alive and self._can_go_on(child):
            self._release(seat)
            return
        task = asyncio.get_running_loop().create_task(self._mend(seat))
        self._mending.add(task)
        task.add_done_callback(self._mending.discard)

    def _can_go_on(self, child: Child) -> bool:
        return not child.killed and child.documents < self._bounds.documents

    async def _mend(self, seat: _Seat) -> None:
        try:
            if seat.child is not None:
                await seat.child.end()
                seat.child = None
            if not self._closed:
                await self._child_of(seat)
        except Fault as fault:
            # The next document on this seat tries again, and is told if that fails as well.
            log.warning("no fresh parser yet: %s", fault.message)
        finally:
            self._release(seat)

    def _release(self, seat: _Seat) -> None:
        self._free.append(seat)
        self._turn.release()


def _opened(source: Path) -> int:
    """A descriptor of an ordinary file; a pipe or device must not make anyone wait."""
    try:
        handle = os.open(source, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except FileNotFoundError as error:
        raise Refused(f"There is no file at {source}.", code="ERR_FILE_NOT_FOUND") from error
    except OSError as error:
        raise Refused(f"{source} may not be read: {error.strerror}.", code="ERR_FILE_UNREADABLE") from error
    found = os.fstat(handle)
    if stat.S_ISREG(found.st_mode) and found.st_size:
        return handle
    os.close(handle)
    if stat.S_ISREG(found.st_mode):
        raise Refused("The file is empty.", code="ERR_FILE_EMPTY")
    raise Refused(f"{source} is no ordinary file.", code="ERR_FILE_NOT_REGULAR")


def _refusal(failure: Failure) -> Fault:
    if failure.code == _CRASHED or failure.code not in CODES:
        return Broken(failure.message, code=_CRASHED)
    return Refused(failure.message, code=failure.code)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"

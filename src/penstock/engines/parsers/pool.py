"""The pool: a few warm children, each asked for one file at a time, none trusted.

Not a shared executor, which one segfault breaks for everybody: whoever has his turn asks a child of his own.
A child that answered waits for the next file; one that died, ran out of time or memory, was cancelled or has
read many files is ended, and a fresh one is made in the background before the turn passes on. So a caller has
his answer at once, and the next one finds a warm child. Who has his turn, and whose a child is, see `turns`,
`usher` and `stable`.
"""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import stat
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from penstock.engines.parsers.child import Child, Ended, Mark, Nonsense, Silent
from penstock.engines.parsers.gathering import Gathering, checked
from penstock.engines.parsers.nursery import Births
from penstock.engines.parsers.stable import Stable
from penstock.engines.parsers.stopwatch import WAITED_TIMES_MAX
from penstock.engines.parsers.turns import Lane
from penstock.engines.parsers.usher import Hold, Stays, Usher
from penstock.engines.parsers.wire import NAME_CHARS_MAX, End, Failure, Ready, Task, Window
from penstock.model.codes import CODES
from penstock.model.errors import Broken, Exhausted, Fault, Refused
from penstock.model.parsed import Parsed

log = logging.getLogger("penstock.parsers")
MEMORY_DEATH_SHARE = 0.3
"""A child that died with so much of its memory in use is taken to have died of the limit: a buffer that
doubles dies with a third, while the new one does not fit beside the old."""
LOOK_SECONDS = 0.05
GROWTH_KIB_MAX = 192 * 1024
"""A child that grew by more gives the memory back by ending."""
SPARE_CHILDREN = 2
"""So many wait unused while slow files are tried one after another, each of which costs one."""
_CRASHED = "ERR_PARSER_CRASHED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """How many children there are, how long each lives, and what one document may cost."""

    children: int = 2
    """Files read at once; two more are, one for `express_seconds` and one for `short_seconds`."""
    warm: int = 4
    """Children kept beyond those that read, for owners who take turns."""
    moment_seconds: float = 0.25
    """What the express grants while slow files hold every other place."""
    express_seconds: float = 1.0
    short_seconds: float = 5.0
    polite_seconds: float = 0.25
    """A file that takes longer may never end: from then on its child gives way to all other processes."""
    slow_seconds: float = 1.0
    """A file that takes longer is slow, and whoever wants to know is told."""
    documents: int = 500
    """Documents a child reads before it is replaced."""
    seconds: float = 60.0
    """What it may take, not counting what it waits for a processor: that may be seventy times as much."""
    memory_bytes: int = 1 << 30
    text_bytes: int = 64 << 20
    pages: int = 20_000
    unpacked_bytes: int = 1 << 30
    strict: bool = False
    """Refuse to read anything where the kernel cannot keep a child from files and network."""


def _ignore() -> None:
    """Nobody wants to hear it."""


class Parsers:
    """Reads files in child processes, which come from `births` and speak the wire's language."""

    def __init__(self, births: Births, bounds: Bounds) -> None:
        self._births = births
        self._bounds = bounds
        self._usher = Usher(
            bounds.children,
            Stays(
                moment=min(bounds.moment_seconds, bounds.express_seconds),
                express=bounds.express_seconds,
                short=bounds.short_seconds,
            ),
        )
        self._stable = Stable(self._started, bounds.children + 1 + bounds.warm)
        self._mending: set[asyncio.Task[None]] = set()
        self._preparing = False
        self._closed = False

    async def open(self) -> None:
        """Start the first child, so that a set-up that cannot parse is told at once."""
        await self._stable.refresh()

    async def close(self) -> None:
        """End every child and wait until all are gone; asked twice, it does nothing more."""
        self._closed = True
        mending = list(self._mending)
        for task in mending:
            task.cancel()
        await self._stable.close()
        await self._births.close()
        await asyncio.gather(*mending, return_exceptions=True)

    @property
    def pids(self) -> tuple[int, ...]:
        """The children that run now."""
        return self._stable.pids

    async def parse(
        self,
        source: Path,
        name: str,
        *,
        lenient: bool = False,
        owner: str = "",
        slow: Callable[[], None] = _ignore,
    ) -> Parsed:
        """Read a file in a child (R1 to R7)."""
        handle = _opened(source)
        read = partial(self._read, handle, name, lenient=lenient, owner=owner, slow=slow)
        lane, size, found = Lane.EXPRESS, os.fstat(handle).st_size, None
        try:
            while found is None:  # a turn that others wait for may come to nothing
                turn = await self._usher.seat(lane, size, slow)
                hold = Hold(turn, size, put_off=lane is not Lane.EXPRESS)
                try:
                    found = await self._ushered(hold, read)
                finally:
                    self._leave(hold)
                if found is None:
                    lane = Lane(hold.turn.lane + 1)
                    slow()
            return found
        finally:
            os.close(handle)

    # One document ------------------------------------------------------------------------------------

    async def _ushered(self, hold: Hold, read: Callable[[Hold], Awaitable[Parsed]]) -> Parsed | None:
        """Read within the turn; None if it took too long for it and another waited."""
        if hold.turn.lane is Lane.SEAT:
            return await read(hold)
        try:
            async with asyncio.timeout(None) as hurry:
                usher = asyncio.create_task(self._usher.see_on(hold, hurry))
                try:
                    return await read(hold)
                finally:
                    usher.cancel()
        except TimeoutError:
            if hold.spoilt is not None:
                await hold.spoilt.end()  # both would move through the one open file
            return None

    async def _read(
        self, handle: int, name: str, hold: Hold, *, lenient: bool, owner: str, slow: Callable[[], None]
    ) -> Parsed:
        bounds = self._bounds
        task = Task(
            nonce=secrets.token_hex(16),
            name=name[-NAME_CHARS_MAX:].encode(errors="replace").decode(),
            lenient=lenient,
            seconds=bounds.seconds,
            seconds_passed=bounds.seconds * (1 + WAITED_TIMES_MAX),
            text_bytes=bounds.text_bytes,
            pages=bounds.pages,
            unpacked_bytes=bounds.unpacked_bytes,
        )
        os.lseek(handle, 0, os.SEEK_SET)  # an earlier reader may have moved on in it
        child = await self._asked(hold, task, handle, owner)
        hold.turn.begin(lambda: child.pace)
        hold.asked.set()
        if hold.turn.lane is Lane.EXPRESS and self._usher.is_jammed:
            self._soon(self._prepare())
        marks = [
            Mark(0.0 if hold.put_off else bounds.polite_seconds, lambda: self._stable.step_back(child)),
            Mark(bounds.slow_seconds, slow),
        ]
        keep = False
        try:
            async with (
                asyncio.timeout(None) as limit,
                child.watched(LOOK_SECONDS, bounds.seconds, limit, marks),
            ):
                said = await self._conversation(child, task.nonce)
            keep = not (isinstance(said, Failure) and said.fatal)
            self._usher.was_read(hold)
        except TimeoutError as error:
            raise self._too_slow() from error
        except Silent as error:
            raise self._death(child, await child.end()) from error
        except Nonsense as error:
            raise Broken(f"The parser gave {error}.", code=_CRASHED) from error
        finally:
            if keep and child.documents < bounds.documents and not child.stepped_back:
                self._stable.give(child)
                hold.spoilt = None
            else:
                child.kill()
        if isinstance(said, Failure):
            raise _refusal(said)
        return said

    async def _asked(self, hold: Hold, task: Task, handle: int, owner: str) -> Child:
        """A child that has the file; one that died while it waited is replaced and no file's fault."""
        hold.spoilt = child = await self._stable.take(owner)
        try:
            child.ask(task, handle, owner)
        except Silent:
            await self._stable.end(child)
            hold.spoilt = child = await self._stable.take(owner)
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
        if ended.taken_along:
            return Exhausted("The parser processes were ended from outside.")
        if ended.code in (-signal.SIGALRM, -signal.SIGPROF):
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

    # Children ----------------------------------------------------------------------------------------

    async def _started(self) -> Child:
        """A fresh child; only one that is shut in as asked is ever given a file."""
        self._check_open()
        child = await self._births.born()
        try:
            self._check_shut_in(child.ready)
            self._check_open()  # it may have been closed meanwhile, without knowing of this child
        except Fault:
            await child.end()
            raise
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

    def _leave(self, hold: Hold) -> None:
        """Pass the turn on: at once if the child can go on, else once a fresh one waits."""
        if hold.spoilt is None:
            self._usher.turns.release(hold.turn)
            return
        self._soon(self._mend(hold, hold.spoilt))

    def _soon(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._mending.add(task)
        task.add_done_callback(self._mending.discard)

    async def _prepare(self) -> None:
        """Have children wait for whoever comes next, before it is known whether the one that reads can."""
        if self._preparing or self._closed:
            return
        self._preparing = True
        try:
            await self._stable.refresh(SPARE_CHILDREN)
        except Fault as fault:
            log.warning("no fresh parser yet: %s", fault.message)
        finally:
            self._preparing = False

    async def _mend(self, hold: Hold, spoilt: Child) -> None:
        try:
            await self._stable.end(spoilt)
            if not self._closed and self._stable.is_empty:
                await self._stable.refresh()
        except Fault as fault:
            # Whoever has the turn next tries again, and is told if that fails as well.
            log.warning("no fresh parser yet: %s", fault.message)
        finally:
            self._usher.turns.release(hold.turn)


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

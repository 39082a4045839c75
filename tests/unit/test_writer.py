"""The writing thread: shared commits, each caller for itself, and a log that does not grow for ever."""

import asyncio
import errno
import os
import sqlite3
import struct
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from itertools import count
from pathlib import Path

import pytest

from penstock.engines.sqlite import checkpoint, writer
from penstock.engines.sqlite.checkpoint import Checkpointer
from penstock.engines.sqlite.connection import connect
from penstock.engines.sqlite.turnstile import Turnstile
from penstock.engines.sqlite.writer import Writer
from penstock.model.errors import Broken, Exhausted, Unavailable

PATIENCE = 30.0
Work = Callable[[sqlite3.Connection], int]


class Desk:
    """A writer on a small table, watched by a connection of its own."""

    def __init__(
        self,
        folder: Path,
        *,
        busy_seconds: float = 5.0,
        checkpoints: bool = False,
        turnstile: Turnstile | None = None,
    ) -> None:
        self.path = folder / "desk.db"
        self.committed = 0
        with closing(connect(self.path)) as db:
            db.execute("CREATE TABLE notes (note TEXT PRIMARY KEY, body TEXT)")
        self.watch = sqlite3.connect(self.path, isolation_level=None)
        self.checkpointer = (
            Checkpointer(self._connection(busy_seconds), Turnstile(folder), self.path)
            if checkpoints
            else None
        )
        self.writer = Writer(
            self._connection(busy_seconds),
            turnstile or Turnstile(folder),
            str(self.path),
            lambda: None,
            self._after_commit,
        )

    def notes(self) -> list[str]:
        """What is committed."""
        return [note for (note,) in self.watch.execute("SELECT note FROM notes ORDER BY rowid")]

    def log_bytes(self) -> int:
        return os.stat(f"{self.path}-wal").st_size

    def commits(self) -> int:
        """How many transactions the write-ahead log holds, by its documented format.

        After a header of 32 bytes come frames of 24 bytes and a page; the second number of a frame's header
        is not zero where the frame ends a transaction. Frames of an older round have another salt.
        """
        data = Path(f"{self.path}-wal").read_bytes()
        page_size, salt = struct.unpack_from(">I", data, 8)[0], data[16:24]
        frames = range(32, len(data) - 24, 24 + page_size)
        return sum(
            struct.unpack_from(">I", data, at + 4)[0] != 0 for at in frames if data[at + 8 : at + 16] == salt
        )

    async def write(
        self, work: Work, *, timeout: float = PATIENCE, isolated: bool = False, patient: bool = False
    ) -> int:
        return await self.writer.write(work, timeout, isolated=isolated, patient=patient)

    @asynccontextmanager
    async def busy(self) -> AsyncIterator[None]:
        """While this lasts the thread is in the middle of somebody's write, and others pile up behind it."""
        entered, go_on = threading.Event(), threading.Event()

        def stand_still(_: sqlite3.Connection) -> int:
            entered.set()
            go_on.wait(PATIENCE)
            return 0

        blocker = asyncio.create_task(self.write(stand_still))
        await asyncio.to_thread(entered.wait, PATIENCE)
        try:
            yield
        finally:
            go_on.set()
            await blocker

    def close(self) -> None:
        self.writer.close()
        if self.checkpointer is not None:
            self.checkpointer.close()
        self.watch.close()

    def _connection(self, busy_seconds: float) -> sqlite3.Connection:
        return connect(self.path, synchronous="normal", busy_seconds=busy_seconds)

    def _after_commit(self) -> None:
        self.committed += 1
        if self.checkpointer is not None:
            self.checkpointer.look()


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.close()


def note(text: str, body: str = "") -> Work:
    """Write one note."""
    return lambda db: db.execute("INSERT INTO notes VALUES (?, ?)", (text, body)).rowcount


def note_and_raise(text: str, error: BaseException) -> Work:
    """Write one note and fail afterwards."""

    def work(db: sqlite3.Connection) -> int:
        db.execute("INSERT INTO notes VALUES (?, '')", (text,))
        raise error

    return work


async def queued(desk: Desk, works: list[Work], *, isolated: bool = True) -> list[asyncio.Task[int]]:
    """Callers that have handed in their work and wait."""
    tasks = [asyncio.create_task(desk.write(work, isolated=isolated)) for work in works]
    await asyncio.sleep(0)
    return tasks


async def test_an_answer_comes_after_the_commit(desk: Desk) -> None:
    """Who has its result can be sure that everybody sees the change."""
    for number in range(20):
        assert await desk.write(note(str(number)), isolated=True) == 1
        assert desk.notes()[-1] == str(number)


@pytest.mark.parametrize("isolated", [True, False])
async def test_what_arrives_together_shares_a_commit(desk: Desk, isolated: bool) -> None:
    """Two hundred callers that pile up behind one write cost one commit more, not two hundred."""
    await desk.write(note("first"))
    before = desk.commits()

    async with desk.busy():
        tasks = await queued(desk, [note(str(number)) for number in range(200)], isolated=isolated)
    assert await asyncio.gather(*tasks) == [1] * 200

    assert desk.notes() == ["first", *(str(number) for number in range(200))]
    assert desk.commits() - before == 1


@pytest.fixture
def endless(monkeypatch: pytest.MonkeyPatch) -> None:
    """A moment nobody sees the end of."""
    monkeypatch.setattr(writer, "MOMENT_SECONDS", 3600.0)


@pytest.mark.usefixtures("endless")
async def test_patient_callers_wait_for_one_who_is_not(desk: Desk) -> None:
    """The first of them is served at once; the next share a commit with whoever cannot wait."""
    assert await desk.write(note("first"), isolated=True, patient=True) == 1
    before = desk.commits()

    waiting = [asyncio.create_task(desk.write(note(name), isolated=True, patient=True)) for name in "abc"]
    done, _ = await asyncio.wait(waiting, timeout=0.1)
    assert not done
    assert await desk.write(note("now"), isolated=True) == 1

    assert await asyncio.gather(*waiting) == [1, 1, 1]
    assert sorted(desk.notes()) == ["a", "b", "c", "first", "now"]
    assert desk.commits() - before == 1


@pytest.mark.usefixtures("endless")
async def test_patient_callers_join_whom_others_keep_waiting(desk: Desk) -> None:
    """Who piles up behind a write that takes its time goes with the group, patient or not."""
    await desk.write(note("first"), isolated=True, patient=True)
    async with desk.busy():
        patient = asyncio.create_task(desk.write(note("a"), isolated=True, patient=True))
        both = [patient, *await queued(desk, [note("b")])]

    assert await asyncio.gather(*both) == [1, 1]


@pytest.mark.usefixtures("endless")
async def test_what_patient_callers_wait_for_ends_with_the_writer(tmp_path: Path) -> None:
    """Closing waits for no moment, and loses nothing."""
    desk = Desk(tmp_path)
    await desk.write(note("first"), isolated=True, patient=True)
    waiting = asyncio.create_task(desk.write(note("last"), isolated=True, patient=True))
    await asyncio.sleep(0.05)

    await asyncio.to_thread(desk.writer.close)

    assert await waiting == 1
    assert desk.notes() == ["first", "last"]
    desk.watch.close()


async def test_patient_callers_alone_wait_a_moment(desk: Desk) -> None:
    """Nobody hurries them, and each is served all the same; those of one moment together."""
    await desk.write(note("first"), isolated=True, patient=True)
    before = desk.commits()

    tasks = [
        asyncio.create_task(desk.write(note(str(number)), isolated=True, patient=True))
        for number in range(20)
    ]

    assert await asyncio.gather(*tasks) == [1] * 20
    assert 1 <= desk.commits() - before < 20


async def test_a_group_has_a_bound(desk: Desk) -> None:
    """More callers than a group may hold become several groups, all served."""
    count = writer.GROUP_MAX * 2 + 10
    await desk.write(note("first"))
    before = desk.commits()

    async with desk.busy():
        tasks = await queued(desk, [note(str(number)) for number in range(count)])
    await asyncio.gather(*tasks)

    assert len(desk.notes()) == count + 1
    assert desk.commits() - before == 3


@pytest.mark.parametrize("error", [ValueError("mine"), KeyError("k"), RuntimeError()])
async def test_who_raises_leaves_nothing_and_harms_nobody(desk: Desk, error: BaseException) -> None:
    """The raising caller gets its own error; its neighbours get their result, and still share one commit."""
    works = [note("a"), note_and_raise("bad", error), note("b")]
    await desk.write(note("first"))
    before = desk.commits()

    async with desk.busy():
        tasks = await queued(desk, works)
    first, bad, last = await asyncio.gather(*tasks, return_exceptions=True)

    assert (first, last) == (1, 1)
    assert bad is error
    assert desk.notes() == ["first", "a", "b"]
    assert desk.commits() - before == 1


async def test_who_raises_alone_leaves_nothing(desk: Desk) -> None:
    """The same without neighbours, where no savepoint is spent."""
    with pytest.raises(ValueError, match="mine"):
        await desk.write(note_and_raise("bad", ValueError("mine")), isolated=True)

    assert desk.notes() == []
    assert await desk.write(note("good"), isolated=True) == 1


@pytest.mark.parametrize("place", [0, 3, 6])
async def test_an_engine_verb_that_raises_after_a_change_spoils_no_one(desk: Desk, place: int) -> None:
    """Without a savepoint the group is taken back, and everyone else is served all the same, once."""
    works = [note(str(number)) for number in range(6)]
    works.insert(place, note_and_raise("bad", ValueError("mine")))

    async with desk.busy():
        tasks = await queued(desk, works, isolated=False)
    results = await asyncio.gather(*tasks, return_exceptions=True)

    assert [str(result) for result in results if result != 1] == ["mine"]
    assert desk.notes() == [str(number) for number in range(6)]


async def test_an_engine_verb_that_raises_before_a_change_costs_nobody_the_shared_commit(desk: Desk) -> None:
    """A refusal before anything was written needs no second round."""

    def refuse(_: sqlite3.Connection) -> int:
        raise ValueError("mine")

    await desk.write(note("first"))
    before = desk.commits()
    async with desk.busy():
        tasks = await queued(desk, [note("a"), refuse, note("b")], isolated=False)
    await asyncio.gather(*tasks, return_exceptions=True)

    assert desk.notes() == ["first", "a", "b"]
    assert desk.commits() - before == 1


async def test_a_broken_rule_of_the_table_is_told_to_its_caller_alone(desk: Desk) -> None:
    """An error of the driver comes in our words, with the driver's own as the cause."""
    async with desk.busy():
        tasks = await queued(desk, [note("same"), note("same"), note("other")])
    first, second, third = await asyncio.gather(*tasks, return_exceptions=True)

    assert (first, third) == (1, 1)
    assert isinstance(second, Broken)
    assert isinstance(second.__cause__, sqlite3.IntegrityError)
    assert desk.notes() == ["same", "other"]


async def test_a_caller_that_left_before_its_turn_writes_nothing(desk: Desk) -> None:
    """A cancelled write that still waited is dropped; those around it are served."""
    async with desk.busy():
        tasks = await queued(desk, [note("a"), note("gone"), note("b")])
        tasks[1].cancel()
        await asyncio.sleep(0)
    results = await asyncio.gather(*tasks, return_exceptions=True)

    assert isinstance(results[1], asyncio.CancelledError)
    assert desk.notes() == ["a", "b"]


async def test_a_caller_that_leaves_in_its_turn_disturbs_nobody(desk: Desk) -> None:
    """Its write may count or not, but the thread goes on and the next caller is answered."""
    entered, go_on = threading.Event(), threading.Event()

    def slow(db: sqlite3.Connection) -> int:
        entered.set()
        go_on.wait(PATIENCE)
        return note("slow")(db)

    leaving = asyncio.create_task(desk.write(slow, isolated=True))
    await asyncio.to_thread(entered.wait, PATIENCE)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    go_on.set()

    assert await desk.write(note("next"), isolated=True) == 1
    assert desk.notes() in (["next"], ["slow", "next"])


async def test_a_caller_whose_time_ran_out_is_told_and_not_served_later(desk: Desk) -> None:
    """It is told that the store is busy, and its change does not appear behind its back."""
    async with desk.busy():
        with pytest.raises(Unavailable) as caught:
            await desk.write(note("late"), timeout=0.05, isolated=True)
        waiting = await queued(desk, [note("patient")])
    await asyncio.gather(*waiting)

    assert caught.value.code == "ERR_STORE_BUSY"
    assert desk.notes() == ["patient"]


def test_callers_live_on_several_event_loops(desk: Desk) -> None:
    """Each is answered on its own loop, and all writes are there."""
    answers: list[int] = []

    async def many(name: str) -> None:
        works = [note(f"{name}-{number}") for number in range(50)]
        answers.extend(await asyncio.gather(*(desk.write(work, isolated=True) for work in works)))

    threads = [threading.Thread(target=lambda n=name: asyncio.run(many(n))) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)

    assert answers == [1] * 200
    assert len(desk.notes()) == 200


def test_a_loop_that_is_gone_before_its_answer_harms_nobody(desk: Desk) -> None:
    """The thread cannot tell anyone, and goes on with the next."""
    entered, go_on = threading.Event(), threading.Event()

    def slow(_: sqlite3.Connection) -> int:
        entered.set()
        go_on.wait(PATIENCE)
        return 0

    async def leave() -> None:
        asyncio.ensure_future(desk.write(slow, isolated=True))  # noqa: RUF006 -- ends with its loop
        await asyncio.to_thread(entered.wait, PATIENCE)

    async def stay() -> int:
        return await desk.write(note("next"), isolated=True)

    asyncio.run(leave())
    go_on.set()

    assert asyncio.run(stay()) == 1


class Faltering(Turnstile):
    """Fails once, as locks of a network or a crowded kernel do."""

    def __init__(self, folder: Path, error: Exception) -> None:
        super().__init__(folder)
        self._error: Exception | None = error

    def enter(self) -> bool:
        error, self._error = self._error, None
        if error is not None:
            raise error
        return super().enter()


@pytest.mark.parametrize(
    ("error", "told"),
    [(OSError(errno.ENOLCK, "No locks available"), Unavailable), (MemoryError(), MemoryError)],
    ids=["locks", "memory"],
)
async def test_a_failure_beside_the_database_costs_its_group_and_nobody_else(
    tmp_path: Path, error: Exception, told: type[Exception]
) -> None:
    """Who waited is told at once what happened, and the next one is written as ever."""
    desk = Desk(tmp_path, turnstile=Faltering(tmp_path, error))
    try:
        with pytest.raises(told) as caught:
            await desk.write(note("lost"), isolated=True, timeout=PATIENCE)

        assert error in (caught.value, caught.value.__cause__)
        assert await desk.write(note("kept"), isolated=True, timeout=PATIENCE) == 1
        assert desk.notes() == ["kept"]
    finally:
        desk.close()


async def test_close_finishes_what_was_accepted(desk: Desk) -> None:
    """Everything handed in before the close is written and answered; nothing is accepted afterwards."""
    async with desk.busy():
        tasks = await queued(desk, [note(str(number)) for number in range(writer.GROUP_MAX + 50)])
        closing_down = asyncio.create_task(asyncio.to_thread(desk.writer.close))
        await asyncio.sleep(0.01)
    await closing_down

    assert await asyncio.gather(*tasks) == [1] * len(tasks)
    assert len(desk.notes()) == len(tasks)
    with pytest.raises(Unavailable) as caught:
        await desk.write(note("late"))
    assert caught.value.code == "ERR_STORE_UNAVAILABLE"


async def test_to_abandon_drops_what_waits_and_keeps_what_was_answered(desk: Desk) -> None:
    """As a crash would: the answered write stays, the waiting one is gone."""
    assert await desk.write(note("kept"), isolated=True) == 1
    async with desk.busy():
        (waiting,) = await queued(desk, [note("dropped")])
        abandoning = asyncio.create_task(asyncio.to_thread(desk.writer.close, abandon=True))
        while not desk.writer._abandoned:  # noqa: ASYNC110  # nobody tells of it
            await asyncio.sleep(0.001)
    await abandoning

    assert desk.notes() == ["kept"]
    waiting.cancel()


async def test_the_line_of_waiting_writes_has_a_bound(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over it a caller is turned away at once, and those in the line are served."""
    monkeypatch.setattr(writer, "WAITING_MAX", 3)
    async with desk.busy():
        tasks = await queued(desk, [note(str(number)) for number in range(3)])
        with pytest.raises(Unavailable) as caught:
            await desk.write(note("one too many"))
    await asyncio.gather(*tasks)

    assert caught.value.code == "ERR_STORE_BUSY"
    assert desk.notes() == ["0", "1", "2"]


async def test_a_foreign_lock_is_waited_for_and_then_told(tmp_path: Path) -> None:
    """A program that holds the file costs a clear error, and nothing once it lets go."""
    desk = Desk(tmp_path, busy_seconds=0.1)
    desk.watch.execute("BEGIN IMMEDIATE")

    with pytest.raises(Unavailable) as caught:
        await desk.write(note("blocked"), isolated=True)
    desk.watch.execute("ROLLBACK")

    assert caught.value.code == "ERR_STORE_BUSY"
    assert await desk.write(note("free"), isolated=True) == 1
    assert desk.notes() == ["free"]
    desk.close()


async def test_a_full_database_is_told_and_leaves_the_group_unharmed(desk: Desk) -> None:
    """Who does not fit is told so; whoever fits is written, and room made later is used."""

    def bound(pages: int) -> Work:
        return lambda db: int(db.execute(f"PRAGMA max_page_count = {pages}").fetchone()[0])

    used = await desk.write(lambda db: int(db.execute("PRAGMA page_count").fetchone()[0]))
    await desk.write(bound(used + 4))
    async with desk.busy():
        tasks = await queued(desk, [note("small"), note("large", "x" * 100_000), note("tiny")])
    small, large, tiny = await asyncio.gather(*tasks, return_exceptions=True)

    assert (small, tiny) == (1, 1)
    assert isinstance(large, Exhausted)
    assert large.code == "ERR_DISK_FULL"
    await desk.write(bound(1_000_000))
    assert await desk.write(note("large", "x" * 100_000), isolated=True) == 1
    assert desk.notes() == ["small", "tiny", "large"]
    assert desk.watch.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


async def test_an_idle_writer_sleeps(desk: Desk) -> None:
    """With nothing to do the thread costs no CPU."""
    await desk.write(note("first"))
    (number,) = (each.ident for each in threading.enumerate() if each.name == "penstock-writer")
    assert number is not None
    its_clock = time.pthread_getcpuclockid(number)
    burnt = time.clock_gettime(its_clock)

    await asyncio.sleep(0.3)

    assert time.clock_gettime(its_clock) - burnt < 0.1


BODY = "x" * 40_000


async def write_until_the_log_shrinks(desk: Desk) -> int:
    """Write on and on until the log has become shorter in the middle of it; how many notes there are then."""
    longest = 0
    async with asyncio.timeout(30.0):
        for number in count(len(desk.notes())):
            await desk.write(note(f"more {number}", BODY), isolated=True)
            longest = max(longest, desk.log_bytes())
            if desk.log_bytes() < longest:
                break
    return len(desk.notes())


async def test_the_log_stays_bounded_under_sustained_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much is written, the log never keeps it: a side thread empties it again and again meanwhile."""
    monkeypatch.setattr(checkpoint, "COMMITS", 1)
    monkeypatch.setattr(checkpoint, "TRUNCATE_BYTES", 1 << 20)
    desk = Desk(tmp_path, checkpoints=True)

    for _ in range(3):
        written = await write_until_the_log_shrinks(desk)

    assert desk.watch.execute("SELECT count(*), sum(length(body)) FROM notes").fetchone() == (
        written,
        written * len(BODY),
    )
    desk.close()


async def test_the_log_starts_over_once_a_reader_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader keeps its own view while it reads; after it the log is emptied though writes go on."""
    monkeypatch.setattr(checkpoint, "COMMITS", 1)
    monkeypatch.setattr(checkpoint, "TRUNCATE_BYTES", 4 << 20)  # more than is written beside the reader
    desk = Desk(tmp_path, busy_seconds=0.05, checkpoints=True)
    await desk.write(note("first"))
    desk.watch.execute("BEGIN")
    assert desk.notes() == ["first"]

    for number in range(60):
        await desk.write(note(str(number), BODY), isolated=True)
    assert desk.notes() == ["first"]
    pinned = desk.log_bytes()
    desk.watch.execute("ROLLBACK")

    assert pinned > 60 * len(BODY)
    await write_until_the_log_shrinks(desk)
    assert desk.log_bytes() < pinned
    desk.close()

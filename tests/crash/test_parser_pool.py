"""The pool of parsers: real children, real signals, and nothing left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from penstock.engines.parsers.abilities import abilities
from penstock.engines.parsers.nursery import Nursery
from penstock.model.errors import Broken, Refused
from penstock.model.parsed import Media
from penstock.wiring.parsers import COMMAND
from tests.support.files.pdf import shared_pages, simple_pdf
from tests.support.parsing import (
    PATIENCE,
    children_alive,
    open_descriptors,
    parsers,
    seconds_ran,
    wait_until_busy,
    wait_until_gone,
)


def given(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@contextmanager
def busy(count: int, processor: int) -> Iterator[None]:
    """Processes that want nothing but that processor, once all of them do."""
    with ExitStack() as stack:
        for _ in range(count):
            hog = stack.enter_context(
                subprocess.Popen(
                    ["sh", "-c", "echo; while :; do :; done"], stdout=subprocess.PIPE, process_group=0
                )
            )
            stack.callback(hog.kill)
            os.sched_setaffinity(hog.pid, {processor})
            assert hog.stdout is not None
            hog.stdout.readline()
        yield


async def test_files_of_several_kinds_are_read_by_one_warm_child(tmp_path: Path) -> None:
    """A child that answered reads the next file."""
    text = given(tmp_path, "a.txt", "Grüße\n".encode())
    pdf = given(tmp_path, "b.pdf", simple_pdf([["One."], ["Two."]]))

    async with parsers() as pool:
        before = pool.pids
        first = await pool.parse(text, "a.txt")
        second = await pool.parse(pdf, "b.pdf")
        after = pool.pids

    assert (first.text, first.media) == ("Grüße", Media.TEXT)
    assert [second.text[page.start : page.end].strip() for page in second.pages] == ["One.", "Two."]
    assert before == after


async def test_a_child_reads_files_of_one_owner_alone(tmp_path: Path) -> None:
    """R6: another owner's file meets a fresh process, or one that was his already."""
    text = given(tmp_path, "a.txt", b"words")

    async with parsers() as pool:
        fresh = set(pool.pids)
        await pool.parse(text, "a.txt", owner="ann")
        anns = set(pool.pids)
        await pool.parse(text, "a.txt", owner="bob")
        both = set(pool.pids)
        await pool.parse(text, "a.txt", owner="bob")
        again = set(pool.pids)

    assert (fresh, again) == (anns, both)
    assert len(both - anns) == 1


@pytest.mark.parametrize("children", [1, 2])
async def test_owners_who_take_turns_keep_their_children(tmp_path: Path, children: int) -> None:
    """Alternating costs no new process, though fewer files are read at once than there are owners."""
    text = given(tmp_path, "a.txt", b"words")
    owners = ("ann", "bob", "cid")

    async with parsers(children=children, warm=2) as pool:
        for owner in owners:
            await pool.parse(text, "a.txt", owner=owner)
        before = sorted(pool.pids)
        for owner in owners * 5:
            await pool.parse(text, "a.txt", owner=owner)
        assert sorted(pool.pids) == before

    assert len(before) == len(owners)


async def test_children_are_not_kept_without_end(tmp_path: Path) -> None:
    """With too many owners the child goes that has waited longest, and the others stay."""
    text = given(tmp_path, "a.txt", b"words")

    async with parsers(children=1, warm=1) as pool:
        seen = []
        for owner in "abcde":
            await pool.parse(text, "a.txt", owner=owner)
            seen.append(set(pool.pids))
        for owner in "edc":
            await pool.parse(text, "a.txt", owner=owner)
        kept = set(pool.pids)
        await pool.parse(text, "a.txt", owner="a")
        after = set(pool.pids)

    assert [len(pids) for pids in seen] == [1, 2, 3, 3, 3]
    assert kept == seen[-1]
    assert (len(after), len(after - kept)) == (3, 1)


async def test_slow_files_on_every_seat_keep_nobody_waiting(tmp_path: Path) -> None:
    """R2: more slow files than seats, and quick ones behind them are read while none of those has ended."""
    slow = given(tmp_path, "slow.pdf", shared_pages(190_000))
    text = given(tmp_path, "a.txt", b"quick")

    async with parsers(children=2, express_seconds=0.2, pages=200_000) as pool:
        reading = [asyncio.create_task(pool.parse(slow, "slow.pdf")) for _ in range(4)]
        await asyncio.sleep(0)
        quick = await asyncio.gather(*(pool.parse(text, "a.txt") for _ in range(10)))
        still = [not each.done() for each in reading]
        for each in reading:
            each.cancel()
        await asyncio.gather(*reading, return_exceptions=True)

    assert [each.text for each in quick] == ["quick"] * 10
    assert still == [True] * 4


async def test_what_takes_a_while_does_not_wait_behind_what_takes_for_ever(tmp_path: Path) -> None:
    """R2: too long for the express, it has its turn before the slow ones before it have ended."""
    slow = given(tmp_path, "slow.pdf", shared_pages(190_000))
    long = given(tmp_path, "long.pdf", shared_pages(1_500))

    async with parsers(children=1, express_seconds=0.02, short_seconds=1.5, pages=200_000) as pool:
        reading = [asyncio.create_task(pool.parse(slow, "slow.pdf")) for _ in range(4)]
        await asyncio.sleep(0)
        found = await pool.parse(long, "long.pdf")
        still = [not each.done() for each in reading]
        for each in reading:
            each.cancel()
        await asyncio.gather(*reading, return_exceptions=True)

    assert len(found.pages) == 1_500
    assert still == [True] * 4


async def test_a_slow_file_is_told_and_its_child_steps_back(tmp_path: Path) -> None:
    """R7: it leaves the processors to others, and its child reads no more after it."""
    slow = given(tmp_path, "slow.pdf", shared_pages(57_000))
    text = given(tmp_path, "a.txt", b"quick")
    stepped_back, quick = asyncio.Event(), asyncio.Event()

    async with parsers(slow_seconds=0.3, pages=60_000) as pool:
        await pool.parse(text, "a.txt", slow=quick.set)
        (pid,) = pool.pids
        before = os.getpriority(os.PRIO_PROCESS, pid)
        reading = asyncio.create_task(pool.parse(slow, "slow.pdf", slow=stepped_back.set))
        await stepped_back.wait()
        after = os.getpriority(os.PRIO_PROCESS, pid)
        await reading
        await pool.parse(text, "a.txt")
        await asyncio.to_thread(wait_until_gone, pid)

    assert not quick.is_set()
    assert after > before


async def test_slow_children_give_way_the_more_the_more_there_are(tmp_path: Path) -> None:
    """All of them together take a tenth of what one neighbour does, or less."""
    slow = given(tmp_path, "slow.pdf", shared_pages(190_000))

    async def nicest(wanted: int) -> list[int]:
        found: list[int] = []
        async with asyncio.timeout(PATIENCE):
            while len(found) < wanted or len(set(found)) > 1:
                await asyncio.sleep(0.02)
                told = [os.getpriority(os.PRIO_PROCESS, pid) for pid in pool.pids]
                found = [each for each in told if each > base]
        return found

    base = os.getpriority(os.PRIO_PROCESS, 0)
    async with parsers(children=2, pages=200_000) as pool:
        one = asyncio.create_task(pool.parse(slow, "slow.pdf"))
        alone = await nicest(1)
        other = asyncio.create_task(pool.parse(slow, "slow.pdf"))
        both = await nicest(2)
        for each in (one, other):
            each.cancel()
        await asyncio.gather(one, other, return_exceptions=True)

    assert (alone, both) == ([10], [14, 14])


async def test_waiting_for_a_processor_is_not_counted(tmp_path: Path) -> None:
    """A file fails, or is slow, for its own time alone: here two dozen others want the same processor."""
    long = given(tmp_path, "long.pdf", shared_pages(6_000))
    async with parsers(polite_seconds=60.0) as pool:
        await pool.parse(long, "long.pdf")
        (pid,) = pool.pids
        before = seconds_ran(pid)
        await pool.parse(long, "long.pdf")
        used = seconds_ran(pid) - before

    limit = 10 * used + 0.5
    async with parsers(seconds=limit, slow_seconds=limit, polite_seconds=limit) as pool:
        (pid,) = pool.pids
        (processor, *_) = os.sched_getaffinity(0)
        os.sched_setaffinity(pid, {processor})
        with busy(24, processor):
            begun = time.monotonic()
            found = await pool.parse(long, "long.pdf")
            took = time.monotonic() - begun
        await pool.parse(long, "long.pdf")
        kept = pool.pids

    assert len(found.pages) == 6_000
    assert took > limit
    assert pid in kept


async def test_a_pause_of_us_all_is_not_counted(tmp_path: Path) -> None:
    """The machine, or our container, stood still for longer than the limit: that is no file's fault."""
    long = given(tmp_path, "long.pdf", shared_pages(6_000))
    async with parsers(seconds=5.0) as pool:
        (pid,) = pool.pids
        parsing = asyncio.create_task(pool.parse(long, "long.pdf"))
        await asyncio.to_thread(wait_until_busy, pid)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(6.0)  # noqa: ASYNC251  # nothing of ours runs meanwhile
        os.kill(pid, signal.SIGCONT)
        found = await parsing

    assert len(found.pages) == 6_000


async def test_a_file_that_was_put_off_is_read_whole(tmp_path: Path) -> None:
    """It begins anew on a seat, and neither it nor what came between is read twice or in part."""
    long = given(tmp_path, "long.pdf", shared_pages(1_500))
    text = given(tmp_path, "a.txt", b"quick")

    async with parsers(children=1, express_seconds=0.02) as pool:
        alone = await pool.parse(long, "long.pdf")
        both = [asyncio.create_task(pool.parse(long, "long.pdf")) for _ in range(2)]
        await asyncio.sleep(0)
        quick = [await pool.parse(text, "a.txt") for _ in range(20)]
        found = await asyncio.gather(*both)

    assert [each.text for each in quick] == ["quick"] * 20
    assert found == [alone, alone]


async def test_who_outstays_the_express_goes_on_where_nobody_waits(tmp_path: Path) -> None:
    """A long file is not begun anew for nothing: its child reads it to its end."""
    long = given(tmp_path, "long.pdf", shared_pages(1_500))

    async with parsers(children=1, express_seconds=0.01) as pool:
        await asyncio.gather(*(pool.parse(long, "long.pdf") for _ in range(2)))
        before = sorted(pool.pids)
        await asyncio.gather(*(pool.parse(long, "long.pdf") for _ in range(2)))
        assert sorted(pool.pids) == before


async def test_cancelling_kills_the_child_at_once(tmp_path: Path) -> None:
    """R5: a cancelled parse of a minute leaves no process behind, and the pool goes on."""
    endless = given(tmp_path, "endless.pdf", shared_pages(190_000))
    text = given(tmp_path, "a.txt", b"after")

    async with parsers(pages=200_000) as pool:
        (pid,) = pool.pids
        parsing = asyncio.create_task(pool.parse(endless, "endless.pdf"))
        await asyncio.to_thread(wait_until_busy, pid)
        parsing.cancel()
        with pytest.raises(asyncio.CancelledError):
            async with asyncio.timeout(PATIENCE):
                await parsing
        await asyncio.to_thread(wait_until_gone, pid)
        assert (await pool.parse(text, "a.txt")).text == "after"


async def test_a_killed_child_is_a_crash_and_the_pool_goes_on(tmp_path: Path) -> None:
    """R3: a death is told apart from a refusal, and costs one document."""
    slow = given(tmp_path, "slow.pdf", shared_pages(190_000))
    text = given(tmp_path, "a.txt", b"after")

    async with parsers(pages=200_000) as pool:
        (pid,) = pool.pids
        parsing = asyncio.create_task(pool.parse(slow, "slow.pdf"))
        await asyncio.to_thread(wait_until_busy, pid)
        os.kill(pid, signal.SIGSEGV)
        with pytest.raises(Broken) as caught:
            await parsing
        assert (await pool.parse(text, "a.txt")).text == "after"

    assert caught.value.code == "ERR_PARSER_CRASHED"
    assert "SIGSEGV" in caught.value.message


async def test_a_child_that_died_while_it_waited_is_nobodys_fault(tmp_path: Path) -> None:
    """A file given to a seat whose child is gone is read by a fresh one."""
    text = given(tmp_path, "a.txt", b"words")

    async with parsers() as pool:
        (pid,) = pool.pids
        os.kill(pid, signal.SIGKILL)
        await asyncio.to_thread(wait_until_gone, pid)
        assert (await pool.parse(text, "a.txt")).text == "words"


async def test_time_is_up_for_the_slow_file_only(tmp_path: Path) -> None:
    """R2: a file that takes too long is refused, and a neighbour is read meanwhile."""
    slow = given(tmp_path, "slow.pdf", shared_pages(190_000))
    text = given(tmp_path, "a.txt", b"neighbour")

    async with parsers(children=2, seconds=0.7, pages=200_000) as pool:
        parsing = asyncio.create_task(pool.parse(slow, "slow.pdf"))
        neighbour = await pool.parse(text, "a.txt")
        assert not parsing.done()
        with pytest.raises(Refused) as caught:
            await parsing

    assert neighbour.text == "neighbour"
    assert caught.value.code == "ERR_PARSE_TIMEOUT"


async def test_a_child_is_replaced_after_so_many_documents(tmp_path: Path) -> None:
    """What a library leaks over time ends with its child."""
    text = given(tmp_path, "a.txt", b"words")

    async with parsers(documents=3) as pool:
        seen: set[int] = set()
        for _ in range(7):
            await pool.parse(text, "a.txt")
            seen.update(pool.pids)

    assert len(seen) >= 3


async def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """I10: descriptors and children return to where they started, whatever happened in between."""
    text = given(tmp_path, "a.txt", b"words")
    slow = given(tmp_path, "slow.pdf", shared_pages(190_000))
    async with parsers():  # what a first start opens for good is open now
        pass
    before = open_descriptors()

    async with parsers(children=2, seconds=0.5, documents=2, pages=200_000) as pool:
        await asyncio.gather(
            *(pool.parse(text, "a.txt") for _ in range(6)),
            pool.parse(slow, "slow.pdf"),
            pool.parse(tmp_path / "missing", "missing"),
            return_exceptions=True,
        )

    assert children_alive() == []
    assert open_descriptors() == before
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "slow.pdf"]


async def test_closing_ends_what_runs(tmp_path: Path) -> None:
    """A pool that closes waits for nobody, and whoever waited is told."""
    slow = given(tmp_path, "slow.pdf", shared_pages(190_000))

    async with parsers(pages=200_000) as pool:
        (pid,) = pool.pids
        parsing = asyncio.create_task(pool.parse(slow, "slow.pdf"))
        await asyncio.to_thread(wait_until_busy, pid)
    with pytest.raises(Broken):
        await parsing

    assert children_alive() == []


async def test_cancelling_the_start_ends_the_child() -> None:
    """R5: whoever gives up while a child starts leaves none, however early that is."""
    for turns in range(6):
        nursery = Nursery(COMMAND, 1 << 30)
        starting = asyncio.create_task(nursery.born())
        for _ in range(turns):
            await asyncio.sleep(0)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await nursery.close()
        for pid in children_alive():
            await asyncio.to_thread(wait_until_gone, pid)


ORPHANING = """
import asyncio, sys
from pathlib import Path
from penstock.engines.parsers.nursery import Nursery
from penstock.engines.parsers.pool import Bounds, Parsers
from penstock.wiring.parsers import COMMAND

async def main():
    pool = Parsers(Nursery(COMMAND, 1 << 30), Bounds(children=1, pages=200_000))
    await pool.open()
    print(*pool.pids, flush=True)
    await pool.parse(Path(sys.argv[1]), "slow.pdf")

asyncio.run(main())
"""


def test_a_child_dies_with_its_parent(tmp_path: Path) -> None:
    """A worker killed in the middle of a file leaves no parser behind."""
    slow = given(tmp_path, "slow.pdf", shared_pages(190_000))
    with subprocess.Popen(
        [sys.executable, "-c", ORPHANING, str(slow)], stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        wait_until_busy(child)

        parent.kill()
        wait_until_gone(child)


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda path: None, "ERR_FILE_NOT_FOUND"),
        (lambda path: path.mkdir(), "ERR_FILE_NOT_REGULAR"),
        (lambda path: os.mkfifo(path), "ERR_FILE_NOT_REGULAR"),
        (lambda path: path.touch(), "ERR_FILE_EMPTY"),
    ],
)
async def test_what_is_no_file_is_refused_before_a_child_sees_it(
    tmp_path: Path, make: Callable[[Path], None], code: str
) -> None:
    """A pipe, a folder, nothing at all: each has its own code, and nobody waits."""
    make(tmp_path / "it")

    async with parsers() as pool:
        with pytest.raises(Refused) as caught:
            await pool.parse(tmp_path / "it", "it.txt")

    assert caught.value.code == code


async def test_strict_reads_only_where_the_kernel_shuts_in(tmp_path: Path) -> None:
    """Configured so, a parser that could reach files or network reads nothing."""
    text = given(tmp_path, "a.txt", b"words")

    if abilities().strict:
        async with parsers(strict=True) as pool:
            assert (await pool.parse(text, "a.txt")).text == "words"
    else:
        with pytest.raises(Refused, match="strict"):
            async with parsers(strict=True):
                pass

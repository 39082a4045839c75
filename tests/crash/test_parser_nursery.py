"""The nursery that parsers come from: nobody notices it, and nothing is left of it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from penstock.engines.parsers.child import Child
from penstock.engines.parsers.nursery import Nursery
from penstock.model.errors import Broken, Exhausted
from penstock.wiring.parsers import COMMAND
from tests.support.files.pdf import shared_pages
from tests.support.parsing import children_alive, open_descriptors, parsers, wait_until_busy, wait_until_gone

MEMORY = 1 << 30
BARREN = """
import socket, sys
from penstock.engines.parsers.wire import Unborn, framed
line = socket.socket(fileno=int(sys.argv[1]))
while True:
    _, handles, _, _ = socket.recv_fds(line, 1, 1)
    if not handles: break
    line.sendall(framed(Unborn(message="no process to be had")))
"""
STILLBORN = """
import socket, sys
from penstock.engines.parsers.wire import Unborn, framed
socket.socket(fileno=int(sys.argv[1])).sendall(framed(Unborn(message="no readers here", fatal=True)))
"""


def nursery_of(child: int) -> int:
    return psutil.Process(child).ppid()


async def test_children_of_one_nursery_are_strangers_to_each_other() -> None:
    """Each is shut in, leads a group of its own, and ends for itself alone."""
    nursery = Nursery(COMMAND, MEMORY)
    try:
        children = await asyncio.gather(*(nursery.born() for _ in range(3)))

        pids = [child.pid for child in children]
        assert len({nursery_of(pid) for pid in pids}) == 1
        assert [os.getpgid(pid) for pid in pids] == pids
        assert len({(child.ready.landlock, child.ready.seccomp) for child in children}) == 1
        assert all(child.ready.unprivileged for child in children)
        ended = await children[0].end()
        assert ended.code == -signal.SIGKILL
        assert ended.resident_kib > 0
        assert [child.is_alive for child in children] == [False, True, True]
    finally:
        await nursery.close()
    assert [child.is_alive for child in children] == [False, False, False]
    for child in children:
        await child.end()
        await asyncio.to_thread(wait_until_gone, child.pid)
    assert children_alive() == []


async def test_a_nursery_that_is_killed_is_replaced(tmp_path: Path) -> None:
    """Its children die with it, which is no file's fault; the next file is read by children of another."""
    slow, text = tmp_path / "slow.pdf", tmp_path / "a.txt"
    slow.write_bytes(shared_pages(190_000))
    text.write_bytes(b"words")

    async with parsers(pages=200_000) as pool:
        (child,) = pool.pids
        nursery = nursery_of(child)
        parsing = asyncio.create_task(pool.parse(slow, "slow.pdf"))
        await asyncio.to_thread(wait_until_busy, child)
        os.kill(nursery, signal.SIGKILL)
        with pytest.raises(Exhausted, match="from outside"):
            await parsing
        await asyncio.to_thread(wait_until_gone, child)

        assert (await pool.parse(text, "a.txt")).text == "words"
        assert nursery_of(pool.pids[0]) != nursery


async def test_an_idle_nursery_that_is_killed_costs_no_file(tmp_path: Path) -> None:
    """Whoever comes next is read, and hears nothing of it."""
    text = tmp_path / "a.txt"
    text.write_bytes(b"words")

    async with parsers() as pool:
        (child,) = pool.pids
        os.kill(nursery_of(child), signal.SIGKILL)
        await asyncio.to_thread(wait_until_gone, child)

        assert (await pool.parse(text, "a.txt")).text == "words"


async def test_a_nursery_dies_with_its_line() -> None:
    """Descriptors and processes are as before once it is closed, also when nobody ended its children."""
    before = open_descriptors()
    for _ in range(3):
        nursery = Nursery(COMMAND, MEMORY)
        child = await nursery.born()
        await nursery.close()
        await asyncio.to_thread(wait_until_gone, child.pid)
        await child.end()
        await asyncio.sleep(0)

    assert children_alive() == []
    assert open_descriptors() <= before + 1


@pytest.mark.parametrize("is_open", [True, False])
async def test_who_waits_for_a_child_of_a_closed_nursery_begins_no_other(is_open: bool) -> None:
    """He is told that there is none; nothing is left that nobody would ever end."""
    before = open_descriptors()
    nursery = Nursery(COMMAND, MEMORY)
    if is_open:
        await (await nursery.born()).end()
    waiting = [asyncio.create_task(nursery.born()) for _ in range(3)]
    await asyncio.sleep(0)

    await nursery.close()
    born = await asyncio.gather(*waiting, return_exceptions=True)

    for child in born:
        if isinstance(child, Child):
            assert not child.is_alive
            await child.end()
        else:
            assert isinstance(child, Broken)
    with pytest.raises(Broken):
        await nursery.born()
    await asyncio.sleep(0)
    assert children_alive() == []
    assert open_descriptors() <= before + 1


@pytest.mark.parametrize(
    ("program", "fault", "words"),
    [(BARREN, Exhausted, "no process to be had"), (STILLBORN, Broken, "no readers here")],
)
async def test_what_keeps_a_child_from_being_made_is_told(
    program: str, fault: type[Exception], words: str
) -> None:
    """A machine without room is tried again later; a set-up that cannot parse is told for what it is."""
    nursery = Nursery((sys.executable, "-c", _imported(program)), MEMORY)
    try:
        with pytest.raises(fault, match=words):
            await nursery.born()
    finally:
        await nursery.close()


def _imported(program: str) -> str:
    """A process with an empty environment is told where things are."""
    return f"import sys; sys.path[:0] = {sys.path!r}\n{program}"

"""Hostile files: each ends within its limits, the pool goes on, and a neighbour is not kept waiting."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from penstock.engines.parsers.pool import Parsers
from penstock.model.errors import Fault
from penstock.model.parsed import Parsed
from tests.support.files.hostile import HOSTILE, READ
from tests.support.files.pdf import content_bomb, simple_pdf
from tests.support.parsing import children_alive, open_descriptors, parsers

RESIDENT_MAX = 300 << 20


@pytest.mark.timeout(600)
async def test_hostile_files_end_within_their_limits(tmp_path: Path) -> None:
    """Every file made to harm is refused or read, while a neighbour is read again and again beside it."""
    neighbour = tmp_path / "neighbour.txt"
    neighbour.write_bytes(b"The neighbour.")
    async with parsers():
        pass
    before = open_descriptors()
    ended: dict[str, str] = {}
    counted: dict[str, int] = {}

    async with parsers(children=2, memory_bytes=512 << 20, pages=200) as pool:
        for name, hostile in HOSTILE.items():
            path = tmp_path / name
            path.write_bytes(await asyncio.to_thread(hostile.make))
            parsing = asyncio.create_task(end_of(pool, path))
            counted[name] = 0
            while not parsing.done() or not counted[name]:
                parsed = await pool.parse(neighbour, "neighbour.txt")
                counted[name] += parsed.text == "The neighbour."
            ended[name] = await parsing
            path.unlink()

    wrong = {name: code for name, code in ended.items() if code not in HOSTILE[name].ends}
    assert wrong == {}
    assert all(counted.values())
    assert children_alive() == []
    assert open_descriptors() == before


async def test_five_thousand_pages_stay_within_a_fixed_memory(tmp_path: Path) -> None:
    """CASES memory: page windows keep the child small, and every page is there."""
    path = tmp_path / "long.pdf"
    lines = [f"Line {line} speaks of rivers, mills and penstocks." for line in range(20)]
    path.write_bytes(
        await asyncio.to_thread(simple_pdf, [[f"Page {page + 1}.", *lines] for page in range(5000)])
    )

    async with parsers(seconds=110.0) as pool:
        (pid,) = pool.pids
        parsing = asyncio.create_task(pool.parse(path, "long.pdf"))
        most = 0
        while not parsing.done():
            await asyncio.wait([parsing], timeout=0.1)
            with suppress(psutil.NoSuchProcess):  # it ends after a file it was slow at
                most = max(most, psutil.Process(pid).memory_info().rss)
        parsed = await parsing

    assert len(parsed.pages) == 5000
    assert all(parsed.text.startswith(f"Page {page.number}.", page.start) for page in parsed.pages)
    assert 0 < most < RESIDENT_MAX


async def test_a_document_that_takes_all_memory_is_told_as_such(tmp_path: Path) -> None:
    """A death at the memory limit is a refusal with its own code, and the next document is read."""
    bomb = tmp_path / "bomb.pdf"
    bomb.write_bytes(await asyncio.to_thread(content_bomb, 400 << 20))
    table = tmp_path / "table.json"
    table.write_bytes(b"[" + b"[NaN]," * 2_500_000 + b"1]")
    text = tmp_path / "a.txt"
    text.write_bytes(b"after")

    async with parsers(memory_bytes=256 << 20) as pool:
        ends = [await end_of(pool, bomb), await end_of(pool, table), await end_of(pool, text)]

    assert ends == ["ERR_PARSE_MEMORY", "ERR_PARSE_MEMORY", READ]


async def test_text_beyond_the_limit_is_refused_as_it_grows(tmp_path: Path) -> None:
    """The limit of text is met where it is crossed."""
    path = tmp_path / "long.pdf"
    path.write_bytes(simple_pdf([["Some words on a page."]] * 100))

    async with parsers(text_bytes=1000) as pool:
        assert await end_of(pool, path) == "ERR_PARSE_OUTPUT"


async def end_of(pool: Parsers, path: Path) -> str:
    """The code a file ends with."""
    (found,) = await asyncio.gather(pool.parse(path, path.name), return_exceptions=True)
    if isinstance(found, Fault):
        return found.code
    assert isinstance(found, Parsed), found
    return READ

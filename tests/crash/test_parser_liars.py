"""The parent believes nothing: what a child says that a file took over is checked, and of no later file."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.engines.parsers.nursery import Spawning
from penstock.engines.parsers.pool import Bounds, Parsers
from penstock.model.errors import Broken, Refused
from tests.support.liar import LIES
from tests.support.parsing import children_alive

TOP = Path(__file__).resolve().parents[2]


def liars(way: str, **bounds: object) -> Parsers:
    start = (
        f"import runpy, sys; sys.path.insert(0, {str(TOP)!r});"
        "runpy.run_module('tests.support.liar', run_name='__main__', alter_sys=True)"
    )
    given = Bounds(**{"children": 1, "seconds": 5.0, **bounds})  # type: ignore[arg-type]
    return Parsers(Spawning([sys.executable, "-B", "-c", start, way], given.memory_bytes), given)


@pytest.mark.parametrize("way", LIES)
async def test_a_lie_is_a_crash_and_never_a_document(tmp_path: Path, way: str) -> None:
    """What no parser of ours would say is not believed."""
    source = tmp_path / "a.txt"
    source.write_bytes(b"words")
    pool = liars(way)

    try:
        with pytest.raises(Broken) as caught:
            await pool.parse(source, "a.txt")
    finally:
        await pool.close()

    assert caught.value.code == "ERR_PARSER_CRASHED"
    assert children_alive() == []


@pytest.mark.parametrize(
    ("way", "code"), [("silence", "ERR_PARSE_TIMEOUT"), ("more text than allowed", "ERR_PARSE_OUTPUT")]
)
async def test_limits_hold_without_the_childs_help(tmp_path: Path, way: str, code: str) -> None:
    """R2: time and text are bounded by the parent itself."""
    source = tmp_path / "a.txt"
    source.write_bytes(b"words")
    pool = liars(way, seconds=2.0, text_bytes=1 << 20)

    try:
        with pytest.raises(Refused) as caught:
            await pool.parse(source, "a.txt")
    finally:
        await pool.close()

    assert caught.value.code == code


async def test_what_was_said_ahead_is_no_answer(tmp_path: Path) -> None:
    """A child cannot leave a text on the line for the file that comes next."""
    source = tmp_path / "a.txt"
    source.write_bytes(b"words")
    pool = liars("an answer ahead")

    try:
        assert (await pool.parse(source, "a.txt", owner="one")).text == "words"
        with pytest.raises(Broken, match="another question"):
            await pool.parse(source, "a.txt", owner="one")
    finally:
        await pool.close()


async def test_strict_refuses_a_child_that_is_not_shut_in(tmp_path: Path) -> None:
    """Where the kernel offers nothing, strict fails closed, at the start and again for every file."""
    source = tmp_path / "a.txt"
    source.write_bytes(b"words")
    pool = liars("nothing", strict=True)

    try:
        with pytest.raises(Refused, match="strict"):
            await pool.open()
        with pytest.raises(Refused, match="strict"):
            await pool.parse(source, "a.txt")
        assert pool.pids == ()
    finally:
        await pool.close()

"""The end of a message as an entry keeps it, and whole again."""

from __future__ import annotations

import json
import re
from importlib.resources import files

import msgspec
import pytest

from penstock.engines.redis.scripts import SCRIPTS
from penstock.engines.redis.submitting import entries_of
from penstock.engines.redis.tails import PIECES, kept_tail, tail_of
from penstock.model.jobs import NewJob, TenantId
from penstock.model.payloads import Content, File, Payload
from penstock.model.rules import Rules
from penstock.model.statuses import message_of, stamped

NOW = 1_800_000_000.125
_PIECE = re.compile(r"^  \['\\(\d+)'\] = (.+?),$", re.MULTILINE | re.DOTALL)


def _whole(kept: str) -> str:
    return "".join(PIECES.get(letter, letter) for letter in kept)


def _ready(payload: Payload, **more: object) -> tuple[str, str]:
    job = NewJob(tenant=TenantId("local"), collection="docs", payload=payload, **more)  # type: ignore[arg-type]
    ((entry, tail),) = entries_of([job], Rules(), NOW)
    return entry[15], tail


@pytest.mark.parametrize(
    ("payload", "more"),
    [
        (File(file_path="/a/b.md"), {}),
        (File(file_path='/a/"quoted"\t\x7f\x01 \\ .md'), {"priority": 9, "max_retries": 0}),
        (File(file_path="/a/b.md"), {"branch": "other", "metadata": {"submitted_by": "api", "\x02": "\x06"}}),
        (Content(content="x", source_type="note", main_tag='","filename":"'), {}),
    ],
)
def test_a_kept_tail_is_whole_again(payload: Payload, more: dict[str, object]) -> None:
    """Whatever a job is called: the message made from what was kept is the message that was sent."""
    kept, tail = _ready(payload, **more)

    assert _whole(kept) == tail
    assert json.loads("{" + tail[1:])["rag_id"] == "docs"


def test_a_usual_tail_is_kept_in_a_third() -> None:
    """What nearly all messages say alike costs one byte a piece."""
    kept, tail = _ready(File(file_path="/a/b.md"))

    assert len(kept) * 3 < len(tail)


def test_a_tail_kept_whole_stays_as_it_is() -> None:
    """An entry of an earlier version has no sign inside, and says what it says."""
    _, tail = _ready(File(file_path="/a/b.md"))

    assert _whole(tail) == tail
    assert not set(tail) & set(PIECES)


def test_script_and_program_know_the_same_pieces() -> None:
    """Both sides read what either has written."""
    text = files("penstock.engines.redis").joinpath("scripts/parts/tails.lua").read_text()
    told = {chr(int(sign)): "".join(re.findall(r"'([^']*)'", said)) for sign, said in _PIECE.findall(text)}

    assert told == PIECES
    assert b"whole_tail" in SCRIPTS["settle_usual"].text


@pytest.mark.parametrize(
    "path",
    [
        "/a/b.md",
        "/b",
        "/,",
        '/","',
        '/"',
        '/a","b","c/",".PDF',
        "/a\\",
        '/a\\"',
        "/\x01\x1f\x7f/\u2028\u00e9.md",
        "/a/.hidden",
        "/a/b." + "x" * 40,
    ],
)
@pytest.mark.parametrize("more", [{}, {"file_type": "document"}])
def test_a_usual_tail_is_what_the_message_says(path: str, more: dict[str, str]) -> None:
    """Most tails are put together from words; they are those of the message made whole."""
    tenant, collection = TenantId('t","t'), 'c\\","'
    job = NewJob(
        tenant=tenant,
        collection=collection,
        payload=File(file_path=path, **more),  # type: ignore[arg-type]
        priority=7,
        max_retries=0,
    )
    message = message_of(job, submitted_at=NOW)
    del message["job_id"]

    tail = tail_of(job, now=NOW, stamp=stamped(NOW))

    assert tail.whole == "," + msgspec.json.encode(message)[1:].decode()
    assert _whole(tail.kept) == tail.whole
    assert (tail.filename, tail.submitted_at) == (message["filename"], message["submitted_at"])


def test_every_piece_is_used() -> None:
    """A piece that no message has would be a slip of the pen."""
    assert set(kept_tail(_ready(File(file_path="/a/b.md"))[1])) >= set(PIECES) - {"\v"}  # no longer written

"""An answer that is told word by word, as the client reads it; and wishes as it sends them."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from penstock.client import Delta, PenstockError, Wishes
from penstock.client.telling import told
from penstock.client.values import Answer

ANSWER: dict[str, Any] = {
    "question": "Who?",
    "found": True,
    "kind": "grounded",
    "confidence": "strong",
    "text": "It is Ann.",
    "citations": [],
    "claims": [],
    "unknown_citations": [],
    "unverified_quotes": [],
    "model": "m",
    "usage": None,
    "notes": [],
}


async def sent(*frames: object) -> AsyncGenerator[bytes, None]:
    for each in frames:
        yield each if isinstance(each, bytes) else json.dumps(each).encode()


def words(text: str) -> dict[str, object]:
    return {"type": "answer.delta", "payload": {"text": text}}


async def test_words_come_in_order_and_the_whole_last() -> None:
    """Each with where it stands; what a later server tells besides is passed over."""
    frames = sent(words("It is "), {"type": "else", "payload": {}}, words("Ann."), whole := answer())
    seen = [each async for each in told(frames)]

    assert seen[:2] == [Delta(start=0, text="It is "), Delta(start=6, text="Ann.")]
    assert isinstance(seen[2], Answer)
    assert (len(seen), seen[2].text) == (3, whole["payload"]["text"])


def answer() -> dict[str, Any]:
    return {"type": "answer", "payload": ANSWER}


async def test_a_server_that_does_not_stream_gives_the_whole() -> None:
    """As it always did."""
    (only,) = [each async for each in told(sent(ANSWER))]
    assert isinstance(only, Answer)


PROBLEM = {"status": 503, "code": "ERR_ANSWERER_DOWN", "detail": "it broke off", "suggestions": []}


@pytest.mark.parametrize(
    ("frames", "code", "status"),
    [
        ((words("It "), {"type": "problem", "payload": PROBLEM}), "ERR_ANSWERER_DOWN", 503),
        ((words("It "),), "ERR_SERVER_UNREACHABLE", None),
        ((b"{no",), "ERR_SERVER_ANSWER", None),
    ],
    ids=["a problem", "no end", "no JSON"],
)
async def test_what_is_no_answer_is_raised(frames: tuple[object, ...], code: str, status: int | None) -> None:
    """With the server's code where it gave one."""
    with pytest.raises(PenstockError) as raised:
        [each async for each in told(sent(*frames))]
    assert (raised.value.code, raised.value.status) == (code, status)


def test_only_what_is_unusual_is_sent() -> None:
    """So that a server that knows none of it is told nothing it would refuse; a rebuild is asked for once."""
    assert Wishes().facts() == {}
    wishes = Wishes(priority=0, skip_validation=True, preserve_metadata=False, reindex=True)
    assert wishes.facts() == {
        "priority": 0,
        "skip_validation": True,
        "preserve_metadata": False,
        "reindex": True,
    }
    assert "reindex" not in wishes.facts(again=True)

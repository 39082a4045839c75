"""What settings allow, parent and child of a parser can say to each other: large is not mad."""

from __future__ import annotations

from itertools import pairwise

import pytest

from penstock.engines.parsers.child import Nonsense
from penstock.engines.parsers.gathering import CUTS_DENSE_MAX, Gathering
from penstock.engines.parsers.wire import FRAME_BYTES_MAX, End, framed
from penstock.engines.parsers.wire import Window as Sent
from penstock.model.parsed import Media
from penstock.pipeline.parse.manuscript import CUTS_APART, Limits, Manuscript, Window

TEXT_BYTES = 1 << 30
"""The most that `parser.text_bytes` may be."""


def test_as_many_cuts_as_the_largest_text_may_have_are_taken() -> None:
    """A table of a gigabyte has millions of rows; only more than that are nonsense."""
    gathering = Gathering(text_bytes=TEXT_BYTES, pages=1)
    most = TEXT_BYTES // CUTS_APART
    gathering.take(Sent(nonce="", text="x", cuts=tuple(range(most))))

    with pytest.raises(Nonsense, match="cuts"):
        gathering.take(Sent(nonce="", text="x", cuts=tuple(range(most, most + 2 * CUTS_DENSE_MAX))))


def test_cuts_told_at_once_fit_their_frames() -> None:
    """However many there are, and though all are told when the text is written already."""
    windows: list[Window] = []
    manuscript = Manuscript(Limits(text_bytes=TEXT_BYTES), windows.append)
    length = 5_000_000 * CUTS_APART
    manuscript.write("x")
    for at in range(CUTS_APART, length, CUTS_APART):
        manuscript.cut(at)
    manuscript.finish(Media.CSV)

    sizes = [len(framed(Sent(nonce="n" * 32, text=each.text, cuts=each.cuts))) for each in windows]
    assert max(sizes) < FRAME_BYTES_MAX
    cuts = [cut for window in windows for cut in window.cuts]
    assert len(cuts) == 5_000_000 - 1
    assert all(one < other for one, other in pairwise(cuts))


def test_an_answer_is_whole_after_many_windows() -> None:
    """Cuts may come in a window behind the text they lie in."""
    gathering = Gathering(text_bytes=100, pages=1)
    gathering.take(Sent(nonce="", text="one\ntwo\n", cuts=(4,)))
    gathering.take(Sent(nonce="", text="", cuts=(8,)))

    assert gathering.finish(End(nonce="", media=Media.CSV)).cuts == (4, 8)

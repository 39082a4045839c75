"""Chunks become hits: neighbours one stretch, spans exact, no document before all others."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from penstock.answer.gathering import PER_DOCUMENT, STRETCH_CHUNKS_MAX, gathered
from penstock.model.answers import Hit, joined
from penstock.model.passages import Passage
from tests.support.passages import a_passage

TEXT = "The keys hang by the door.  Ask the porter for the cellar key.\n\nReturn them by ten."


def cut(start: int, end: int, *, ordinal: int, chunk: int = 0, page: int | None = None) -> Passage:
    return a_passage(TEXT[start:end], chunk=chunk or ordinal + 1, ordinal=ordinal, start=start, page=page)


def gather(*passages: Passage, top: int = 10) -> tuple[Hit, ...]:
    scores = {each.chunk: 1.0 - at / 100 for at, each in enumerate(passages)}
    return gathered(passages, scores, {}, top=top)


def test_neighbours_are_one_hit_at_the_better_place() -> None:
    """Two chunks that follow each other are read as one stretch in the order of the text."""
    second, first = cut(28, 62, ordinal=1, page=2), cut(0, 26, ordinal=0, page=1)

    (hit,) = gather(second, first)

    assert [part.text for part in hit.parts] == [TEXT[0:26], TEXT[28:62]]
    assert (hit.start, hit.end, hit.pages, hit.score) == (0, 62, (1, 2), 1.0)


def test_overlapping_neighbours_become_one_exact_span() -> None:
    """What two chunks share is not said twice, and the text is the stored text's."""
    (hit,) = gather(cut(0, 40, ordinal=0), cut(28, 62, ordinal=1))

    (part,) = hit.parts
    assert part.text == TEXT[part.start : part.end] == TEXT[0:62]


def test_a_stretch_keeps_to_its_section() -> None:
    """A chunk under another heading is a hit of its own, so that a citation names the right one."""
    keys = a_passage("They hang here.", chunk=1, ordinal=0, headings=("Keys",))
    gates = a_passage("They are shut.", chunk=2, ordinal=1, start=20, headings=("Gates",))

    assert [hit.head.headings for hit in gather(keys, gates)] == [("Keys",), ("Gates",)]


def test_a_chunk_further_on_is_a_hit_of_its_own() -> None:
    """A gap of a chunk is a gap: what stands there was not found."""
    assert len(gather(cut(0, 26, ordinal=0), cut(64, 83, ordinal=2))) == 2


def test_a_stretch_ends_somewhere() -> None:
    """A whole document that matches does not become one endless hit."""
    many = [a_passage("word", chunk=at + 1, ordinal=at, start=at * 5) for at in range(STRETCH_CHUNKS_MAX * 2)]

    assert [len(hit.parts) for hit in gather(*many)] == [STRETCH_CHUNKS_MAX] * 2


def test_a_document_does_not_crowd_out_the_others() -> None:
    """Its further hits go behind those of other documents, and are still there."""
    long = [
        a_passage("word", chunk=at + 1, ordinal=at * 2, document="long") for at in range(PER_DOCUMENT + 2)
    ]
    other = a_passage("word", chunk=99, document="other")

    hits = gather(*long, other)

    assert [hit.head.chunk for hit in hits] == [1, 2, 3, 99, 4, 5]


def test_no_more_than_asked_for() -> None:
    """The list ends at `top`."""
    assert len(gather(*(a_passage("word", chunk=at, ordinal=at * 2) for at in range(1, 9)), top=4)) == 4


@given(st.lists(st.tuples(st.integers(0, 82), st.integers(1, 30)), min_size=1, max_size=8))
def test_joined_parts_are_exact_and_in_order(spans: list[tuple[int, int]]) -> None:
    """Whatever overlaps, every part is the stored text's own span and no two share a character."""
    passages = [
        cut(start, min(start + size, len(TEXT)), ordinal=at) for at, (start, size) in enumerate(spans)
    ]

    parts = joined(passages)

    assert all(part.text == TEXT[part.start : part.end] for part in parts)
    assert all(one.end < following.start for one, following in pairwise(parts))
    assert {at for part in parts for at in range(part.start, part.end)} == {
        at for each in passages for at in range(each.start, each.end)
    }

"""Several rankings become one by rank alone."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.answer.fusion import Ranking, fuse, rankings_of
from penstock.model.catalogue import GenerationId
from penstock.model.passages import Candidate, Candidates

chunks = st.lists(st.integers(1, 30), unique=True, max_size=12).map(tuple)


def candidates(generation: int, dense: list[tuple[int, float]], lexical: list[int]) -> Candidates:
    return Candidates(
        generation=GenerationId(generation),
        dense=tuple(Candidate(chunk=chunk, score=score) for chunk, score in dense),
        lexical=tuple(Candidate(chunk=chunk, score=9.0 - at) for at, chunk in enumerate(lexical)),
    )


def test_what_both_legs_found_comes_first() -> None:
    """A chunk in second place twice beats chunks in first place once."""
    fused = fuse([Ranking(chunks=(1, 2)), Ranking(chunks=(3, 2))])

    assert [chunk for chunk, _ in fused] == [2, 1, 3]


@given(st.lists(chunks, max_size=5))
def test_fusion_keeps_every_chunk_once(legs: list[tuple[int, ...]]) -> None:
    """Nothing found is lost, nothing is doubled, and scores only fall."""
    fused = fuse([Ranking(chunks=leg) for leg in legs])

    assert sorted(chunk for chunk, _ in fused) == sorted({chunk for leg in legs for chunk in leg})
    assert [score for _, score in fused] == sorted((score for _, score in fused), reverse=True)


@given(chunks)
def test_one_ranking_keeps_its_order(leg: tuple[int, ...]) -> None:
    """Where only one leg speaks, its word stands."""
    assert tuple(chunk for chunk, _ in fuse([Ranking(chunks=leg)])) == leg


def test_dense_legs_of_one_model_are_ranked_by_cosine_across_collections() -> None:
    """A collection that has nothing near does not get its best chunk ranked beside another's best."""
    near = candidates(1, [(1, 0.9), (2, 0.8)], [])
    far = candidates(2, [(3, 0.2)], [])
    models = {GenerationId(1): "m", GenerationId(2): "m"}

    dense = rankings_of([far, near], models)[0]

    assert dense.chunks == (1, 2, 3)


def test_cosines_of_unlike_models_never_meet() -> None:
    """Each model's dense leg is a ranking of its own, as is one of a generation nobody knows."""
    found = [candidates(1, [(1, 0.9)], []), candidates(2, [(2, 0.5)], []), candidates(3, [(3, 0.1)], [])]

    rankings = rankings_of(found, {GenerationId(1): "m", GenerationId(2): "n"})

    assert [ranking.chunks for ranking in rankings[:3]] == [(1,), (2,), (3,)]


def test_lexical_legs_stay_apart() -> None:
    """BM25 counts a collection's own words, so only ranks cross its border."""
    found = [candidates(1, [], [1, 2]), candidates(2, [], [3])]

    lexical = [ranking.chunks for ranking in rankings_of(found, {}) if ranking.chunks]

    assert lexical == [(1, 2), (3,)]

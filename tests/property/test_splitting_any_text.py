"""Splitting holds for any text, structure and recipe."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.engines.minilm import BundledTokenizer
from penstock.model.parsed import Heading, Media, Parsed
from penstock.model.recipes import Recipe
from penstock.pipeline.split import split
from tests.support.splits import check
from tests.support.texts import pages

TOKENIZER = BundledTokenizer()

SCRAPS = st.one_of(
    st.sampled_from(
        [
            "word ",
            "Stop. ",
            "\n",
            "\n\n",
            " " * 40,
            "\u6c34",
            "e\u0301",
            "\U0001f44d\U0001f3fd",
            "#\ufe0f\u20e3",
            "\u200b",
            "...",
            "x" * 99,
            "y" * 101,
            "z" * 2000,
            "\r\n",
            "\u3002",
        ]
    ),
    st.text(max_size=30),
)
TEXTS = st.lists(st.tuples(SCRAPS, st.integers(1, 60)), max_size=25).map(
    lambda scraps: "".join(scrap * times for scrap, times in scraps)
)


@st.composite
def parses(draw: st.DrawFn) -> Parsed:
    text = draw(TEXTS)
    places = st.lists(st.integers(0, max(0, len(text) - 1)), max_size=6, unique=True).map(sorted)
    headings = tuple(
        Heading(level=draw(st.integers(1, 6)), title=draw(st.text(max_size=40)), start=start)
        for start in draw(places)
    )
    return Parsed(
        text=text,
        media=draw(st.sampled_from(Media)),
        headings=headings,
        cuts=tuple(draw(places)),
        pages=pages(text, 700) if draw(st.booleans()) else (),
    )


@st.composite
def recipes(draw: st.DrawFn) -> Recipe:
    tokens = draw(st.integers(16, TOKENIZER.tokens_max))
    return Recipe(
        model="m",
        chunk_tokens=tokens,
        chunk_tokens_min=draw(st.integers(0, tokens // 2)),
        overlap_tokens=draw(st.integers(0, tokens // 2)),
    )


@given(parses(), recipes())
def test_any_text_is_split_whole_and_exactly(parsed: Parsed, recipe: Recipe) -> None:
    """Spans exact, limits kept, nothing lost, and the same again every time."""
    found = list(split(parsed, recipe, TOKENIZER))

    check(parsed, found, recipe, TOKENIZER)
    assert found == list(split(parsed, recipe, TOKENIZER))

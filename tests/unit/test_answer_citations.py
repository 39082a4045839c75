"""Citations are checked: numbers and quotations that lead nowhere do not stand."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.answer.citations import HELD_CHARACTERS_MAX, CitationSieve, cited, claims_of, found, quotations
from penstock.model.answers import Claim
from tests.support.passages import a_hit, a_passage

SOURCES = 3
bits = st.sampled_from(
    ["[", "]", "1", "3", "7", ",", " ", "-", "\u2013", ";", "a", ".", "[1]", "[9]", "\n", "[2, 8]"]
)


def sifted(*pieces: str, sources: int = SOURCES) -> tuple[str, tuple[int, ...]]:
    sieve = CitationSieve(sources)
    shown = "".join([*map(sieve.feed, pieces), sieve.finish()])
    return shown, sieve.unknown


@pytest.mark.parametrize(
    ("text", "shown", "unknown"),
    [
        ("So it is [1].", "So it is [1].", ()),
        ("So it is [9].", "So it is.", (9,)),
        ("So it is [1, 9, 3].", "So it is [1, 3].", (9,)),
        ("So it is [1-3].", "So it is [1, 2, 3].", ()),
        ("So it is [2\u20134].", "So it is [2, 3].", (4,)),
        ("So it is [1][7][2].", "So it is [1][2].", (7,)),
        ("So it is [0].", "So it is.", (0,)),
        ("See [the door] or [x1].", "See [the door] or [x1].", ()),
        ("In [2024] it was.", "In it was.", (2024,)),
        ("Unfinished [1", "Unfinished [1", ()),
        ("[[9]7] and [7[9]]", " and", (9, 7)),
        ("As many as [1-900000].", "As many as [1].", (900000,)),
    ],
)
def test_only_numbers_that_were_retrieved_are_shown(text: str, shown: str, unknown: tuple[int, ...]) -> None:
    """A citation of nothing is taken out with its space and reported; what is no citation stays."""
    assert sifted(text) == (shown, unknown)


@given(st.lists(bits, max_size=30).map("".join), st.lists(st.integers(0, 60), max_size=4))
def test_it_makes_no_difference_how_the_stream_is_cut(text: str, cuts: list[int]) -> None:
    """Pieces of any size give the same words and the same report as the whole."""
    places = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    pieces = [text[one:two] for one, two in pairwise(places)]

    assert sifted(*pieces) == sifted(text)


@given(st.lists(bits, max_size=400).map("".join))
def test_no_unknown_number_is_ever_left(text: str) -> None:
    """However brackets are nested, nothing that reads as a citation of no source comes through."""
    shown, _ = sifted(text)

    left = [
        int(number)
        for found_marks in re.findall(r"\[(\d+(?:, \d+)*)\]", shown)
        for number in found_marks.split(", ")
    ]
    assert all(1 <= number <= SOURCES for number in left)
    assert all(1 <= number <= SOURCES for claim in claims_of(shown) for number in claim.citations)


def test_a_bracket_that_never_closes_holds_back_only_so_much() -> None:
    """A stream of brackets is let go without them, so nothing grows without end."""
    sieve = CitationSieve(SOURCES)

    shown = [sieve.feed("[" * 100) for _ in range(1000)]

    assert "".join(shown) == ""
    assert len(sieve.finish()) <= HELD_CHARACTERS_MAX


def test_numbers_belong_to_their_sentence_also_behind_its_stop() -> None:
    """`… so. [1] Then` says the first sentence rests on source 1."""
    text = "Keys hang here. [1][2] The cellar is locked [3]. Nobody knows why."

    claims = claims_of(text)

    assert [(text[each.start : each.end], each.citations) for each in claims] == [
        ("Keys hang here. [1][2]", (1, 2)),
        ("The cellar is locked [3].", (3,)),
        ("Nobody knows why.", ()),
    ]


def test_a_quotation_gets_the_exact_span_of_its_source() -> None:
    """Line ends may differ; the span is that of the stored text, on its page."""
    hit = a_hit(a_passage("Rules.\nThe keys hang\nby the door.", start=100, page=4))
    text = "They say \u201cthe keys hang by the door\u201d [1]."

    (citation,), unverified = cited(text, claims_of(text), [hit])

    (quote,) = citation.quotes
    assert (quote.text, quote.start, quote.end) == ("The keys hang\nby the door", 107, 132)
    assert (quote.page_first, unverified) == (4, ())


def test_a_quotation_nobody_said_is_reported_and_not_highlighted() -> None:
    """Words that stand in another source than the cited one are not found there."""
    one, two = (
        a_hit(a_passage("The keys hang by the door.")),
        a_hit(a_passage("The cellar is locked at ten.")),
    )
    text = 'It reads "the cellar is locked at ten" [1] and "the moon is made of cheese" [2].'

    citations, unverified = cited(text, (Claim(start=0, end=len(text), citations=(1,)),), [one, two])

    assert [citation.quotes for citation in citations] == [()]
    assert unverified == ("the cellar is locked at ten", "the moon is made of cheese")


def test_short_words_in_quotation_marks_are_no_quotation() -> None:
    """A name in quotes is not held against anybody."""
    assert list(quotations('The "main door" is “open”, «as one may see».')) == ["as one may see"]


def test_a_quotation_with_the_signs_of_a_pattern_is_taken_literally() -> None:
    """Brackets and stars of a quotation are characters to look for."""
    hit = a_hit(a_passage("Call f(x)* [now] or (never) again."))

    quote = found("f(x)* [now] or (never)", hit)

    assert quote is not None
    assert quote.text == "f(x)* [now] or (never)"


@given(st.text(alphabet="ab .\n", min_size=5, max_size=60), st.data())
def test_what_is_found_stands_where_it_is_said_to_stand(text: str, data: st.DataObject) -> None:
    """For any stretch of a source, the span found reads the same up to white space and a first letter."""
    start = data.draw(st.integers(0, len(text) - 1))
    words = text[start : data.draw(st.integers(start + 1, len(text)))].strip()
    hit = a_hit(a_passage(text, start=1000))

    quote = found(words, hit) if words else None

    if words:
        assert quote is not None
        assert quote.text == text[quote.start - 1000 : quote.end - 1000]
        assert quote.text.split() == words.split()

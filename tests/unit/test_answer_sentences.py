"""Sentences are spans of the text they come from."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.answer.sentences import SENTENCE_CHARACTERS_MAX, sentence_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        (
            "See e.g. the list, Dr. Who et al. and Fig. 3. Done.",
            ["See e.g. the list, Dr. Who et al. and Fig. 3.", "Done."],
        ),
        ("A line\nthat is wrapped. Next", ["A line\nthat is wrapped.", "Next"]),
        ("Heading\n\nBody", ["Heading", "Body"]),
        ("List:\n- one\n- two\n3. three", ["List:", "- one", "- two", "3. three"]),
        ('He said "go." Then left.', ['He said "go."', "Then left."]),
        ("鍵は玄関にあります。十時に閉まります。", ["鍵は玄関にあります。", "十時に閉まります。"]),
        ("Version 3.14 is out. Yes", ["Version 3.14 is out.", "Yes"]),
        ("# Tea\nTea is at five", ["# Tea", "Tea is at five"]),
        (
            "Roses follow\n## Roses. All of them\nThey are red.",
            ["Roses follow", "## Roses. All of them", "They are red."],
        ),
        (
            "Say it.\n| sign | it means |\n|---|---|\n| E1. | Stop. Then ask. |\nSo it is.",
            ["Say it.", "| sign | it means |", "|---|---|", "| E1. | Stop. Then ask. |", "So it is."],
        ),
        ("  \n\n ", []),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text: str, expected: list[str]) -> None:
    """Stops, empty lines and list items end a sentence; abbreviations, numbers and wrapped lines do not."""
    assert sentences(text) == expected


@given(st.text(alphabet='ab. !?\n\t-。\u2026"', max_size=2000))
def test_sentences_are_the_text_without_the_space_between(text: str) -> None:
    """Nothing but white space lies outside, spans are in order, and none is too long."""
    spans = list(sentence_spans(text))

    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(one[1] <= two[0] for one, two in pairwise(spans))
    assert all(0 < end - start <= SENTENCE_CHARACTERS_MAX for start, end in spans)


def test_a_text_without_an_end_is_cut_at_words() -> None:
    """A megabyte of words without a full stop gives bounded pieces, each of whole words."""
    text = "word " * 20_000

    assert all(set(each.split()) == {"word"} for each in sentences(text))

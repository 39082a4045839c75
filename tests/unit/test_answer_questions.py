"""What may be asked, and what is told where it may not."""

import pytest

from penstock.answer.questions import QUESTION_CHARACTERS_MAX, checked
from penstock.model.errors import Refused


@pytest.mark.parametrize(
    "text",
    [
        'title:secret NEAR(a b) AND "x" OR NOT y*',
        "где лежат ключи?",
        "鍵はどこですか",
        "أين المفاتيح",
        "keys 🔑 please",
        "'; DROP TABLE chunks; --",
        "x",
        "42",
    ],
)
def test_any_text_with_a_letter_or_digit_is_searched_for_as_it_stands(text: str) -> None:
    """Operators, quotes, emoji and other scripts are part of the question, never an error."""
    assert checked(text) == text


def test_unseen_characters_part_words() -> None:
    """NUL, line ends, control characters and broken text count as the space between two words."""
    assert checked("  where\x00are\nthe\x1b\ud800 keys? \u202e") == "where are the keys?"


@pytest.mark.parametrize("text", ["", "   ", "\x00\x00", "\n"])
def test_an_empty_question_is_refused(text: str) -> None:
    """Nothing to look for is told as such."""
    with pytest.raises(Refused, match="is empty") as refused:
        checked(text)

    assert refused.value.code == "ERR_QUERY_INVALID"


@pytest.mark.parametrize("text", ["?!...", "🔑🔑", "--", "***"])
def test_a_question_without_a_word_is_refused(text: str) -> None:
    """Only marks and pictures give nothing to search for."""
    with pytest.raises(Refused, match="no letter and no digit") as refused:
        checked(text)

    assert refused.value.code == "ERR_QUERY_INVALID"


def test_a_question_as_long_as_a_book_is_refused_with_the_limit() -> None:
    """A megabyte is told the limit and what to do instead, without being repeated."""
    with pytest.raises(Refused, match=f"at most {QUESTION_CHARACTERS_MAX:,}") as refused:
        checked("why " * 262_144)

    assert len(refused.value.message) < 300

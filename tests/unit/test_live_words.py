"""What is shown of answers that other processes write: each word once, in order, as soon as it can be."""

from penstock.doors.live.words import AHEAD_CHARACTERS_MAX, ANSWERS_MAX, Words
from penstock.model.conversations import MessageDelta
from penstock.model.feed import AnswerSoFar

TEXT = "It is Ann who has the key."


def delta(start: int, end: int, message: str = "m") -> MessageDelta:
    return MessageDelta(
        workspace_id="w", conversation_id="c", message_id=message, start=start, text=TEXT[start:end]
    )


def kept(end: int, message: str = "m") -> AnswerSoFar:
    return AnswerSoFar(
        workspace_id="w", conversation_id="c", message_id=message, status="running", content=TEXT[:end]
    )


def test_words_that_follow_are_shown_at_once() -> None:
    """And not again when the message holds them."""
    words = Words()
    assert words.heard(delta(0, 3)) == delta(0, 3)
    assert words.heard(delta(3, 6)) == delta(3, 6)
    assert words.kept(kept(5)) is None
    assert words.heard(delta(4, 10)) == delta(6, 10)
    assert words.kept(kept(12)) == delta(10, 12)


def test_words_after_a_gap_wait_for_the_message() -> None:
    """The one that fills the gap brings them along, and the next follow at once again."""
    words = Words()
    assert words.heard(delta(3, 6)) is None
    assert words.heard(delta(6, 9)) is None
    assert words.kept(kept(2)) == delta(0, 2)
    assert words.kept(kept(4)) == delta(2, 9)
    assert words.heard(delta(9, 12)) == delta(9, 12)


def test_of_two_gaps_the_later_words_wait() -> None:
    """What lies between them is in the message soon."""
    words = Words()
    assert words.heard(delta(3, 6)) is None
    assert words.heard(delta(9, 12)) is None
    assert words.kept(kept(9)) == delta(0, 12)


def test_what_this_process_writes_is_not_told_twice() -> None:
    """Neither from the message nor from an echo."""
    words = Words()
    words.written(delta(0, 9))
    assert words.kept(kept(9)) is None
    assert words.heard(delta(3, 6)) is None


def test_what_is_remembered_is_bounded() -> None:
    """Old answers are forgotten, and words do not wait without end."""
    words = Words()
    for number in range(ANSWERS_MAX + 1):
        assert words.heard(delta(3, 6, str(number))) is None
    assert len(words._shown) == len(words._ahead) == ANSWERS_MAX
    long = MessageDelta(
        workspace_id="w",
        conversation_id="c",
        message_id="long",
        start=1,
        text="x" * (AHEAD_CHARACTERS_MAX + 1),
    )
    assert words.heard(long) is None
    assert "long" not in words._ahead

"""Single values of legacy rows, as other programs wrote them."""

from datetime import UTC, datetime

import pytest

from penstock.engines.legacy.roles import NAMES, Role, plain_name
from penstock.engines.legacy.values import (
    OPERATION_WORDS,
    PRIORITY_WORDS,
    STATUS_WORDS,
    text_of,
    time_of,
    whole_between,
    word_of,
)
from penstock.model.states import State

NOON = datetime(2024, 3, 1, 12, 0, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "value",
    [
        "2024-03-01T12:00:00Z",
        "2024-03-01T12:00:00.000000000Z",
        "2024-03-01 12:00:00",
        "2024-03-01T13:00:00+01:00",
        " 2024-03-01T12:00:00 ",
        b"2024-03-01 12:00:00",
        NOON,
        int(NOON),
        str(int(NOON)),
        NOON * 1e3,
        str(int(NOON * 1e3)),
        NOON * 1e6,
        NOON * 1e9,
    ],
)
def test_a_time_is_read_in_every_usual_form(value: object) -> None:
    """ISO text with or without a zone, and counts of seconds or finer units, all mean the same moment."""
    assert time_of(value) == pytest.approx(NOON, abs=1e-3)


def test_a_date_of_eight_digits_is_a_date() -> None:
    """The compact ISO form is not taken for a count of seconds."""
    assert time_of("20240301") == datetime(2024, 3, 1, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "value", [None, "", 0, "0", "soon", "/data/a.txt", -5, 1e40, float("nan"), float("inf"), b"\xff", "24:61"]
)
def test_what_is_no_time_is_none(value: object) -> None:
    """Nonsense never stops a row; it only has no time."""
    assert time_of(value) is None


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, (None, False)),
        ("", (None, False)),
        (3, (3, False)),
        ("3", (3, False)),
        (3.0, (3, False)),
        (True, (1, False)),
        (11, (10, True)),
        (-1, (0, True)),
        (2.5, (2, True)),
        ("many", (None, True)),
        (float("nan"), (None, True)),
        ("9" * 400, (None, True)),
    ],
)
def test_a_whole_number_is_brought_within_bounds(value: object, found: tuple[int | None, bool]) -> None:
    """Numbers may be text; what lies outside is clamped, what is no number is told."""
    assert whole_between(value, 0, 10) == found


@pytest.mark.parametrize("written", ["in_progress", "In Progress", " IN-PROGRESS ", b"in_progress"])
def test_a_word_is_known_however_it_is_spelled(written: object) -> None:
    """Case, blanks and dashes do not matter."""
    word = word_of(written)

    assert word is not None
    assert STATUS_WORDS[word] is State.LEASED


def test_the_documented_words_are_known() -> None:
    """Every word the contracts use for a state, an operation or a priority has its meaning."""
    for word, state in {
        "pending": State.READY,
        "queued": State.READY,
        "new": State.READY,
        "processing": State.LEASED,
        "running": State.LEASED,
        "completed": State.DONE,
        "success": State.DONE,
        "error": State.FAILED,
        "failed": State.FAILED,
    }.items():
        assert STATUS_WORDS[word] is state
    assert {"ingest", "update", "delete", "scan"} <= set(OPERATION_WORDS)
    assert (PRIORITY_WORDS["low"], PRIORITY_WORDS["normal"], PRIORITY_WORDS["high"]) == (1, 5, 9)
    assert PRIORITY_WORDS["urgent"] == 10


def test_bytes_are_text() -> None:
    """A text that was stored as bytes is read, and what is not UTF-8 stays recognisable as such."""
    assert text_of(b"/a.txt") == "/a.txt"
    assert text_of(b"/\xff.txt") == "/\udcff.txt"
    assert text_of(b"") is None


def test_names_of_columns_are_compared_in_one_spelling() -> None:
    """Humps and capitals are the same name, and no name serves two roles."""
    assert [plain_name(name) for name in ("filePath", "FILE_PATH", "createdAt")] == [
        "file_path",
        "file_path",
        "created_at",
    ]
    names = [name for role in Role for name in NAMES[role]]
    assert len(names) == len(set(names))
    assert names == [plain_name(name) for name in names]

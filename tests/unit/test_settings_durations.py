"""Durations: what people write, what it means, and that writing and reading agree."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.settings.durations import SECONDS_MAX, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("5s", 5.0),
        ("200ms", 0.2),
        ("1m30s", 90.0),
        ("24h", 86400.0),
        ("7d", 604800.0),
        ("1d2h3m4s5ms", 93784.005),
        ("1.5h", 5400.0),
        ("1h1ms", 3600.001),
        ("5", 5.0),
        ("0.25", 0.25),
        ("0", 0.0),
    ],
)
def test_durations_are_read(text: str, seconds: float) -> None:
    """Units from days to milliseconds add up; a bare number is seconds."""
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "s",
        "-5s",
        "+5s",
        "5 s",
        "5x",
        "5S",
        "30s1m",
        "5s5s",
        "5ms5s",
        "1:30",
        "1e3",
        "nan",
        "inf",
        "\u0665s",
        "5s\n",
    ],
)
def test_anything_else_is_no_duration(text: str) -> None:
    """Signs, spaces, unknown units and units out of order are refused, never guessed."""
    with pytest.raises(ValueError, match="not a duration"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0s"), (0.05, "50ms"), (90, "1m30s"), (86400, "1d"), (3600.001, "1h1ms")]
)
def test_durations_are_written_short(seconds: float, text: str) -> None:
    """A shown duration reads like one a person wrote."""
    assert format_duration(seconds) == text


@given(st.floats(min_value=0, max_value=SECONDS_MAX))
def test_written_durations_read_back(seconds: float) -> None:
    """Whatever the number of seconds, its text means the same number."""
    assert parse_duration(format_duration(seconds)) == seconds


@given(st.integers(min_value=0, max_value=int(SECONDS_MAX * 1000)))
def test_milliseconds_are_exact(milliseconds: int) -> None:
    """A whole number of milliseconds is read as the nearest float there is."""
    assert parse_duration(f"{milliseconds}ms") == milliseconds / 1000

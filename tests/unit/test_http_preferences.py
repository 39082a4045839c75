"""What a client prefers, as RFC 7240 writes it."""

import pytest

from penstock.doors.http.preferences import preferences_of


@pytest.mark.parametrize(
    "lines",
    [
        ["respond-async"],
        ["Respond-Async"],
        ["wait=5", "respond-async"],
        ["respond-async", "wait=5"],
        ["wait=5, respond-async"],
        ["respond-async;wait=5"],
        ["respond-async ; wait=5, handling=lenient"],
        ['respond-async=""'],
        ['note="a, \\" b", respond-async'],
    ],
)
def test_a_preference_counts_wherever_it_stands(lines: list[str]) -> None:
    """Several lines are one list, and parameters stand behind it."""
    assert "respond-async" in preferences_of(lines)


def test_a_quotation_without_an_end_is_read_once() -> None:
    """It fits into a head, and whoever looked for its end from each of its marks anew took seconds for it."""
    endless = '"' + '\\"' * 15_000

    for _ in range(300):
        assert preferences_of([endless, "respond-async"]) == {"?"}


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [""],
        ["wait=5"],
        ["wait=5;respond-async"],
        ["respond-async=no"],
        ['respond-async="no"'],
        ['note="a, respond-async"'],
        ['note="a', 'respond-async"'],
        ["respond-asynchronously"],
    ],
)
def test_what_only_looks_like_one_does_not(lines: list[str]) -> None:
    """A parameter, a value, a word in quotes."""
    assert "respond-async" not in preferences_of(lines)

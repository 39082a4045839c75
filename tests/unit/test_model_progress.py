"""Progress: n of m, in counts that every store can hold."""

import pytest

from penstock.model.errors import Refused
from penstock.model.jobs import COUNT_LIMIT, Progress


@pytest.mark.parametrize(("done", "total"), [(0, 0), (0, None), (3, 9), (COUNT_LIMIT, COUNT_LIMIT)])
def test_counts_are_kept_as_they_are(done: int, total: int | None) -> None:
    """From nothing to the largest number a store holds."""
    told = Progress(done=done, total=total)

    assert (told.done, told.total) == (done, total)


@pytest.mark.parametrize(
    "bad",
    [-1, COUNT_LIMIT + 1, 1 << 50_000, 1.5, True, "3"],
    ids=["negative", "too large", "too large to be written", "broken", "a switch", "text"],
)
def test_what_is_no_count_is_refused(bad: int) -> None:
    """Here, by name and with the limits, and not by a driver in the middle of a commit."""
    for name, counts in {"done": {"done": bad}, "total": {"done": 0, "total": bad}}.items():
        with pytest.raises(Refused, match=f"{name} is not a whole number from 0 to {COUNT_LIMIT}") as refused:
            Progress(**counts)

        assert refused.value.code == "ERR_PROGRESS_INVALID"


def test_more_than_there_was_raises_the_total() -> None:
    """A total is an estimate; nobody is shown 12 of 10."""
    assert Progress(done=12, total=10) == Progress(done=12, total=12)

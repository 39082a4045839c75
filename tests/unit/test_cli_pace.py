"""How fast waiting work ends, and what is left of it."""

from penstock.doors.cli.ingest.following import Outlook
from penstock.doors.cli.ingest.waiting import WINDOW_SECONDS, Pace, left_of


def an_outlook(ended: int, total: int) -> Outlook:
    return Outlook(total=total, done=ended, failed=0, is_over=ended == total)


def test_nobody_can_tell_before_something_ended() -> None:
    """No rate, and no guess, from one look or from a standstill."""
    pace = Pace()
    pace.take(0, 10.0)
    assert (pace.rate, pace.left(an_outlook(0, 5))) == (0.0, "")
    pace.take(0, 20.0)
    assert (pace.rate, pace.left(an_outlook(0, 5))) == (0.0, "")


def test_the_rest_follows_from_the_rate() -> None:
    """Ten in five seconds, thirty to go: a quarter of a minute."""
    pace = Pace()
    pace.take(0, 0.0)
    pace.take(10, 5.0)

    assert pace.rate == 2.0
    assert pace.left(an_outlook(10, 40)) == "about 15s left"
    assert pace.left(an_outlook(40, 40)) == ""


def test_old_looks_count_no_more() -> None:
    """After a slow start the rate is that of the last half minute."""
    pace = Pace()
    pace.take(0, 0.0)
    for second in range(1, 101):
        pace.take(max(0, second - 50) * 4, float(second))

    assert pace.rate == 4.0
    assert WINDOW_SECONDS < 50


def test_who_stops_waiting_is_told_what_goes_on() -> None:
    """In the number that fits; of a folder whose files so far have all ended nobody knows how many."""
    told = [
        left_of(an_outlook(ended, total)) for ended, total in ((0, 1), (0, 340), (1, 340), (339, 340), (2, 2))
    ]

    assert told == [
        "1 job stays queued or runs on",
        "340 jobs stay queued or run on",
        "339 jobs of 340 stay queued or run on",
        "1 job of 340 stays queued or runs on",
        "what is left stays queued or runs on",
    ]

"""The arithmetic of attempts: delays, leases, and the verdict when an attempt ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.errors import ErrorClass, ErrorReport
from penstock.model.outcomes import DONE, RELEASE, Failed, Outcome, Park, Release, Retry, outcome_of
from penstock.model.payloads import ItemType
from penstock.model.rules import (
    JITTER,
    Attempt,
    Backoff,
    Rules,
    after_attempt,
    after_loss,
    cancelled,
    jittered,
)
from penstock.model.states import TRANSITIONS, State
from tests.support.jobs import an_error

NOW = 1_750_000_000.0
ERROR = an_error()
PARK_MAX = Rules().park_seconds_max

attempts = st.builds(
    Attempt,
    retry_count=st.integers(0, 10),
    max_retries=st.integers(0, 10),
    crashes=st.integers(0, 2),
    parked_since=st.none() | st.floats(NOW - 2 * PARK_MAX, NOW),
    cancel_code=st.none(),
)
outcomes: st.SearchStrategy[Outcome] = st.sampled_from(
    [DONE, RELEASE, Failed(ERROR), Retry(ERROR), Park(ERROR), Park(ERROR, 3.0), Park(ERROR, 10**9)]
)


def fresh(**known: int) -> Attempt:
    return Attempt(retry_count=known.get("retry_count", 0), max_retries=3, crashes=known.get("crashes", 0))


@pytest.mark.parametrize(("retry", "seconds"), [(1, 5), (2, 10), (3, 30), (4, 30), (100, 30)])
def test_the_default_delays_are_the_documented_ones(retry: int, seconds: float) -> None:
    """5, 10, 30 seconds, and 30 from the third retry on."""
    assert Backoff().seconds(retry) == seconds


@pytest.mark.parametrize(("retry", "seconds"), [(1, 2), (2, 4), (3, 8), (4, 16), (5, 20), (500, 20)])
def test_base_and_max_double_up_to_the_limit(retry: int, seconds: float) -> None:
    """`min(base*2^(n-1), max)`."""
    assert Backoff(base=2.0, max=20.0).seconds(retry) == seconds


@pytest.mark.parametrize("retry", [0, -1, -4, -(2**40)])
def test_a_count_others_wrote_below_nothing_waits_as_the_first_retry(retry: int) -> None:
    """A row written by hand may say so, and its worker must not stumble over it."""
    assert Backoff().seconds(retry) == Backoff().seconds(1)
    assert 0 <= Backoff(base=2.0, max=20.0).seconds(retry) <= 2.0


@given(st.floats(0.001, 1000), st.none() | st.floats(0.001, 10_000), st.integers(1, 10_000))
def test_a_grown_delay_never_falls_nor_overflows(base: float, top: float | None, retry: int) -> None:
    """Each delay is at least the one before and at most the limit, however many retries there are."""
    backoff = Backoff(base=base, max=top)

    assert backoff.seconds(retry) <= backoff.seconds(retry + 1)
    assert top is None or backoff.seconds(retry) <= top


@given(st.floats(0, 100_000), st.floats(0, 1, exclude_max=True))
def test_jitter_adds_a_tenth_at_most_and_takes_nothing(seconds: float, draw: float) -> None:
    """A delay is never shorter than promised, and never more than a tenth longer."""
    drawn = jittered(seconds, lambda: draw)

    assert seconds <= drawn <= seconds * (1 + JITTER)


@given(st.integers(0, 20))
def test_there_are_one_plus_max_retries_attempts(max_retries: int) -> None:
    """Failing again and again, a job is tried 1 + max_retries times and then fails with its own error."""
    retry_count, tried, state = 0, 0, State.READY
    while state is not State.FAILED:
        tried += 1
        attempt = Attempt(retry_count=retry_count, max_retries=max_retries)
        verdict = after_attempt(attempt, Retry(ERROR), NOW, Rules())
        retry_count, state = verdict.retry_count, verdict.state

    assert tried == 1 + max_retries
    assert verdict.error == ERROR


@given(attempts, outcomes)
def test_every_verdict_follows_the_table(attempt: Attempt, outcome: Outcome) -> None:
    """An attempt's end is a legal step from leased, and a due time belongs to a delayed job alone."""
    verdict = after_attempt(attempt, outcome, NOW, Rules())

    assert verdict.state in TRANSITIONS[State.LEASED]
    assert (verdict.due_at is not None) == (verdict.state is State.DELAYED)
    assert (verdict.error is None) == (verdict.state in {State.DONE, State.READY})
    assert attempt.retry_count <= verdict.retry_count <= attempt.retry_count + 1
    assert verdict.crashes == attempt.crashes


@given(st.integers(0, 2))
def test_a_retry_is_due_within_its_delay_and_a_tenth(retry_count: int) -> None:
    """The due time lies in [delay, 1.1 * delay] from now."""
    verdict = after_attempt(fresh(retry_count=retry_count), Retry(ERROR), NOW, Rules())
    delay = Backoff().seconds(retry_count + 1)

    assert verdict.due_at is not None
    assert delay <= verdict.due_at - NOW <= delay * 1.1 + 1e-6


@given(attempts, outcomes, st.sampled_from(["ERR_CANCELLED", "ERR_SUPERSEDED"]))
def test_a_told_attempt_ends_unless_it_was_done(attempt: Attempt, outcome: Outcome, code: str) -> None:
    """A cancelled attempt fails with its code whatever it reports, except that done stays done."""
    told = Attempt(retry_count=attempt.retry_count, max_retries=attempt.max_retries, cancel_code=code)

    verdict = after_attempt(told, outcome, NOW, Rules())

    assert verdict.state is (State.DONE if outcome == DONE else State.FAILED)
    assert verdict.error is None or verdict.error.code == code


@given(attempts, st.none() | st.floats(-10, 10**7))
def test_parking_spends_no_retry_and_never_passes_its_limit(attempt: Attempt, seconds: float | None) -> None:
    """A parked job keeps its count and the moment it was first parked, and is due before its time is up."""
    verdict = after_attempt(attempt, Park(ERROR, seconds), NOW, Rules())
    since = NOW if attempt.parked_since is None else attempt.parked_since

    assert verdict.retry_count == attempt.retry_count
    if since + PARK_MAX <= NOW:
        assert (verdict.state, verdict.error) == (State.FAILED, ERROR)
    else:
        assert verdict.due_at is not None
        assert NOW <= verdict.due_at <= since + PARK_MAX + 1e-3
        assert verdict.parked_since == since


def test_parking_honours_the_seconds_it_was_asked_for() -> None:
    """Retry-After is taken as it is, without jitter."""
    assert after_attempt(fresh(), Park(ERROR, 42.0), NOW, Rules()).due_at == NOW + 42.0


def test_a_retry_after_parking_forgets_the_parking() -> None:
    """An attempt that got as far as an error of its own has its full time to park again."""
    parked = Attempt(retry_count=0, max_retries=3, parked_since=NOW - 100)

    assert after_attempt(parked, Retry(ERROR), NOW, Rules()).parked_since is None


@given(attempts)
def test_release_changes_nothing_but_the_holder(attempt: Attempt) -> None:
    """A released job is ready with the same counts and the same time parked."""
    verdict = after_attempt(attempt, RELEASE, NOW, Rules())

    assert verdict.state is State.READY
    assert (verdict.retry_count, verdict.crashes) == (attempt.retry_count, attempt.crashes)
    assert verdict.parked_since == attempt.parked_since


def test_a_job_claimed_ahead_goes_back_free() -> None:
    """A death before the handler started spends nothing."""
    verdict = after_loss(fresh(), worker_died=True, started=False)

    assert (verdict.state, verdict.retry_count, verdict.crashes) == (State.READY, 0, 0)


def test_three_deaths_make_poison() -> None:
    """Two deaths cost a retry each; the third, while it ran alone, ends it as poison."""
    first = after_loss(fresh(), worker_died=True, started=True)
    second = after_loss(fresh(retry_count=1, crashes=1), worker_died=True, started=True)
    third = after_loss(fresh(retry_count=2, crashes=2), worker_died=True, started=True)

    assert [(v.state, v.retry_count, v.crashes) for v in (first, second)] == [
        (State.READY, 1, 1),
        (State.READY, 2, 2),
    ]
    assert third.state is State.FAILED
    assert third.error is not None
    assert (third.error.code, third.error.kind) == ("ERR_POISON", ErrorClass.CRASH)


def test_a_lease_that_ran_out_spends_a_retry_and_is_no_crash() -> None:
    """Its worker lives, so nothing speaks against the document."""
    verdict = after_loss(fresh(), worker_died=False, started=True)

    assert (verdict.state, verdict.retry_count, verdict.crashes) == (State.READY, 1, 0)
    assert verdict.error is not None
    assert verdict.error.code == "ERR_LEASE_EXPIRED"


@pytest.mark.parametrize(("died", "code"), [(True, "ERR_WORKER_DIED"), (False, "ERR_LEASE_EXPIRED")])
def test_a_loss_after_the_last_retry_ends_the_job(died: bool, code: str) -> None:
    """Deaths and run-out leases count against the same limit as errors."""
    verdict = after_loss(fresh(retry_count=3), worker_died=died, started=True)

    assert verdict.state is State.FAILED
    assert verdict.error is not None
    assert verdict.error.code == code


@pytest.mark.parametrize("started", [True, False])
@pytest.mark.parametrize("died", [True, False])
def test_a_told_job_that_is_lost_ends(died: bool, started: bool) -> None:
    """A cancelled job does not come back because its worker died first."""
    told = Attempt(retry_count=0, max_retries=3, cancel_code="ERR_CANCELLED")

    verdict = after_loss(told, worker_died=died, started=started)

    assert verdict.state is State.FAILED
    assert verdict.error == cancelled("ERR_CANCELLED")


def test_a_lease_lasts_as_its_item_type_says() -> None:
    """Five minutes by default, or what is set for the type."""
    rules = Rules(lease_seconds_by_type={ItemType.PROJECT: 3600.0})

    assert rules.lease_for(ItemType.FILE) == 300.0
    assert rules.lease_for(ItemType.PROJECT) == 3600.0


@pytest.mark.parametrize(
    ("kind", "outcome"),
    [
        (ErrorClass.PERMANENT, Failed),
        (ErrorClass.TRANSIENT, Retry),
        (ErrorClass.CRASH, Retry),
        (ErrorClass.UNAVAILABLE, Park),
    ],
)
def test_an_errors_class_says_how_the_attempt_ends(kind: ErrorClass, outcome: type[Outcome]) -> None:
    """Permanent fails, transient and crash retry, unavailable parks."""
    error = ErrorReport(code="ERR_BROKEN", message="broken", kind=kind)

    found = outcome_of(error, retry_after=7.0)

    assert isinstance(found, outcome)
    if isinstance(found, Park):
        assert found.seconds == 7.0
    assert not isinstance(found, Release)

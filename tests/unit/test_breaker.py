"""The circuit breaker: opens on the dependency's own failures, probes once, never sticks."""

import asyncio

import pytest

from penstock.model.errors import Refused, Unavailable
from penstock.work.breaker import Breaker, BreakerRules, Breakers, BreakerState
from tests.support.clock import FakeClock

RULES = BreakerRules(failure_threshold=0.5, window=60.0, cooldown_period=30.0, min_samples=4)


@pytest.fixture
def breaker(clock: FakeClock) -> Breaker:
    return Breaker("embedder", clock, RULES)


def seen(breaker: Breaker) -> BreakerState:
    """Its state now; a property's value is not the same for ever."""
    return breaker.state


def fail(breaker: Breaker) -> None:
    with pytest.raises(Unavailable, match="down"), breaker.call():
        raise Unavailable("it is down")


def succeed(breaker: Breaker) -> None:
    with breaker.call():
        pass


def opened(breaker: Breaker) -> None:
    for _ in range(RULES.min_samples):
        fail(breaker)


def test_it_opens_at_the_threshold_and_says_how_long_to_wait(breaker: Breaker, clock: FakeClock) -> None:
    """Once half of enough calls failed, calls are refused with the time left."""
    succeed(breaker)
    succeed(breaker)
    fail(breaker)
    assert seen(breaker) is BreakerState.CLOSED
    fail(breaker)
    assert seen(breaker) is BreakerState.OPEN

    clock.advance(10)
    with pytest.raises(Unavailable) as refused, breaker.call():
        pytest.fail("the call went through")

    assert refused.value.code == "ERR_BREAKER_OPEN"
    assert refused.value.retry_after == pytest.approx(20)


def test_too_few_calls_say_nothing(breaker: Breaker) -> None:
    """Under min_samples it stays closed, whatever failed."""
    for _ in range(RULES.min_samples - 1):
        fail(breaker)

    assert seen(breaker) is BreakerState.CLOSED


def test_old_failures_are_forgotten(breaker: Breaker, clock: FakeClock) -> None:
    """Results older than the window no longer count."""
    for _ in range(RULES.min_samples - 1):
        fail(breaker)
    clock.advance(RULES.window + 1)
    fail(breaker)

    assert seen(breaker) is BreakerState.CLOSED


def test_only_the_dependencys_failures_count(breaker: Breaker) -> None:
    """A bad file is not the dependency's fault."""
    for _ in range(20):
        with pytest.raises(Refused), breaker.call():
            raise Refused("a bad file")

    assert seen(breaker) is BreakerState.CLOSED


def test_a_probe_that_succeeds_closes_it(breaker: Breaker, clock: FakeClock) -> None:
    """Half-open, then closed."""
    opened(breaker)
    clock.advance(RULES.cooldown_period)
    assert seen(breaker) is BreakerState.HALF_OPEN

    succeed(breaker)

    assert seen(breaker) is BreakerState.CLOSED


def test_a_probe_that_fails_opens_it_for_another_cooldown(breaker: Breaker, clock: FakeClock) -> None:
    """Half-open, then open again from now on."""
    opened(breaker)
    clock.advance(RULES.cooldown_period)
    fail(breaker)

    assert seen(breaker) is BreakerState.OPEN
    clock.advance(RULES.cooldown_period - 1)
    assert seen(breaker) is BreakerState.OPEN


def test_one_probe_at_a_time(breaker: Breaker, clock: FakeClock) -> None:
    """While one call probes, others are refused."""
    opened(breaker)
    clock.advance(RULES.cooldown_period)

    with breaker.call(), pytest.raises(Unavailable), breaker.call():
        pytest.fail("a second probe went through")

    assert seen(breaker) is BreakerState.CLOSED


@pytest.mark.parametrize("ending", [Refused("nothing to do"), asyncio.CancelledError(), ValueError("ours")])
def test_a_probe_without_a_verdict_does_not_stick(
    breaker: Breaker, clock: FakeClock, ending: BaseException
) -> None:
    """A probe that found no work, or was cancelled, gives its place to the next."""
    opened(breaker)
    clock.advance(RULES.cooldown_period)
    with pytest.raises(type(ending)), breaker.call():
        raise ending
    assert seen(breaker) is BreakerState.HALF_OPEN

    succeed(breaker)

    assert seen(breaker) is BreakerState.CLOSED


def test_each_dependency_has_its_own(clock: FakeClock) -> None:
    """One that is down does not close the way to another."""
    breakers = Breakers(clock, RULES)
    opened(breakers.of("embedder"))
    succeed(breakers.of("vectors"))

    assert breakers.states() == {"embedder": BreakerState.OPEN, "vectors": BreakerState.CLOSED}

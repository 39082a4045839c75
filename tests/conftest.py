"""Shared servers; profiles of the property tests: small and repeatable, large when PENSTOCK_SWEEP=1 asks.

A shell that starts the tests in the background makes them ignore Ctrl-C, and every program they start
inherits that; the tests that press Ctrl-C need it back.
"""

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from penstock.engines.sqlite import connection
from tests.support.schema import copying
from tests.support.servers.fixtures import redis, redis_session
from tests.support.stalls import Machine, watched

__all__ = ["redis", "redis_session"]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

connection.migrate = copying(connection.migrate)  # type: ignore[assignment]  # another of its shape

NAMED_MAX = 60
SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile(
    "small",
    max_examples=40,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile(
    "sweep",
    max_examples=500,
    stateful_step_count=60,
    deadline=None,
    print_blob=True,
    suppress_health_check=SLOW_IS_FINE,
)
settings.load_profile("sweep" if os.environ.get("PENSTOCK_SWEEP") == "1" else "small")


@pytest.fixture
def machine() -> Iterator[Machine]:
    """What the machine takes from a test that judges a promise in seconds."""
    with watched() as machine:
        yield machine


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Long values are named by their argument: what they hold may differ from one process to the next."""
    return argname if isinstance(val, str | bytes) and len(val) > NAMED_MAX else None

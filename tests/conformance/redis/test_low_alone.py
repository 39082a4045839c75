"""Low-priority load with an empty high queue: it costs what a load of any one queue costs."""

import re

import pytest

from penstock.engines.redis.store import RedisPorts
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE
from tests.conformance.redis.foreign import QUEUE, message
from tests.support.jobs import a_job
from tests.support.servers.bare import Bare

W1 = WorkerId("w1")
JOBS, AT_ONCE = 60, 8


def calls(bare: Bare) -> dict[str, int]:
    """How often the server did each command since it last forgot, inside scripts too."""
    told = bare.call("INFO", "commandstats").decode()
    counted = {name: int(calls) for name, calls in re.findall(r"cmdstat_([^:]+):calls=(\d+)", told)}
    return {name: calls for name, calls in counted.items() if not name.startswith(("info", "config"))}


async def drained(
    ports: RedisPorts, bare: Bare, priority: int, *, foreign: bool
) -> tuple[int, dict[str, int]]:
    """How many claims a load of this priority alone takes, and all that the server does for it."""
    if foreign:
        names = {9: f"{QUEUE}:high", 5: f"{QUEUE}:normal", 1: f"{QUEUE}:low"}
        bare.call("LPUSH", names[priority], *(message(1_000 * priority + number) for number in range(JOBS)))
    else:
        await ports.queue.submit([a_job(priority=priority) for _ in range(JOBS)])
    bare.call("CONFIG", "RESETSTAT")
    claims = done = 0
    while done < JOBS:
        leases = await ports.queue.claim(W1, AT_ONCE)
        await ports.queue.settle([(lease, DONE) for lease in leases])
        claims, done = claims + 1, done + len(leases)
        assert claims <= JOBS
    return claims, calls(bare)


@pytest.mark.parametrize("foreign", [False, True], ids=["ours", "foreign"])
async def test_low_alone_takes_the_same_commands_as_high_alone(
    ports: RedisPorts, bare: Bare, foreign: bool
) -> None:
    """No look at the empty high queue that high does not pay for an empty low one, no claim for nothing."""
    await drained(ports, bare, 5, foreign=foreign)  # the server knows the scripts from now on
    high = await drained(ports, bare, 9, foreign=foreign)

    low = await drained(ports, bare, 1, foreign=foreign)

    assert low == high
    if not foreign:
        assert low[0] == -(-JOBS // AT_ONCE)
    assert not {name for name in low[1] if name.startswith(("b", "wait"))}

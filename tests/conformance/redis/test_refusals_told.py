"""Messages that became no jobs are told to whoever counts, once each, by the queue they came by."""

from collections.abc import Mapping

import pytest

from penstock.engines.redis.names import Names
from penstock.engines.redis.store import RedisPorts, ports_on
from penstock.model.errors import ErrorReport
from penstock.model.jobs import JobId, WorkerId
from penstock.model.rules import Rules
from penstock.ports.telemetry import Silent
from tests.conformance.redis.foreign import QUEUE, id_of, letters, message, translated
from tests.support.clock import FakeClock
from tests.support.servers.bare import Bare

W1, W2 = WorkerId("w1"), WorkerId("w2")


class Told(Silent):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.refusals: list[tuple[int | None, str, JobId | None]] = []

    def refused(self, rank: int | None, error: ErrorReport, job_id: JobId | None) -> None:
        self.refusals.append((rank, error.code, job_id))


class Nobody:
    """A book in which nothing stands."""

    async def lengths(self) -> Mapping[str, int]:
        return {}

    async def produced(self) -> Mapping[str, int]:
        return {}


NOBODY = Nobody()


@pytest.fixture
def told(ports: RedisPorts) -> Told:
    ports.access.telemetry = heard = Told()
    return heard


async def test_every_dead_letter_is_told_with_its_code_and_queue(
    ports: RedisPorts, bare: Bare, told: Told
) -> None:
    """What cannot be read, what has another job's id, what is too large; but no message that is taken."""
    bare.call("LPUSH", f"{QUEUE}:high", b"{torn")
    bare.call("LPUSH", QUEUE, message(1), message(2, source_path=7))
    bare.call("LPUSH", f"{QUEUE}:low", b"x" * (9 << 20))
    taken = await ports.queue.claim(W1, 10)
    bare.call("LPUSH", QUEUE, message(1, source_path="/another.pdf"))
    await ports.queue.claim(W1, 10)
    await ports.queue.claim(W1, 10)

    assert [lease.job_id for lease in taken] == [id_of(1)]
    assert sorted(told.refusals, key=str) == sorted(
        [
            (9, "ERR_MESSAGE_INVALID", None),
            (5, "ERR_MESSAGE_INVALID", id_of(2)),
            (1, "ERR_PAYLOAD_TOO_LARGE", None),
            (5, "ERR_JOB_ID_TAKEN", id_of(1)),
        ],
        key=str,
    )
    assert {letter["code"] for letter in letters(bare)} == {code for _, code, _ in told.refusals}
    assert len(letters(bare)) == len(told.refusals)


async def test_a_list_nobody_here_configured_is_another_queue(
    ports: RedisPorts, bare: Bare, names: Names, clock: FakeClock
) -> None:
    """A process without the collection takes over what one with it had begun to read.

    What it refuses, torn or too large, and what waits there have the queue `other`.
    """
    elsewhere = ports_on(
        ports.client,
        names=Names(home=names.home),
        rules=Rules(longest_waiting_every=0),
        clock=clock,
        translate=translated,
    )
    elsewhere.access.telemetry = heard = Told()
    watched = f"{QUEUE}:policies_rag"
    bare.call("LPUSH", watched, message(1), b"{torn", b"x" * (9 << 20), message(2), message(3))
    assert [lease.job_id for lease in await ports.queue.claim(W1, 1)] == [id_of(1)]

    assert await ports.meter(NOBODY).lengths() == {"normal": 4}
    assert await elsewhere.meter(NOBODY).lengths() == {"other": 4}
    assert [lease.job_id for lease in await elsewhere.queue.claim(W2, 10)] == [id_of(2), id_of(3)]
    assert heard.refusals == [
        (None, "ERR_PAYLOAD_TOO_LARGE", None),
        (None, "ERR_MESSAGE_INVALID", None),
    ]

"""Messages that became no jobs are told to whoever counts, once each, by the queue they came by."""

import pytest

from penstock.engines.redis.store import RedisPorts
from penstock.model.errors import ErrorReport
from penstock.model.jobs import JobId, WorkerId
from penstock.ports.telemetry import Silent
from tests.conformance.redis.foreign import QUEUE, id_of, letters, message
from tests.support.servers.bare import Bare

W1 = WorkerId("w1")


class Told(Silent):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.refusals: list[tuple[int, str, JobId | None]] = []

    def refused(self, rank: int, error: ErrorReport, job_id: JobId | None) -> None:
        self.refusals.append((rank, error.code, job_id))


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

"""What one job may weigh on Redis: nothing that was accepted stops the fetching of what waits behind it."""

from pathlib import Path

import pytest

from penstock.engines.redis.bounds import METADATA_BYTES_MAX, PAYLOAD_BYTES_MAX
from penstock.model.errors import Refused
from penstock.model.jobs import JobId, WorkerId
from penstock.model.outcomes import DONE
from penstock.settings import RedisServer
from penstock.wiring.store import Store
from tests.support.jobs import a_note
from tests.support.redis_program import RedisProgram

ROOM = 256
"""Bytes of a payload beside its text."""
WIDE = {"payload_bytes": "16MiB", "metadata_bytes": "4MiB"}


@pytest.mark.timeout(120)
def test_what_is_accepted_can_be_fetched_and_what_cannot_is_refused(
    tmp_path: Path, redis: RedisServer
) -> None:
    """At the largest `limits`: a larger job is refused at its submit, the largest ones are worked."""
    patient = {"read_timeout": "60s", "write_timeout": "60s"}
    yard = RedisProgram(tmp_path, redis, limits=WIDE, redis=patient)

    async def work(store: Store) -> tuple[list[str], list[JobId]]:
        refused = []
        for payload, metadata in ((PAYLOAD_BYTES_MAX + 1, 0), (1, METADATA_BYTES_MAX + 1)):
            note = a_note("x" * payload, tenant="local", metadata={"m": "x" * metadata})
            with pytest.raises(Refused) as found:
                await store.queue.submit([note])
            refused.append(found.value.code)
        for letter in "abc":
            text, told = (
                letter * (PAYLOAD_BYTES_MAX - ROOM),
                {letter: '"' * ((METADATA_BYTES_MAX - ROOM) // 2)},
            )
            await store.queue.submit([a_note(text, tenant="local", metadata=told, priority=9)])
        await store.queue.submit([a_note("small", tenant="local")])
        done: list[JobId] = []
        while leases := await store.queue.claim(WorkerId("w"), 10):
            await store.queue.settle([(lease, DONE) for lease in leases])
            done += [lease.job_id for lease in leases]
        return refused, done

    refused, done = yard.in_store(work)
    yard.bare.close()

    assert refused == ["ERR_PAYLOAD_TOO_LARGE", "ERR_METADATA_TOO_LARGE"]
    assert len(done) == 4

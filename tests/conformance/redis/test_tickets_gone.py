"""Tickets another program took out of our lists, or deleted with them: their jobs still get their turn."""

from collections.abc import Sequence

import pytest

from penstock.engines.redis import comparing
from penstock.engines.redis.comparing import Comparing
from penstock.engines.redis.store import RedisPorts
from penstock.model.jobs import JobId, NewJob, WorkerId
from penstock.model.outcomes import DONE
from tests.conformance.redis.foreign import QUEUE, id_of, message
from tests.conformance.redis.test_reaper import swept
from tests.support.jobs import a_job
from tests.support.servers.bare import Bare

W1, W2 = WorkerId("w1"), WorkerId("w2")
NORMAL = f"{QUEUE}:normal"
ALIEN = "jobqueue:worker:alien:processing"


def ids_of(jobs: Sequence[NewJob]) -> list[JobId]:
    return [job.id for job in jobs]


async def worked(ports: RedisPorts) -> list[str]:
    """Everything that may run, to its end."""
    done: list[str] = []
    while leases := await ports.queue.claim(W1, 2):
        done += [lease.job_id for lease in leases]
        assert all(await ports.queue.settle([(lease, DONE) for lease in leases]))
    return done


async def test_a_ticket_a_foreign_worker_took_goes_back_to_its_place(ports: RedisPorts, bare: Bare) -> None:
    """RPOPLPUSH into a list of its own, and it is gone: the job is the next one again."""
    jobs = [a_job() for _ in range(3)]
    await ports.queue.submit(jobs)
    for _ in range(2):
        bare.call("RPOPLPUSH", NORMAL, ALIEN)

    assert await swept(ports.reaper()) == 2

    assert await worked(ports) == ids_of(jobs)
    assert bare.call("EXISTS", ALIEN) == 0


async def test_a_foreign_message_a_foreign_worker_took_once_it_was_ours_goes_back(
    ports: RedisPorts, bare: Bare
) -> None:
    """Its bytes are in its list again, and it runs once."""
    bare.call("LPUSH", QUEUE, message())
    await ports.queue.claim(W1, 1)
    await ports.queue.leave(W1)
    bare.call("RPOPLPUSH", QUEUE, ALIEN)

    assert await swept(ports.reaper()) == 1

    assert bare.call("LRANGE", QUEUE, 0, -1) == [message()]
    assert await worked(ports) == [id_of()]


async def test_a_ticket_of_a_job_that_runs_or_ended_goes_nowhere(ports: RedisPorts, bare: Bare) -> None:
    """A copy in a foreign list makes no second run."""
    jobs = [a_job(), a_job()]
    await ports.queue.submit(jobs)
    copies = bare.call("LRANGE", NORMAL, 0, -1)
    leases = await ports.queue.claim(W1, 2)
    await ports.queue.beat(W1, concurrency=2)
    await ports.queue.settle([(leases[0], DONE)])
    bare.call("LPUSH", ALIEN, *copies)

    assert await swept(ports.reaper()) == 0

    assert bare.call("EXISTS", ALIEN, NORMAL) == 0


@pytest.mark.parametrize("page", [1, 2, 100])
async def test_jobs_of_a_deleted_list_get_their_tickets_back(
    ports: RedisPorts, bare: Bare, page: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DEL of a list that jobs wait in: whoever compares the book puts all of them back, in their order."""
    monkeypatch.setattr(comparing, "PAGE", page)
    jobs, high = [a_job() for _ in range(5)], [a_job(priority=9)]
    await ports.queue.submit(jobs + high)
    bare.call("LPUSH", QUEUE, message())
    leases = await ports.queue.claim(W2, 2)
    await ports.queue.leave(W2)
    bare.call("DEL", NORMAL)
    book = Comparing(ports.access)

    for each in [*jobs, *high]:
        assert await book.unheld([each.id]) == set()

    assert len(leases) == 2
    assert bare.call("LLEN", NORMAL) == 5
    assert sorted(await worked(ports)) == sorted([*ids_of(high), *ids_of(jobs), id_of()])
    counts = await ports.desk.counts()
    assert (counts.ready, counts.leased) == (0, 0)


async def test_where_nothing_is_missing_no_list_is_read(ports: RedisPorts, bare: Bare) -> None:
    """The usual comparison costs one script a page."""
    jobs = [a_job() for _ in range(5)]
    await ports.queue.submit(jobs)
    await ports.desk.cancel([jobs[2].id])
    bare.call("CONFIG", "RESETSTAT")

    assert await Comparing(ports.access).unheld(ids_of(jobs)) == {jobs[2].id}

    assert "cmdstat_lrange" not in bare.call("INFO", "commandstats").decode()
    assert await worked(ports) == [job.id for job in jobs if job is not jobs[2]]

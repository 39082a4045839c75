"""Rows deleted by hand or evicted, tickets and letters of nobody's make: the queue goes on."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from penstock.engines.redis.comparing import Comparing
from penstock.engines.redis.store import RedisPorts
from penstock.model.jobs import Accepted, NewJob, WorkerId
from penstock.model.outcomes import DONE
from penstock.model.standing import PauseScope
from penstock.model.states import State
from penstock.ports.desk import Wanted
from tests.conformance.redis.foreign import DEAD_LETTER, QUEUE, id_of, message
from tests.support.clock import FakeClock
from tests.support.jobs import a_delete, a_document_delete, a_job, a_tenant_delete
from tests.support.servers.bare import Bare

W1, W2 = WorkerId("w1"), WorkerId("w2")
LEASE = 300.0
Scene = Callable[[RedisPorts, FakeClock, list[NewJob]], Awaitable[None]]


async def ready(ports: RedisPorts, clock: FakeClock, jobs: list[NewJob]) -> None:
    await ports.queue.submit(jobs)


async def returned(ports: RedisPorts, clock: FakeClock, jobs: list[NewJob]) -> None:
    await ports.queue.submit(jobs)
    assert len(await ports.queue.claim(W1, 10)) == len(jobs)
    assert await ports.queue.leave(W1) == len(jobs)


async def delayed(ports: RedisPorts, clock: FakeClock, jobs: list[NewJob]) -> None:
    await ports.queue.submit([replace(job, run_at=clock.now() + 5) for job in jobs])


async def aside(ports: RedisPorts, clock: FakeClock, jobs: list[NewJob]) -> None:
    await ports.queue.submit(jobs)
    await ports.desk.pause(PauseScope.COLLECTION, "notes")
    assert await ports.queue.claim(W1, 10) == []


async def suspect(ports: RedisPorts, clock: FakeClock, jobs: list[NewJob]) -> None:
    await ports.queue.submit(jobs)
    for _ in range(2):
        await ports.queue.claim(W1, 10)
        await ports.queue.leave(W1, died=True)
    assert await ports.desk.suspects() == 1


async def leased(ports: RedisPorts, clock: FakeClock, jobs: list[NewJob]) -> None:
    await ports.queue.submit(jobs)
    assert len(await ports.queue.claim(W1, 10)) == len(jobs)


PLACES: list[Scene] = [returned, delayed, aside, suspect, leased]
GONE = [("task",), ("task", "entry"), ("entry",)]
CASES = [
    pytest.param(place, kinds, id=f"{place.__name__}-{'+'.join(kinds)}") for place in PLACES for kinds in GONE
]
# Nothing has happened to it yet, so it has no row.
CASES.append(pytest.param(ready, ("entry",), id="ready-entry"))


async def go_on(ports: RedisPorts, clock: FakeClock) -> list[str]:
    """What every worker does in turn, until nothing is left to run; which jobs were done."""
    done: list[str] = []
    for _ in range(6):
        clock.advance(LEASE)
        await ports.desk.suspects()
        await ports.desk.jobs(Wanted())
        await ports.queue.promote()
        await ports.queue.rescue()
        while leases := await ports.queue.claim(W2, 10):
            assert await ports.queue.settle([(lease, DONE) for lease in leases]) == [True] * len(leases)
            done += [lease.job_id for lease in leases]
    return done


def delete(bare: Bare, job: NewJob, kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        assert bare.call("DEL", f"rag:ingest:{kind}:{job.id}") == 1


@pytest.mark.parametrize(("place", "kinds"), CASES)
async def test_a_job_without_a_row_is_passed_over_and_can_be_told_again(
    ports: RedisPorts, bare: Bare, clock: FakeClock, place: Scene, kinds: tuple[str, ...]
) -> None:
    """The others run; the book tells it again and it runs; nothing is left of either life."""
    jobs = [a_job() for _ in range(3)]
    await place(ports, clock, jobs)
    delete(bare, jobs[1], kinds)

    assert {job.id for job in await ports.desk.jobs(Wanted())} == {jobs[0].id, jobs[2].id}
    await ports.desk.suspects()
    assert await Comparing(ports.access).unheld([job.id for job in jobs]) == {jobs[1].id}
    assert [receipt.how for receipt in await ports.queue.submit([jobs[1]])] == [Accepted.CREATED]
    await ports.desk.resume(PauseScope.COLLECTION, "notes")

    assert sorted(await go_on(ports, clock)) == sorted(job.id for job in jobs)
    counts = await ports.desk.counts()
    assert (counts.ready, counts.delayed, counts.waiting, counts.paused) == (0, 0, 0, 0)
    assert (counts.suspects, counts.leased, counts.done) == (0, 0, 3)
    assert (
        bare.call("EXISTS", *(f"rag:ingest:{name}" for name in ("waiting", "running", "due", "stale"))) == 0
    )
    assert bare.call("EXISTS", "rag:ingest:subjects:acme", "rag:ingest:beyond:acme") == 0


@pytest.mark.parametrize(("place", "kinds"), CASES)
async def test_a_job_without_a_row_holds_nobody_up(
    ports: RedisPorts, bare: Bare, clock: FakeClock, place: Scene, kinds: tuple[str, ...]
) -> None:
    """Every verb passes it over; a file's message that still lies in its list is taken anew."""
    jobs = [a_job() for _ in range(3)]
    await place(ports, clock, jobs)
    delete(bare, jobs[1], kinds)
    await ports.desk.resume(PauseScope.COLLECTION, "notes")

    ran = await go_on(ports, clock)

    again = [jobs[1].id] if place in (ready, returned) else []
    assert sorted(ran) == sorted([jobs[0].id, *again, jobs[2].id])
    counts = await ports.desk.counts()
    assert (counts.ready, counts.delayed, counts.waiting, counts.paused) == (0, 0, 0, 0)
    assert (counts.suspects, counts.leased, counts.done) == (0, 0, 2 + len(again))


@pytest.mark.parametrize("kinds", GONE, ids="+".join)
async def test_a_line_goes_on_past_rows_that_are_gone(
    ports: RedisPorts, bare: Bare, clock: FakeClock, kinds: tuple[str, ...]
) -> None:
    """The first's, and that of one behind it: who is left of the subject runs, in order."""
    jobs = [a_job(document_id="d1") for _ in range(5)]
    await ports.queue.submit(jobs)
    for gone in (0, 1, 3):
        delete(bare, jobs[gone], kinds)
    later = a_job(document_id="d1")
    await ports.queue.submit([later])

    ran = await go_on(ports, clock)

    assert [job_id for job_id in ran if job_id != jobs[0].id] == [jobs[2].id, jobs[4].id, later.id]
    assert (await ports.desk.counts()).waiting == 0
    assert bare.call("EXISTS", "rag:ingest:subjects:acme", "rag:ingest:beyond:acme") == 0


async def test_an_end_goes_on_past_the_row_behind_it(ports: RedisPorts, bare: Bare, clock: FakeClock) -> None:
    """The worker's own settle meets it."""
    jobs = [a_job(document_id="d1") for _ in range(3)]
    await ports.queue.submit(jobs)
    (lease,) = await ports.queue.claim(W1, 1)
    delete(bare, jobs[1], ("task",))

    assert await ports.queue.settle([(lease, DONE)]) == [True]

    assert [lease.job_id for lease in await ports.queue.claim(W1, 10)] == [jobs[2].id]
    assert (await ports.desk.counts()).waiting == 0


@pytest.mark.parametrize("kinds", GONE, ids="+".join)
async def test_a_delete_reaches_past_rows_that_are_gone(
    ports: RedisPorts, bare: Bare, clock: FakeClock, kinds: tuple[str, ...]
) -> None:
    """A document's delete and a tenant's run though a job before them has no row."""
    jobs = [a_job("/a.md"), a_job("/b.md")]
    await returned(ports, clock, jobs)
    for job in jobs:
        delete(bare, job, kinds)
    deletes = [a_delete("/a.md"), a_tenant_delete()]
    await ports.queue.submit(deletes[:1])
    await ports.queue.submit(deletes[1:])

    ran = await go_on(ports, clock)

    assert deletes[1].id in ran
    assert (await ports.desk.counts()).ready == 0
    assert bare.call("EXISTS", "rag:ingest:closed") == 0


@pytest.mark.parametrize("kinds", GONE, ids="+".join)
async def test_a_job_that_was_called_off_stays_so_without_its_row(
    ports: RedisPorts, bare: Bare, clock: FakeClock, kinds: tuple[str, ...]
) -> None:
    """Its ticket lies in its list and is no job's: those behind it run, and a lost ticket is noticed."""
    cancelled, deleted, other = a_job(), a_job("/x.md"), a_job()
    for job in (cancelled, deleted, other):
        await ports.queue.submit([job])
    await ports.desk.cancel([cancelled.id])
    await ports.queue.submit([a_document_delete("/x.md")])
    for job in (cancelled, deleted):
        bare.call("DEL", *(f"rag:ingest:{kind}:{job.id}" for kind in kinds))

    ran = await go_on(ports, clock)

    assert other.id in ran
    assert ("entry" in kinds) or not {cancelled.id, deleted.id} & set(ran)
    assert (await ports.desk.counts()).ready == 0
    await ports.queue.submit([later := a_job()])
    bare.call("DEL", f"{QUEUE}:normal")
    await Comparing(ports.access).unheld([later.id])
    assert [lease.job_id for lease in await ports.queue.claim(W1, 5)] == [later.id]


@pytest.mark.parametrize("kinds", [("entry",), ("task", "entry")], ids="+".join)
@pytest.mark.parametrize("document", [None, "d1"])
async def test_a_tenant_is_deleted_though_an_entry_was_lost(
    ports: RedisPorts, bare: Bare, clock: FakeClock, document: str | None, kinds: tuple[str, ...]
) -> None:
    """Its message runs, maybe as another subject's; whoever stood behind it goes on, and nothing is owed."""
    lost, *others = [a_job(document_id=document) for _ in range(3)]
    for job in (lost, *others):
        await ports.queue.submit([job])
    bare.call("DEL", *(f"rag:ingest:{kind}:{lost.id}" for kind in kinds))

    ran = await go_on(ports, clock)
    later = a_job(document_id=document)
    await ports.queue.submit([later])
    ran += await go_on(ports, clock)
    deletion = a_tenant_delete()
    await ports.queue.submit([deletion])

    assert later.id in ran
    assert deletion.id in await go_on(ports, clock)
    assert bare.call("EXISTS", "rag:ingest:subjects:acme", "rag:ingest:beyond:acme") == 0


async def test_a_claim_asked_again_finds_what_it_got_though_its_list_is_gone(
    ports: RedisPorts, bare: Bare, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reply was lost, and somebody deleted the list of what the worker holds."""
    jobs = [a_job() for _ in range(3)]
    await ports.queue.submit(jobs)
    monkeypatch.setattr(ports.queue, "_unanswered", {W1: "the request"})
    assert len(await ports.queue.claim(W1, 3)) == 3
    bare.call("DEL", "jobqueue:worker:w1:processing")
    monkeypatch.setattr(ports.queue, "_unanswered", {W1: "the request"})

    again = await ports.queue.claim(W1, 3)

    assert sorted(lease.job_id for lease in again) == sorted(job.id for job in jobs)


async def test_a_deletion_without_a_row_frees_its_tenant(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """What comes after it runs."""
    deletion, job = a_tenant_delete(), a_job()
    await ports.queue.submit([deletion])
    await ports.queue.submit([job])
    delete(bare, deletion, ("task",))

    assert job.id in await go_on(ports, clock)
    assert bare.call("EXISTS", "rag:ingest:closed") == 0


async def test_a_copy_of_a_ticket_is_not_counted(ports: RedisPorts, bare: Bare, clock: FakeClock) -> None:
    """Copies in its list and in another leave the counts as they are; a cancelled job's ticket does not."""
    jobs = [a_job(), a_job()]
    await ports.queue.submit(jobs)
    for ticket in bare.call("LRANGE", f"{QUEUE}:normal", 0, -1):
        bare.call("LPUSH", f"{QUEUE}:normal", ticket)
        bare.call("LPUSH", f"{QUEUE}:high", ticket)

    assert len(await ports.queue.claim(W1, 10)) == 2
    assert await ports.queue.claim(W1, 10) == []

    job = a_job()
    await ports.queue.submit([job])
    await ports.desk.cancel([job.id])
    await ports.queue.submit([a_job()])
    counts = await ports.desk.counts()
    assert (counts.ready, counts.unread) == (1, 0)
    assert len(await ports.queue.claim(W1, 10)) == 1
    assert int(bare.call("HGET", "rag:ingest:counts", "stale") or 0) == 0


async def test_a_ticket_of_a_job_long_gone_is_a_message(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """Who puts one of the completed list back after a prune asks for its file again.

    That of a cancelled job, which still lies in its list, asks for nothing.
    """
    done, cancelled = a_job("/a.md"), a_job("/b.md")
    await ports.queue.submit([done])
    (lease,) = await ports.queue.claim(W1, 1)
    await ports.queue.settle([(lease, DONE)])
    await ports.queue.submit([cancelled])
    await ports.desk.cancel([cancelled.id])
    clock.advance(60)
    assert await ports.queue.prune(done_before=clock.now(), failed_before=clock.now()) == 2

    bare.call("LPUSH", QUEUE, bare.call("LINDEX", "rag:ingest:completed", 0))

    assert [lease.job_id for lease in await ports.queue.claim(W1, 10)] == [done.id]
    assert bare.call("EXISTS", "rag:ingest:stale", f"{QUEUE}:normal") == 0


async def test_a_foreign_message_whose_row_is_gone_is_taken_anew(ports: RedisPorts, bare: Bare) -> None:
    """Its bytes lie in its list, as they came."""
    bare.call("LPUSH", QUEUE, message())
    await ports.queue.claim(W1, 1)
    await ports.queue.leave(W1)
    assert bare.call("LLEN", QUEUE) == 1
    bare.call("DEL", f"rag:ingest:task:{id_of()}", f"rag:ingest:entry:{id_of()}")

    assert [lease.job_id for lease in await ports.queue.claim(W2, 1)] == [id_of()]


async def test_letters_that_say_no_time_do_not_keep_others(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """They go with the next younger one that says; those beside no older one stay."""
    dated = [json.dumps({"message": "m", "failed_at": f"2020-01-0{day}T00:00:00.000Z"}) for day in (1, 2)]
    young = json.dumps({"message": "m", "failed_at": "2029-01-01T00:00:00.000Z"})
    undated = [b"torn", b'{"message":"x"}', b'{"message":"y","failed_at":"yesterday"}', b"late"]
    for letter in (undated[0], dated[0], undated[1], undated[2], dated[1], undated[3], young):
        bare.call("LPUSH", DEAD_LETTER, letter)

    await ports.queue.prune(done_before=0.0, failed_before=clock.now())

    assert bare.call("LRANGE", DEAD_LETTER, 0, -1) == [young.encode(), undated[3]]


async def test_a_letter_of_anybodys_make_takes_no_key_with_it(ports: RedisPorts, bare: Bare) -> None:
    """Only a message we put away ourselves is looked for under the key a letter names."""
    job = a_job()
    await ports.queue.submit([job])
    theirs = ["somebody:else", f"rag:ingest:entry:{job.id}"]
    bare.call("SET", theirs[0], "a secret")
    for key in theirs:
        letter = json.dumps({"message": "{}", "message_key": key, "failed_at": "2025-01-01T00:00:00Z"})
        bare.call("LPUSH", DEAD_LETTER, letter)

    mailbox = ports.mailbox()
    sent = [await mailbox.send_back(letter) async for letter in mailbox.walk()]

    assert sent == [True, True]
    assert bare.call("LRANGE", QUEUE, 0, -1) == [b"{}", b"{}"]
    assert bare.call("EXISTS", *theirs) == 2


async def test_a_job_submitted_anew_is_not_pruned_for_its_last_life(
    ports: RedisPorts, bare: Bare, clock: FakeClock
) -> None:
    """Its ended row was deleted by hand, and its id used again."""
    jobs = [a_job() for _ in range(5)]
    await ports.queue.submit(jobs)
    leases = await ports.queue.claim(W1, 10)
    await ports.queue.settle([(lease, DONE) for lease in leases])
    delete(bare, jobs[0], ("task", "entry"))
    await ports.queue.submit([jobs[0]])
    clock.advance(60)

    await ports.queue.prune(done_before=clock.now(), failed_before=clock.now())

    kept = await ports.desk.find(jobs[0].id)
    assert kept is not None
    assert kept.state is State.READY

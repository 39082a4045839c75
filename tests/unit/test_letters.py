"""Letters where every failed job is one: replayed once, however many ask for it."""

import asyncio
from pathlib import Path

from penstock.engines.sqlite import open_sqlite
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import DONE, Failed
from penstock.model.rules import Rules
from penstock.ports.desk import Wanted
from penstock.work.letters import JobLetters
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, an_error

W1 = WorkerId("w1")


async def test_two_replays_at_once_run_a_job_once(tmp_path: Path) -> None:
    """Also where the first was claimed before the second came, and by another process."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock())
    job = a_job()
    await store.queue.submit([job])
    await store.queue.settle([(lease, Failed(an_error())) for lease in await store.queue.claim(W1, 1)])
    offices = [JobLetters(store.queue, store.desk) for _ in range(3)]
    (letter,) = [letter async for letter in offices[0].walk()]

    made = await asyncio.gather(*(office.replay(letter) for office in offices[:2]))
    running = await store.queue.claim(W1, 10)
    made.append(await offices[2].replay(letter))
    await store.queue.settle([(lease, DONE) for lease in running])
    made.append(await offices[2].replay(letter))
    left = await store.queue.claim(W1, 10)
    jobs = await store.desk.jobs(Wanted())
    await store.close()

    at_once, later = made[:2], made[2:]
    # Either of the two may have been the first to reach the writer.
    assert sorted(each.how for each in at_once) == ["before", "created"]
    assert [each.how for each in later] == ["before", "before"]
    assert len({each.new for each in made}) == len(running) == 1
    assert left == []
    assert [each.replay_of for each in jobs] == [job.id, None]

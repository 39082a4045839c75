"""The rescuer of a store whose workers' processes can be looked at."""

from pathlib import Path

from penstock.engines.sqlite import open_sqlite
from penstock.model.jobs import WorkerId
from penstock.model.rules import Rules
from tests.support.clock import FakeClock
from tests.support.jobs import a_job


async def test_a_process_that_is_gone_is_taken_from_at_once(tmp_path: Path) -> None:
    """Certain rounds rescue from a worker whose process no longer exists, and from nobody else."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock())
    try:
        gone, here = WorkerId("gone"), WorkerId("here")
        await store.queue.submit([a_job(), a_job()])
        for worker in (gone, here):
            await store.queue.beat(worker, concurrency=1)
            await store.queue.claim(worker, 1)
        other_boot = "UPDATE queue_workers SET process = 'earlier-boot:1:1:1' WHERE worker_id = 'gone'"
        await store.change(lambda db: db.execute(other_boot).rowcount)

        rescued = await store.queue.rescue(certain=True)

        assert len(rescued) == 1
        running = {worker.id: worker.running for worker in await store.desk.workers()}
        assert running == {gone: 0, here: 1}
    finally:
        await store.close()

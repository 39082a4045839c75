"""What an engine outside is told at once: many small jobs, few large ones."""

from pathlib import Path

from penstock.engines.sqlite import open_sqlite
from penstock.model.rules import Rules
from tests.support.clock import FakeClock
from tests.support.jobs import a_job, a_note


async def test_large_jobs_are_told_in_small_company(tmp_path: Path) -> None:
    """An engine that cannot take all of them in before its deadline would never hear of any."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=FakeClock(), booked=True)
    large = [a_note(f"{number} {'x' * 900_000}") for number in range(12)]
    await store.ledger.submit(large + [a_job() for _ in range(40)])

    portions = []
    while messages := await store.ledger.messages():
        portions.append([message.job.id for message in messages])
        await store.ledger.sent(messages)
    await store.close()

    assert [len(portion) for portion in portions] == [5, 5, 42]
    assert [job for portion in portions for job in portion][:12] == [job.id for job in large]

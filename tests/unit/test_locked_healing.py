"""A stranger holds the database's lock: answers and uploads nobody could renew meanwhile are not given up."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

from penstock.engines.sqlite import open_sqlite
from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.model.conversations import HOLD_SECONDS, Posted, Standing
from penstock.model.rules import Rules
from penstock.model.uploads import UploadId
from penstock.ports.database import Transaction
from tests.support.clock import FakeClock

OWNER = "one"


def begin(tx: Transaction) -> tuple[Posted, UploadId]:
    """An answer that is being written, and a file that is being sent."""
    talk = tx.conversations.open(LOCAL_WORKSPACE)
    both = tx.conversations.post(LOCAL_WORKSPACE, talk.id, "What does a key cost?", owner=OWNER)
    tx.conversations.take(both.answer.id, OWNER)
    return both, tx.uploads.begin(LOCAL_WORKSPACE, name="a.pdf", total=100)


async def test_who_waited_for_the_lock_interrupts_nobody_who_waited_too(tmp_path: Path) -> None:
    """Healers and owners come to their turns in any order, and a renewal counts from its own."""
    clock = FakeClock()
    store = await open_sqlite(tmp_path, rules=Rules(), clock=clock)
    try:
        both, upload = await store.write(begin)
        clock.advance(HOLD_SECONDS + 1)
        with closing(sqlite3.connect(tmp_path / "penstock.db", isolation_level=None)) as stranger:
            stranger.execute("BEGIN IMMEDIATE")
            healing = [
                asyncio.create_task(store.transcript.heal()),
                asyncio.create_task(store.reception.heal()),
            ]
            await asyncio.sleep(0.2)
            answers = asyncio.create_task(store.transcript.renew(OWNER, {both.answer.id: "Forty"}))
            uploads = asyncio.create_task(store.reception.renew({upload: 60}))
            await asyncio.sleep(0.2)
            clock.advance(HOLD_SECONDS + 1)
            stranger.execute("ROLLBACK")

        assert await asyncio.gather(*healing) == [[], []]
        assert await answers == {both.answer.id: Standing.HELD}
        await uploads
        assert await store.transcript.heal() == []
        assert await store.reception.heal() == []
        clock.advance(HOLD_SECONDS + 1)
        assert await store.transcript.heal() == [both.answer.id]
        assert await store.reception.heal() == [upload]
    finally:
        await store.close()

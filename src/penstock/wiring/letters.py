"""The dead letters of the queue the settings name."""

from __future__ import annotations

from penstock.ports.letters import Letters
from penstock.settings import Settings
from penstock.wiring.store import Store
from penstock.work.letters import JobLetters


def letters_of(settings: Settings, store: Store) -> Letters:
    """Failed jobs where the queue is the database, else the letters in its lists."""
    if settings.queue.scheme != "database":
        from penstock.wiring.booked import BookedStore
        from penstock.work.booked_letters import BookedLetters

        if isinstance(store, BookedStore):
            return BookedLetters(store.engine.mailbox(), store.queue, store.desk, store.engine.desk)
    return JobLetters(store.queue, store.desk)

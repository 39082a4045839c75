"""Ids: made by whoever submits, so that a lost reply never makes two of anything."""

from __future__ import annotations

import os
import secrets
import socket
import time
import uuid

AGAIN = ":again:"
"""In ids of jobs that an engine is told of once more: what stands before it is the job's own id."""
_VARIANT = {digit: "89ab"[int(digit, 16) & 3] for digit in "0123456789abcdef"}
"""Two bits of such a digit are drawn, two say what the id is."""


DRAWN_BYTES = 10
DRAWN_AT_ONCE = 64
_drawn: list[str] = []
"""For the next ids: asking the system for each takes as long as making one."""
# A child of ours would make the same ids otherwise.
os.register_at_fork(after_in_child=_drawn.clear)


def _draw() -> str:
    while True:
        try:
            return _drawn.pop()
        except IndexError:  # another thread may have taken the last one
            text, step = os.urandom(DRAWN_BYTES * DRAWN_AT_ONCE).hex(), 2 * DRAWN_BYTES
            _drawn.extend(text[at : at + step] for at in range(0, len(text), step))


def new_job_id(now: float | None = None) -> str:
    """A UUID of version 7: unique, and later ids sort after earlier ones (neighbours on disk)."""
    millis = int((time.time() if now is None else now) * 1000)
    # As texts: reckoning with numbers of 128 bits takes twice as long.
    made, drawn = f"{millis & (1 << 48) - 1:012x}", _draw()
    return f"{made[:8]}-{made[8:]}-7{drawn[:3]}-{_VARIANT[drawn[3]]}{drawn[4:7]}-{drawn[7:19]}"


def child_id(parent: str, name: str) -> str:
    """The id of a job that another one makes: the same again when that one runs again."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{parent}:{name}"))


def documented_ids(rag_id: str, now: float, count: int) -> list[str]:
    """Ids of the form the queue's page documents, `rag-<rag_id>-<timestamp>-<random>`; no two are alike.

    Eight digits are few for a whole second of everybody: who draws one that is taken draws again.
    """
    tails: set[str] = set()
    while len(tails) < count:
        tails.add(secrets.token_hex(4))
    return [f"rag-{rag_id}-{int(now)}-{tail}" for tail in tails]


def new_worker_id() -> str:
    """Host, process and a random tail: new at every start, readable in `queue status`."""
    host = "".join(c if c.isalnum() or c in "-." else "-" for c in socket.gethostname())[:40]
    return f"{host or 'host'}-{os.getpid()}-{secrets.token_hex(4)}"

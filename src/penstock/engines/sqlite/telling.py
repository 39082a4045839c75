"""Events of what holds documents and messages: a thing that is there, its other name, that it is gone."""

from __future__ import annotations

import sqlite3

from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.catalogue import WorkspaceId
from penstock.model.events import Event
from penstock.ports.codec import encode_event


def tell(db: sqlite3.Connection, now: float, workspace: WorkspaceId, event: Event) -> None:
    """Log an event for the owner of a workspace, unless that is removed."""
    row = {"workspace": workspace, "ts": iso(now), "type": event.type, "payload": encode_event(event)}
    db.execute(sql("event_tell"), row)

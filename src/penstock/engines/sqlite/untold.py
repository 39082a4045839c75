"""Events of workspaces that are removed: told by their numbers and ids, without their words.

A worker takes what was said there out of the log in portions, and until it has come that far, or where none
runs, the log still holds it. So whoever reads the log on for a user asks first whether he has removed any.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import msgspec

from penstock.engines.sqlite.statements import sql
from penstock.model.events import LoggedEvent, without_words
from penstock.model.feed import Page

_json = msgspec.json.Encoder()


class _Where(msgspec.Struct):
    workspace_id: str = ""


def untold(db: sqlite3.Connection, pages: list[Page]) -> list[Page]:
    """The same pages without the words of what is removed."""
    if not pages:
        return pages
    asked = {"users": _array([page.user for page in pages])}
    removers = {user for (user,) in db.execute(sql("feed_removers"), asked)}
    if not removers:
        return pages
    where = {event: _workspace_of(event) for page in pages if page.user in removers for event in page.events}
    among = {"workspaces": _array(sorted(set(where.values())))}
    gone = {workspace for (workspace,) in db.execute(sql("feed_gone"), among)}
    return [
        page._replace(
            events=tuple(_emptied(each) if where.get(each) in gone else each for each in page.events)
        )
        for page in pages
    ]


def _workspace_of(event: LoggedEvent) -> str:
    """Where it happened; none where the payload, written by hand, does not say."""
    try:
        return msgspec.json.decode(event.payload_json, type=_Where).workspace_id
    except msgspec.DecodeError:
        return ""


def _emptied(event: LoggedEvent) -> LoggedEvent:
    payload = without_words(msgspec.json.decode(event.payload_json, type=dict[str, object]))
    return event._replace(payload_json=_json.encode(payload).decode())


def _array(texts: Sequence[str]) -> str:
    return _json.encode(texts).decode()

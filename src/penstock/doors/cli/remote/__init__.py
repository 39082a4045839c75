"""Commands that a server does for us: which, and how; `--server` leads here and nowhere else.

A command of this table takes the same words and prints the same documents as on this machine. Any other is
refused rather than done here: whoever named a server does not mean the folder beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from penstock.model.errors import Refused

WAYS = {
    "penstock search": ("penstock.doors.cli.remote.questions", "search"),
    "penstock ask": ("penstock.doors.cli.remote.questions", "ask"),
    "penstock collection list": ("penstock.doors.cli.remote.collections", "list_collections"),
    "penstock collection create": ("penstock.doors.cli.remote.collections", "create"),
    "penstock collection show": ("penstock.doors.cli.remote.collections", "show_collection"),
    "penstock collection delete": ("penstock.doors.cli.remote.collections", "delete"),
    "penstock ingest submit": ("penstock.doors.cli.remote.submitting", "submit"),
    "penstock ingest status": ("penstock.doors.cli.remote.status", "status"),
    "penstock ingest list": ("penstock.doors.cli.remote.listing", "list_documents"),
    "penstock ingest retry": ("penstock.doors.cli.remote.changing", "retry"),
    "penstock ingest delete": ("penstock.doors.cli.remote.changing", "delete"),
}
"""A command's path, and the function that has a server do it."""
INSTEAD = {
    "penstock ingest reindex": "a collection is built anew when a document is handed in with --reindex, or by"
    " this command where the server's store is",
}
"""What else to do, where a command has a way of its own."""
ANYWHERE = frozenset({"penstock reference", "penstock config show", "penstock config reference"})
"""Commands that touch no store, here or there."""


def way_of(path: str) -> Callable[..., Any] | None:
    """How a server does the command of this path; None where it is the same anywhere."""
    if path in ANYWHERE:
        return None
    if path not in WAYS:
        raise unable(
            INSTEAD.get(path, f"{path} works on a store of this machine; run it where the server's is")
        )
    module, name = WAYS[path]
    return cast(Callable[..., Any], getattr(import_module(module), name))


def unable(why: str) -> Refused:
    """What a server cannot do for us."""
    return Refused(f"{why}, not through --server", code="ERR_SERVER_UNABLE")

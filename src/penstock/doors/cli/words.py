"""Jobs, times and people in the words of the command line."""

from __future__ import annotations

import getpass
import json
import os
import socket
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum

from penstock.model.jobs import Job
from penstock.model.payloads import ItemType
from penstock.model.provenance import provenance_of
from penstock.model.rules import SUSPECT_AFTER
from penstock.model.standing import Pause, PauseScope
from penstock.model.states import State
from penstock.model.uploads import uploaded_blob


class Shown(StrEnum):
    """The states people are shown; a pending job is named by what holds it back."""

    READY = "ready"
    WAITING = "waiting"
    PAUSED = "paused"
    DELAYED = "delayed"
    SUSPECT = "suspect"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


MEANINGS: dict[Shown, str] = {
    Shown.READY: "a worker may take it",
    Shown.WAITING: "another job on the same subject, or a deletion of its tenant, comes first",
    Shown.PAUSED: "it, its tenant, its collection or its type is held back",
    Shown.DELAYED: "its time has not come: a retry, a parked or a scheduled job",
    Shown.SUSPECT: "it has killed workers and waits for one that runs nothing else",
    Shown.RUNNING: "a worker holds it",
    Shown.DONE: "it ended well",
    Shown.FAILED: "it ended with an error; people are shown `cancelled` if the error is `ERR_CANCELLED`",
}

CORE: dict[Shown, tuple[State, ...]] = {
    Shown.READY: (State.READY,),
    Shown.WAITING: (State.READY, State.DELAYED),
    Shown.PAUSED: (State.READY, State.DELAYED),
    Shown.DELAYED: (State.DELAYED,),
    Shown.SUSPECT: (State.READY,),
    Shown.RUNNING: (State.LEASED,),
    Shown.DONE: (State.DONE,),
    Shown.FAILED: (State.FAILED,),
}
"""Where jobs of a shown state are found in the queue."""


def shown(job: Job, pauses: Sequence[Pause]) -> Shown:
    """The one word for where a job is, while these pauses are in force."""
    match job.state:
        case State.LEASED:
            return Shown.RUNNING
        case State.DONE:
            return Shown.DONE
        case State.FAILED:
            return Shown.FAILED
        case _ if job.behind is not None:
            return Shown.WAITING
        case _ if job.paused:
            return Shown.PAUSED
        case _ if job.run_at is not None:
            return Shown.DELAYED
        case _ if any(_holds(pause, job) for pause in pauses):
            return Shown.PAUSED
        case _ if job.barred:
            return Shown.WAITING
        case _:
            return Shown.SUSPECT if job.crashes >= SUSPECT_AFTER else Shown.READY


def _holds(pause: Pause, job: Job) -> bool:
    names = {
        PauseScope.ALL: "",
        PauseScope.TENANT: job.tenant,
        PauseScope.COLLECTION: job.collection,
        PauseScope.TYPE: job.item_type,
    }
    return pause.name == names[pause.scope]


def spoken(job: Job, pauses: Sequence[Pause]) -> str:
    """The same for people, who know cancelled jobs from failed ones."""
    if job.error is not None and job.error.code == "ERR_CANCELLED" and job.state is State.FAILED:
        return "cancelled"
    return shown(job, pauses)


def about(job: Job) -> str:
    """What the job works on, as short as it can be told apart."""
    prefix = f"path:{job.collection}:"
    match job.item_type:
        case ItemType.CONTENT:
            return f"text {job.idempotency_key.rpartition(':')[2]}"
        case ItemType.LIBRARY:
            given = _payload(job)
            return f"{given.get('library_name', '')} {given.get('library_version', '')}".strip()
        case ItemType.RENAME:
            given = _payload(job)
            return f"{given.get('old_path', '')} → {given.get('new_path', '')}"
        case ItemType.FILE if (name := _upload(job)) is not None:
            return name
        case ItemType.DELETE_TENANT:
            return f"tenant {job.tenant}"
        case _:
            return job.subject.removeprefix(prefix)


def _upload(job: Job) -> str | None:
    """What an upload is called; its path names bytes, which says nothing to people."""
    path = _payload(job).get("file_path")
    if not isinstance(path, str) or uploaded_blob(path) is None:
        return None
    return provenance_of(job.metadata_json).filename or path


def _payload(job: Job) -> dict[str, object]:
    payload = parsed(job.payload_json)
    return payload if isinstance(payload, dict) else {}


def parsed(text: str) -> object:
    """Stored JSON as a value; rows written by hand may hold any text, which is then shown as it is."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return text


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def iso(at: float) -> str:
    """A time for programs."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_or_none(at: float | None) -> str | None:
    """The same for what may be absent."""
    return None if at is None else iso(at)


def span(seconds: float) -> str:
    """A length of time in its two largest units, for people."""
    left = max(0, int(seconds))
    units = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))
    parts: list[str] = []
    for unit, length in units:
        amount, left = divmod(left, length)
        if amount or parts:
            parts.append(f"{amount}{unit}")
    return " ".join(parts[:2]) or "0s"


def since(at: float, now: float) -> str:
    """A moment as people say it."""
    return f"{span(now - at)} ago" if at <= now else f"in {span(at - now)}"


def plural(count: int, word: str) -> str:
    """A number and its word."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def size(count: int) -> str:
    """A number of bytes for people."""
    amount, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if amount < 1024 or unit == "TiB":
            break
        amount /= 1024
    return f"{count} B" if unit == "B" else f"{amount:.1f} {unit}"


def who() -> str:
    """Who asks: user@host, as a pause remembers it."""
    try:
        user = getpass.getuser()
    except (OSError, KeyError):  # a container's user id without an account
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}"

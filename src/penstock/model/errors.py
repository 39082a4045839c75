"""What can go wrong, said once.

    Fault
    ├── Refused       the caller must change the request          permanent
    │   └── LeaseLost the attempt belongs to someone else now     nothing may be written
    ├── Unavailable   the outside must recover                    parked, no retry spent
    ├── Exhausted     a limit of ours, for now                    parked, no retry spent
    └── Broken        we must fix code or data                    retried, then failed, loud

The branches answer "whose move is it?". Doors turn them into exit codes and HTTP statuses; engines turn
drivers' errors into them and keep the cause. Anything else a handler raises counts as Broken.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

MESSAGE_LENGTH_MAX = 4000


class ErrorClass(StrEnum):
    """How a job ends or goes on after an error."""

    PERMANENT = "permanent"
    TRANSIENT = "transient"
    UNAVAILABLE = "unavailable"
    CRASH = "crash"


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorReport:
    """An error as it is kept with a job and shown to people."""

    code: str
    message: str
    kind: ErrorClass = ErrorClass.TRANSIENT

    def __post_init__(self) -> None:
        """Whatever was raised, the message can be stored and read: it is text, and not endless."""
        text = self.message[:MESSAGE_LENGTH_MAX].encode(errors="backslashreplace").decode()
        object.__setattr__(self, "message", text)

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What a person can do about it, by code."""
        return SUGGESTIONS.get(self.code, ())


class Fault(Exception):
    """The root: a stable code, a message for people, and what to do."""

    code = "ERR_UNEXPECTED"
    kind = ErrorClass.TRANSIENT

    def __init__(self, message: str, *, code: str | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.retry_after = retry_after
        """Seconds the outside asked us to wait, where it did."""

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What a person can do about it, by code."""
        return SUGGESTIONS.get(self.code, ())

    def report(self) -> ErrorReport:
        """The same facts as a value to keep with a job."""
        return ErrorReport(code=self.code, message=self.message, kind=self.kind)


class Refused(Fault):
    """The request itself is wrong; repeating it cannot help."""

    code = "ERR_REFUSED"
    kind = ErrorClass.PERMANENT


class LeaseLost(Refused):
    """The attempt is no longer ours: nothing it writes may count."""

    code = "ERR_LEASE_LOST"

    @classmethod
    def of(cls, job_id: str) -> Self:
        """The usual sentence."""
        return cls(f"the lease on job {job_id} is no longer held by this attempt")


class Unavailable(Fault):
    """Something outside is down, or limits us."""

    code = "ERR_DEPENDENCY_DOWN"
    kind = ErrorClass.UNAVAILABLE


class Exhausted(Fault):
    """A limit of ours is reached for now: memory, disk, a quota."""

    code = "ERR_EXHAUSTED"
    kind = ErrorClass.UNAVAILABLE


class Broken(Fault):
    """Our code or our data is wrong."""

    code = "ERR_BROKEN"
    kind = ErrorClass.TRANSIENT


def report_of(error: BaseException) -> ErrorReport:
    """The report of any exception; what nobody foresaw is transient and keeps its type's name."""
    if isinstance(error, Fault):
        return error.report()
    return ErrorReport(code="ERR_HANDLER_FAILED", message=f"{type(error).__name__}: {error}")


CODES: Mapping[str, str] = {
    "ERR_UNEXPECTED": "Something failed that nobody gave a name.",
    "ERR_REFUSED": "The request was refused.",
    "ERR_ITEM_TYPE_UNKNOWN": "The item type is not one of the eight.",
    "ERR_OPERATION_INVALID": "The operation is unknown, or this item type does not offer it.",
    "ERR_PAYLOAD_INVALID": "The payload does not have the shape of its item type.",
    "ERR_PAYLOAD_TOO_LARGE": "The payload is larger than the limit.",
    "ERR_METADATA_INVALID": "The metadata is not a JSON object.",
    "ERR_METADATA_TOO_LARGE": "The metadata is larger than the limit.",
    "ERR_PATH_INVALID": "A path is not absolute, too long, or holds a character no path may hold.",
    "ERR_PRIORITY_INVALID": "The priority is not a whole number from 0 to 10, nor high, normal or low.",
    "ERR_TENANT_INVALID": "The tenant is empty, too long, or not the one the job names.",
    "ERR_COLLECTION_INVALID": "The collection's name is empty, too long, or holds control characters.",
    "ERR_JOB_ID_INVALID": "The job id is empty, too long, or holds characters ids may not hold.",
    "ERR_JOB_ID_TAKEN": "The job id belongs to another job.",
    "ERR_JOB_UNKNOWN": "There is no job with this id.",
    "ERR_JOB_UNFINISHED": "The job has not ended yet.",
    "ERR_BATCH_UNKNOWN": "There is no batch with this id.",
    "ERR_BULK_TOO_LARGE": "More jobs were submitted in one call than the limit.",
    "ERR_HANDLER_MISSING": "No handler is registered for this item type and operation.",
    "ERR_HANDLER_FAILED": "The handler raised an error it did not classify.",
    "ERR_TIMEOUT": "The handler ran longer than its item type allows.",
    "ERR_CANCELLED": "A person or program cancelled the job.",
    "ERR_SUPERSEDED": "A later request on the same object made this job pointless.",
    "ERR_LEASE_LOST": "The attempt lost its lease; another attempt owns the job.",
    "ERR_LEASE_EXPIRED": "The lease ran out while its worker made no progress.",
    "ERR_WORKER_DIED": "The worker died while it ran the job.",
    "ERR_POISON": "The job killed its worker again and again, the last time while it ran alone.",
    "ERR_DEPENDENCY_DOWN": "Something the job depends on is down or limits us.",
    "ERR_BREAKER_OPEN": "The dependency failed so often that it is left alone for a while.",
    "ERR_EXHAUSTED": "A limit is reached for now.",
    "ERR_BROKEN": "The program or its data is damaged.",
    "ERR_STORE_UNAVAILABLE": "The database cannot be reached.",
    "ERR_STORE_BUSY": "The database is held by another process for too long.",
    "ERR_STORE_CORRUPT": "The database file is damaged or is not a database.",
    "ERR_STORE_READ_ONLY": "The database or its folder cannot be written.",
    "ERR_STORE_TOO_NEW": "The database was made by a newer Penstock.",
    "ERR_DISK_FULL": "The disk is full.",
    "ERR_CONFIGURATION": "The configuration is wrong.",
    "ERR_LEGACY_UNREADABLE": "The legacy database cannot be read.",
    "ERR_LEGACY_UNVERIFIED": "The migrated rows do not match the legacy tables.",
}
"""Every code there is, and what it means; the reference page is made from it."""

SUGGESTIONS: Mapping[str, tuple[str, ...]] = {
    "ERR_ITEM_TYPE_UNKNOWN": (
        "Use content, file, folder, project, library, delete_tenant, delete_document or rename.",
    ),
    "ERR_PAYLOAD_TOO_LARGE": ("Store the text as a file and submit its path.", "Raise limits.payload_bytes."),
    "ERR_METADATA_TOO_LARGE": ("Keep large values in the document itself.", "Raise limits.metadata_bytes."),
    "ERR_PATH_INVALID": ("Give the absolute path of the file.",),
    "ERR_PRIORITY_INVALID": ("Use 0 to 10, or high (9), normal (5), low (1).",),
    "ERR_JOB_ID_TAKEN": ("Draw another id and submit again.",),
    "ERR_HANDLER_MISSING": ("Start a worker that knows this item type, then retry the job.",),
    "ERR_TIMEOUT": ("Raise worker.timeouts for this item type.", "Look for what made it slow, then retry."),
    "ERR_CANCELLED": ("Replay the job if it is wanted after all: penstock queue retry JOB.",),
    "ERR_POISON": ("Look at the file itself: it kills the program that reads it.", "Retry after an upgrade."),
    "ERR_WORKER_DIED": (
        "Look for the out-of-memory killer or a crash in the worker's log.",
        "Retry the job.",
    ),
    "ERR_STORE_BUSY": ("Look for a process that holds the database open in a transaction.",),
    "ERR_STORE_CORRUPT": (
        "Restore the folder from a backup.",
        "Try `sqlite3 penstock.db .recover` on a copy.",
    ),
    "ERR_STORE_READ_ONLY": (
        "Check the owner and the mode of the data folder.",
        "Choose another with --data.",
    ),
    "ERR_STORE_TOO_NEW": ("Upgrade this program.", "Or choose another folder with --data."),
    "ERR_DISK_FULL": ("Free some space; waiting jobs go on by themselves.",),
}
"""What a person can do, by code; a code that explains itself needs none."""

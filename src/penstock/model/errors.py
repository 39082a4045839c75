"""What can go wrong, said once.

    Fault
    ├── Refused       the caller must change the request          permanent
    │   └── LeaseLost the attempt belongs to someone else now     nothing may be written
    ├── Unavailable   the outside must recover                    parked, no retry spent
    ├── Exhausted     a limit of ours, for now                    parked, no retry spent
    └── Broken        we must fix code or data                    retried, then failed, loud
        ├── Displaced the store is not where it was opened        the process ends
        └── Unkept    what was kept went before it was used       made again, no retry spent

The branches answer "whose move is it?". Doors turn them into exit codes and HTTP statuses; engines turn
drivers' errors into them and keep the cause. Anything else a handler raises counts as Broken.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Self

from penstock.model.advice import suggestions_for
from penstock.model.traces import trace_of

MESSAGE_LENGTH_MAX = 4000
UNFORESEEN = "ERR_HANDLER_FAILED"


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
    trace: str = field(default="", compare=False)
    """Where in the program it happened, of what nobody foresaw; a fault with a reason has none."""

    def __post_init__(self) -> None:
        """Whatever was raised, the message can be stored and read: it is text, and not endless."""
        text = self.message[:MESSAGE_LENGTH_MAX].encode(errors="backslashreplace").decode()
        object.__setattr__(self, "message", text)

    @property
    def suggestions(self) -> tuple[str, ...]:
        """What a person can do about it."""
        return suggestions_for(self.code, self.message)


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
        """What a person can do about it."""
        return suggestions_for(self.code, self.message)

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


class Displaced(Broken):
    """The store was moved, deleted or replaced under us: what we would write is found by nobody."""

    code = "ERR_STORE_MOVED"


class Unkept(Broken):
    """Something that was found to be kept is not there any more: it must be made again."""


def report_of(error: BaseException) -> ErrorReport:
    """The report of any exception; what nobody foresaw is transient and keeps its type's name."""
    if isinstance(error, Fault):
        return error.report()
    message = f"{type(error).__name__}: {error}"
    return ErrorReport(code=UNFORESEEN, message=message, trace=trace_of(error))

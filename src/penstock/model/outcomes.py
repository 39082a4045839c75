"""How an attempt ends: a closed union, so that every engine and every test must speak of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from penstock.model.errors import ErrorClass, ErrorReport


@dataclass(frozen=True, slots=True)
class Done:
    """It worked."""


@dataclass(frozen=True, slots=True)
class Failed:
    """It cannot work: fail now, whatever retries are left."""

    error: ErrorReport


@dataclass(frozen=True, slots=True)
class Retry:
    """It may work another time: spends a retry."""

    error: ErrorReport


@dataclass(frozen=True, slots=True)
class Park:
    """Something outside is down: wait without spending a retry, up to the limit on parking."""

    error: ErrorReport
    seconds: float | None = None
    """How long the outside asked us to wait; None means the policy's own delay."""


@dataclass(frozen=True, slots=True)
class Release:
    """The worker gives it back unharmed: nothing spent, claimable at once."""


Outcome = Done | Failed | Retry | Park | Release
DONE = Done()
RELEASE = Release()


def outcome_of(error: ErrorReport, retry_after: float | None = None) -> Outcome:
    """What an error means for the attempt that met it."""
    match error.kind:
        case ErrorClass.PERMANENT:
            return Failed(error)
        case ErrorClass.UNAVAILABLE:
            return Park(error, retry_after)
        case ErrorClass.TRANSIENT | ErrorClass.CRASH:
            return Retry(error)
        case _:
            assert_never(error.kind)

"""What a server tells, as the documents of the command line say it."""

from __future__ import annotations

from penstock.client.values import Reason
from penstock.doors.cli.shapes import ErrorFacts

UNKNOWN = ErrorFacts(code="ERR_UNEXPECTED", message="it failed without a recorded reason", suggestions=[])


def error_facts(reason: Reason | None) -> ErrorFacts:
    """Why a document is in error."""
    if reason is None:
        return UNKNOWN
    return ErrorFacts(code=reason.code, message=reason.message, suggestions=list(reason.suggestions))

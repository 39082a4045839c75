"""From what went wrong to an exit code and a sentence; the only place that knows both.

0 ok · 1 the request is wrong · 2 it failed on the way · 3 the configuration is wrong · 4 something cannot be
reached or is full · 5 it took too long · 130 stopped by Ctrl-C
"""

from __future__ import annotations

import json
import traceback
from dataclasses import dataclass
from enum import IntEnum

import click

from penstock.doors.cli.given import DEBUG, debugging
from penstock.doors.cli.grammar import NounAlone
from penstock.doors.cli.output import clean, talk
from penstock.doors.redaction import redacted
from penstock.model.errors import Exhausted, Fault, Refused, Unavailable


class Exit(IntEnum):
    """How the program ends."""

    OK = 0
    VALIDATION = 1
    EXECUTION = 2
    CONFIGURATION = 3
    CONNECTION = 4
    TIMEOUT = 5
    INTERRUPTED = 130


CONFIGURING = frozenset(
    {"--config", "--data", "--log-level", "--server", "--token", "--token-file", "--workspace"}
)
"""Options that choose settings: using one wrongly is a mistake in the configuration."""

MEANINGS: dict[Exit, str] = {
    Exit.OK: "It went well.",
    Exit.VALIDATION: "The request is wrong: an option, an id, a payload; repeating it cannot help.",
    Exit.EXECUTION: "It failed on the way: damaged data, or something nobody foresaw.",
    Exit.CONFIGURATION: "The configuration is wrong; the message names the key.",
    Exit.CONNECTION: "The store or server cannot be reached or does not let us in, or a limit is reached.",
    Exit.TIMEOUT: "It took longer than it may.",
    Exit.INTERRUPTED: "Ctrl-C; what was accepted before stays queued.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What the person is told, and how the program ends."""

    exit: Exit
    code: str
    message: str
    suggestions: tuple[str, ...] = ()


def complaint_of(error: Exception) -> Complaint:
    """The one mapping."""
    match error:
        case Fault():
            return Complaint(
                exit=_exit_of(error),
                code=error.code,
                message=error.message,
                suggestions=error.suggestions,
            )
        case click.ClickException():
            return _misused(error)
        case TimeoutError():
            words = str(error) or "it took too long"
            return Complaint(exit=Exit.TIMEOUT, code="ERR_TIMEOUT", message=words)
        case _:
            return _configuration(error) or _unforeseen(error)


def _exit_of(fault: Fault) -> Exit:
    by_code = {
        "ERR_CONFIGURATION": Exit.CONFIGURATION,
        "ERR_TIMEOUT": Exit.TIMEOUT,
    }
    if fault.code in by_code:
        return by_code[fault.code]
    match fault:
        case Refused():
            return Exit.VALIDATION
        case Unavailable() | Exhausted():
            return Exit.CONNECTION
        case _:
            return Exit.EXECUTION


def _misused(error: click.ClickException) -> Complaint:
    ctx = getattr(error, "ctx", None)
    concerns_settings = getattr(error, "option_name", None) in CONFIGURING
    return Complaint(
        exit=Exit.CONFIGURATION if concerns_settings else Exit.VALIDATION,
        code="ERR_CONFIGURATION" if concerns_settings else "ERR_REFUSED",
        message=error.format_message().rstrip("."),
        suggestions=() if ctx is None else (f"See: {ctx.command_path} --help",),
    )


def _configuration(error: Exception) -> Complaint | None:
    from penstock.settings import ConfigurationError

    if not isinstance(error, ConfigurationError):
        return None
    return Complaint(
        exit=Exit.CONFIGURATION,
        code="ERR_CONFIGURATION",
        message="the configuration cannot be used",
        suggestions=tuple(str(problem) for problem in error.problems),
    )


def _unforeseen(error: Exception) -> Complaint:
    words = str(error)
    if isinstance(error, OSError) and error.strerror:
        words = error.strerror + (f": {error.filename}" if error.filename else "")
    return Complaint(
        exit=Exit.EXECUTION,
        code="ERR_UNEXPECTED",
        message=f"{type(error).__name__}: {words}" if words else type(error).__name__,
        suggestions=(f"Set {DEBUG}=1 to see where it came from.",),
    )


def tell(error: Exception, *, as_json: bool) -> Exit:
    """Say on stderr what went wrong; the code to end with."""
    complaint = complaint_of(error)
    if debugging():
        talk(redacted("".join(traceback.format_exception(error)).rstrip()))
    if as_json:
        facts = {
            "code": complaint.code,
            "message": redacted(complaint.message),
            "suggestions": complaint.suggestions,
        }
        talk(json.dumps({"error": facts}))
    elif isinstance(error, NounAlone):
        talk(error.help)
    else:
        talk(f"error: {clean(redacted(complaint.message))} ({complaint.code})")
        for line in complaint.suggestions:
            talk(f"  {clean(line)}")
    return complaint.exit

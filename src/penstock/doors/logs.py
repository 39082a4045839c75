"""Logs: text on a terminal, JSON elsewhere, and only the keys that may be written.

Rooms log with `logging.getLogger("penstock.…")` and `extra={"job_id": …}`; what is logged inside an attempt
names it by itself. A key that is not allowed is a mistake in our code: refused where it is made, or left out
in production. What an exception says may be a user's text, so a log names its type and place; the whole of it
is shown only while debugging. Tokens and tickets are masked in all of it, facts and tracebacks included.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, TextIO

from penstock.doors.redaction import redacted
from penstock.engines.telemetry.current import current_facts

if TYPE_CHECKING:
    from structlog.stdlib import ProcessorFormatter
    from structlog.typing import EventDict, Processor

FACTS = ("trace_id", "span_id", "job_id", "queue", "worker_id", "request_id", "namespace")
"""What a line may say beside `level`, `ts` and `msg`."""

_OWN = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime", "taskName"}
_ROOM = "penstock"
TRACE = "trace"
"""Where a traceback waits until it is known how the line is written."""


class _Ours(logging.StreamHandler[TextIO]):
    """Tells our handler from those a test or a library put beside it."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Name the place of a line that cannot be written; Python's own way prints what it was given."""
        error = type(sys.exc_info()[1]).__name__
        place = f"{os.path.basename(record.pathname)}:{record.lineno}"
        told = {**record.__dict__, "msg": f"a log line of {place} cannot be written ({error})"}
        with suppress(Exception):  # a stream that is gone stays gone
            plain = logging.makeLogRecord({**told, "args": (), "exc_info": None})
            self.stream.write(self.format(plain) + self.terminator)


def set_up_logging(level: str, stream: TextIO | None = None, *, strict: bool = True) -> None:
    """Send every log to the stream, stderr unless told otherwise; a second call replaces the first.

    Strict refuses a key that may not be written with an error; otherwise it is left out, for in production a
    mistake in a log must not cost a job.
    """
    target = sys.stderr if stream is None else stream
    handler = _Ours(target)
    if strict:
        handler.addFilter(_refuse_other_keys)
    is_terminal = target is not None and target.isatty()
    handler.setFormatter(_Lines(readable=is_terminal))
    root = logging.getLogger()
    for former in [each for each in root.handlers if isinstance(each, _Ours)]:
        root.removeHandler(former)
    root.addHandler(handler)
    # Libraries speak only when something is wrong.
    root.setLevel(logging.WARNING)
    logging.getLogger(_ROOM).setLevel(level.upper())


def _refuse_other_keys(record: logging.LogRecord) -> bool:
    """Raise for a key nobody may log; a library's own keys are left out, not refused."""
    if record.name.partition(".")[0] == _ROOM:
        for key in record.__dict__:
            if key not in _OWN and key not in FACTS:
                raise ValueError(f"log key {key!r} is not one of {', '.join(FACTS)}")
    return True


def _facts(record: logging.LogRecord) -> dict[str, object]:
    """What the line was given, and what is known of the attempt it was written in."""
    around = current_facts()
    given = {key: record.__dict__.get(key) for key in FACTS}
    found = {key: around.get(key) if value is None else value for key, value in given.items()}
    return {key: _plain(value) for key, value in found.items() if value is not None}


def _plain(value: object) -> object:
    """A number as it is, anything else as text without secrets."""
    return value if isinstance(value, int | float) else redacted(str(value))


def _message(message: str, error: BaseException | None) -> str:
    if error is None:
        return redacted(message)
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    return f"{redacted(message)} ({type(error).__name__}{place})"


def _trace(error: BaseException | None) -> str:
    if error is None or os.environ.get("PENSTOCK_DEBUG") != "1":
        return ""
    return "\n" + redacted("".join(traceback.format_exception(error)).rstrip())


def _time(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _line(_logger: object, _method: str, event: EventDict) -> EventDict:
    """A record as the line it becomes: canonical keys only."""
    record: logging.LogRecord = event["_record"]
    error = record.exc_info[1] if record.exc_info else None
    return {
        "level": record.levelname.lower(),
        "ts": _time(record),
        "msg": _message(str(event["event"]), error),
        TRACE: _trace(error),
        **_facts(record),
    }


def _whole(_logger: object, _method: str, line: EventDict) -> EventDict:
    """For machines the trace is part of the message."""
    trace = line.pop(TRACE)
    return {**line, "msg": line["msg"] + trace}


def _readable(_logger: object, _method: str, line: EventDict) -> str:
    """For eyes: time, level, message, facts."""
    known = {key: value for key, value in line.items() if key in FACTS}
    facts = "".join(f"  {key}={value}" for key, value in known.items())
    # Escapes keep a name in a message from steering the terminal.
    text = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in line["msg"] + facts)
    return f"{line['ts'][11:23]} {line['level']:<7} {text}{line[TRACE]}"


class _Lines(logging.Formatter):
    """Makes a record of any library into a line.

    structlog is loaded with the first of them: most commands write none, and it takes longer than they do.
    """

    def __init__(self, *, readable: bool) -> None:
        super().__init__()
        self._readable = readable

    def format(self, record: logging.LogRecord) -> str:
        return self._structured.format(record)

    @cached_property
    def _structured(self) -> ProcessorFormatter:
        from structlog.processors import JSONRenderer
        from structlog.stdlib import ProcessorFormatter

        renderers: list[Processor] = [_readable] if self._readable else [_whole, JSONRenderer(default=str)]
        return ProcessorFormatter(processors=renderers, foreign_pre_chain=[_line])

"""Logs: canonical keys only, JSON for machines, text for terminals, no payloads by way of exceptions."""

import io
import json
import logging

import pytest

from penstock.doors.logs import FACTS, set_up_logging
from penstock.engines.telemetry.current import ATTEMPT
from tests.support.leases import a_lease
from tests.support.streams import Terminal

pytestmark = pytest.mark.usefixtures("logs_as_before")


@pytest.fixture
def log() -> logging.Logger:
    return logging.getLogger("penstock.test")


def lines(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_json_with_canonical_keys(log: logging.Logger) -> None:
    """Level, time and message, and the facts that were given."""
    stream = io.StringIO()
    set_up_logging("info", stream)

    log.info("job %s", "done", extra={"job_id": "j1", "worker_id": "w1", "queue": None})
    log.debug("too quiet")

    (line,) = lines(stream)
    assert {key: line[key] for key in ("level", "msg", "job_id", "worker_id")} == {
        "level": "info",
        "msg": "job done",
        "job_id": "j1",
        "worker_id": "w1",
    }
    assert set(line) == {"level", "ts", "msg", "job_id", "worker_id"}
    assert str(line["ts"]).endswith("Z")


def test_the_keys_are_those_of_the_contract() -> None:
    """No more, no fewer."""
    assert {"level", "ts", "msg", *FACTS} == {
        "level",
        "ts",
        "msg",
        "trace_id",
        "span_id",
        "job_id",
        "queue",
        "worker_id",
        "request_id",
        "namespace",
    }


def test_any_other_key_is_refused_where_it_is_logged(log: logging.Logger) -> None:
    """A payload or a name must not slip into a log under a key of its own."""
    stream = io.StringIO()
    set_up_logging("info", stream)

    with pytest.raises(ValueError, match="'payload' is not one of trace_id"):
        log.info("job done", extra={"payload": "private"})

    assert stream.getvalue() == ""


def test_in_production_another_key_is_left_out(log: logging.Logger) -> None:
    """A mistake in a log costs neither a job nor a secret."""
    stream = io.StringIO()
    set_up_logging("info", stream, strict=False)

    log.info("job done", extra={"payload": "private", "job_id": "j1"})

    (line,) = lines(stream)
    assert set(line) == {"level", "ts", "msg", "job_id"}


def test_a_line_inside_an_attempt_names_it(log: logging.Logger) -> None:
    """Job, queue, worker and trace are known wherever its code logs; what a line says itself counts more."""
    stream = io.StringIO()
    set_up_logging("info", stream)
    trace = {"trace_id": "0af7651916cd43dd8448eb211c80319c", "span_id": "b7ad6b7169203331"}
    lease = a_lease(priority=9, metadata_json=json.dumps(trace))

    token = ATTEMPT.set(lease)
    log.info("inside")
    log.info("inside", extra={"worker_id": "another"})
    ATTEMPT.reset(token)
    log.info("outside")

    inside, own, outside = lines(stream)
    facts = {"job_id": lease.job_id, "queue": "high", "worker_id": lease.worker, **trace}
    assert {key: inside[key] for key in facts} == facts
    assert own["worker_id"] == "another"
    assert set(outside) == {"level", "ts", "msg"}


def test_libraries_are_heard_only_when_something_is_wrong() -> None:
    """Their own keys are left out, not refused."""
    stream = io.StringIO()
    set_up_logging("debug", stream)
    library = logging.getLogger("asyncio")

    library.info("chatter")
    library.warning("trouble", extra={"colour": "red"})

    (line,) = lines(stream)
    assert (line["msg"], "colour" in line) == ("trouble", False)


def test_an_exception_is_named_by_type_and_place_only(
    log: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it says may be a user's text; the debug switch shows all of it."""
    stream = io.StringIO()
    set_up_logging("info", stream)
    monkeypatch.delenv("PENSTOCK_DEBUG", raising=False)

    for switch in ("0", "1"):
        monkeypatch.setenv("PENSTOCK_DEBUG", switch)
        try:
            raise RuntimeError("the patient's name")
        except RuntimeError:
            log.exception("handler failed")

    plain, debugged = (str(line["msg"]) for line in lines(stream))
    assert plain.startswith("handler failed (RuntimeError at test_logs.py:")
    assert "patient" not in plain
    assert "the patient's name" in debugged


def test_text_on_a_terminal_is_one_line_and_cannot_steer_it(log: logging.Logger) -> None:
    """Time, level, message and facts, with every control character written out."""
    stream = Terminal()
    set_up_logging("warning", stream)

    log.warning("odd \x1b[2J\nname", extra={"job_id": "j1"})

    line = stream.getvalue()
    assert line.endswith(r" warning odd \x1b[2J\nname  job_id=j1" + "\n")
    assert line.count("\n") == 1


def test_setting_up_again_replaces_the_first(log: logging.Logger) -> None:
    """No line is written twice."""
    first, second = io.StringIO(), io.StringIO()
    set_up_logging("info", first)
    set_up_logging("info", second)

    log.info("once")

    assert (first.getvalue(), len(lines(second))) == ("", 1)

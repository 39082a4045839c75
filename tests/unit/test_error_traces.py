"""Where something nobody foresaw happened is kept with the job, and nothing of what it happened to."""

from collections.abc import Callable
from pathlib import Path

from penstock.engines.sqlite import open_sqlite
from penstock.model.errors import Refused, report_of
from penstock.model.jobs import WorkerId
from penstock.model.outcomes import outcome_of
from penstock.model.records import error_record
from penstock.model.rules import Rules
from penstock.model.traces import LENGTH_MAX, trace_of
from tests.support.clock import FakeClock
from tests.support.jobs import a_job

CANARY = "the-words-of-a-document"


def stumble(words: str) -> None:
    raise KeyError(words)


def misread(words: str) -> None:
    try:
        stumble(words)
    except KeyError as error:
        raise ValueError(f"cannot read {words}") from error


def sink(depth: int) -> None:
    if depth:
        sink(depth - 1)
    else:
        misread(CANARY)


def caught(work: Callable[[], None]) -> Exception:
    try:
        work()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def test_a_trace_tells_places_and_types_alone() -> None:
    """Functions and lines of the error and its cause, the last one last; no message, folder or variable."""
    trace = trace_of(caught(lambda: misread(CANARY)))

    cause, effect = trace.split("\n\nwhich led to\n\n")
    assert cause.splitlines()[-1] == "KeyError"
    assert "tests/unit/test_error_traces.py:" in cause
    assert "in stumble" in cause
    assert effect.splitlines()[-1] == "ValueError"
    assert CANARY not in trace
    assert str(Path.cwd()) not in trace


def test_a_trace_is_bounded() -> None:
    """However deep it was and however many errors led to it."""
    trace = trace_of(caught(lambda: sink(500)))
    chain: BaseException = ValueError()
    for _ in range(50):
        nxt = ValueError()
        nxt.__cause__, chain = chain, nxt

    assert len(trace) <= LENGTH_MAX
    assert trace.endswith("ValueError")
    assert len(trace_of(chain)) <= LENGTH_MAX


def test_a_fault_with_a_reason_has_no_trace() -> None:
    """What went wrong is said in words then."""
    assert report_of(caught(refuse)).trace == ""


def refuse() -> None:
    raise Refused("it is no PDF", code="ERR_PDF_INVALID")


async def test_the_record_of_a_failed_job_tells_where_it_failed(tmp_path: Path) -> None:
    """The traceback of the documented record; a later end with a reason of its own has none."""
    clock = FakeClock()
    store = await open_sqlite(tmp_path, rules=Rules(), clock=clock)
    try:
        records = []
        for error in (caught(lambda: misread(CANARY)), caught(refuse)):
            job = a_job(max_retries=0)
            await store.queue.submit([job])
            (lease,) = await store.queue.claim(WorkerId("w"), 1)
            await store.queue.settle([(lease, outcome_of(report_of(error)))])
            found = await store.desk.find(job.id)
            assert found is not None
            records.append(error_record(found, filename="a.txt"))
        waiting = a_job(max_retries=1)
        await store.queue.submit([waiting])
        (lease,) = await store.queue.claim(WorkerId("w"), 1)
        await store.queue.settle([(lease, outcome_of(report_of(caught(lambda: misread(CANARY)))))])
        await store.desk.cancel([waiting.id])
        cancelled = await store.desk.find(waiting.id)
    finally:
        await store.close()

    unforeseen, foreseen = records
    assert "in misread" in str(unforeseen["traceback"])
    assert CANARY not in str(unforeseen["traceback"])
    assert foreseen["traceback"] == ""
    assert cancelled is not None
    assert error_record(cancelled, filename="a.txt")["traceback"] == ""

"""A legacy row becomes a job: what is kept, what is put right and noted, what is skipped and why."""

import json

import pytest

from penstock.engines.legacy.mapping import LegacyRow, Mapped, Skip, job_of
from penstock.engines.legacy.roles import Role
from penstock.model.jobs import Operation
from penstock.model.legacy import LegacyJob
from penstock.model.payloads import Content, File, ItemType
from penstock.model.rules import Rules
from penstock.model.states import State

NOW = 1_750_000_000.0
THEN = 1_709_287_200.0
"""2024-03-01 10:00:00 UTC."""


def a_row(item_type: ItemType = ItemType.FILE, /, *, id: object = 1, **values: object) -> LegacyRow:
    """A row that maps without a word, unless a value is given another way."""
    usual: dict[str, object] = (
        {"path": "/a.txt"} if item_type is ItemType.FILE else {"text": "a note", "source_type": "clipboard"}
    )
    usual |= {"collection": "docs", "tenant": "acme", "created": "2024-03-01 10:00:00"}
    given = {Role(name): value for name, value in (usual | values).items()}
    table = "ingestion_queue" if item_type is ItemType.FILE else "content_ingestion_queue"
    return LegacyRow(table=table, item_type=item_type, identity=(id,), values=given)


def outcome(row: LegacyRow, **rules: int) -> Mapped | Skip:
    return job_of(row, source="", now=NOW, rules=Rules(**rules))  # type: ignore[arg-type]


def mapped(row: LegacyRow) -> Mapped:
    found = outcome(row)
    assert isinstance(found, Mapped), found
    return found


def job(item_type: ItemType = ItemType.FILE, /, **values: object) -> LegacyJob:
    found = mapped(a_row(item_type, **values))
    assert found.notes == ()
    return found.job


def noted(**values: object) -> tuple[LegacyJob, list[str]]:
    found = mapped(a_row(**values))
    return found.job, [reason for reason, _ in found.notes]


def skipped(item_type: ItemType = ItemType.FILE, /, **values: object) -> Skip:
    found = outcome(a_row(item_type, **values))
    assert isinstance(found, Skip), found
    return found


def test_a_file_row_becomes_a_file_job() -> None:
    """Path, collection, tenant, operation, priority, branch and metadata come over."""
    found = job(
        operation="update",
        priority=7,
        branch="dev",
        metadata='{"a": 1}',
        file_type="code",
        file_hash="sha256:" + "0" * 64,
        size=12,
    )

    assert found.job.payload == File(
        file_path="/a.txt", file_type="code", file_hash="sha256:" + "0" * 64, size_bytes=12
    )
    assert (found.job.tenant, found.job.collection, found.job.branch) == ("acme", "docs", "dev")
    assert (found.job.op, found.job.priority) == (Operation.UPDATE, 7)
    assert json.loads(found.metadata_json) == {"a": 1}
    assert found.key.startswith("file:docs:")
    assert (found.state, found.was, found.created_at) == (State.READY, "pending", THEN)


def test_a_text_row_becomes_a_content_job() -> None:
    """The text and its labels come over."""
    found = job(ItemType.CONTENT, main_tag="work", full_tag="work/today")

    assert found.job.payload == Content(
        content="a note", source_type="clipboard", main_tag="work", full_tag="work/today"
    )
    assert found.key.startswith("content:docs:")


def test_what_a_row_does_not_say_is_given_as_to_any_job() -> None:
    """Tenant, collection, operation, priority and times have their defaults."""
    found = job(tenant=None, collection="", created=None)

    assert (found.job.tenant, found.job.collection) == ("local", "default")
    assert (found.job.op, found.job.priority, found.job.max_retries) == (Operation.INGEST, 5, 3)
    assert (found.created_at, found.updated_at) == (NOW, NOW)


@pytest.mark.parametrize(
    ("status", "state", "was"),
    [
        (None, State.READY, "pending"),
        ("", State.READY, "pending"),
        ("queued", State.READY, "pending"),
        ("COMPLETED", State.DONE, "done"),
        ("error", State.FAILED, "failed"),
    ],
)
def test_a_state_is_kept(status: str | None, state: State, was: str) -> None:
    """Whatever the word for it was."""
    found = job(status=status)

    assert (found.state, found.was) == (state, was)


def test_a_running_row_waits_again() -> None:
    """Its worker is gone, and the report says so."""
    found, notes = noted(status="processing", started="2024-03-01 10:00:01")

    assert (found.state, found.was, found.started_at) == (State.READY, "in_progress", None)
    assert notes == ["was running, waits again"]


def test_an_ended_row_keeps_retries_error_and_times() -> None:
    """History is history."""
    found = job(
        status="failed",
        retries=3,
        retries_max=5,
        error="no such page",
        started=THEN + 5,
        finished=THEN + 10,
        error_at=THEN + 9,
    )

    assert (found.retry_count, found.job.max_retries, found.error_message) == (3, 5, "no such page")
    assert (found.started_at, found.last_error_at) == (THEN + 5, THEN + 9)
    assert (found.finished_at, found.updated_at) == (THEN + 10, THEN + 10)
    assert found.error_code is None


def test_an_ended_row_without_an_end_ended_when_it_was_last_touched() -> None:
    """A job that is done has an end, so one is found."""
    found = job(status="done", updated=THEN + 7)

    assert (found.finished_at, found.error_message, found.last_error_at) == (THEN + 7, None, None)


def test_a_cancelled_row_is_failed_as_cancelled() -> None:
    """People are still shown that somebody wanted it."""
    found = job(status="cancelled")

    assert (found.state, found.error_code) == (State.FAILED, "ERR_CANCELLED")


def test_an_error_told_by_reference_is_kept() -> None:
    """Its text was fetched with the row."""
    assert job(error_reference="cannot parse").error_message == "cannot parse"


@pytest.mark.parametrize(
    ("due", "run_at"), [(NOW + 60, NOW + 60), (NOW - 60, None), ("/an/older/path", None), (None, None)]
)
def test_a_retry_that_is_not_yet_due_waits_for_its_time(due: object, run_at: float | None) -> None:
    """A time that has passed, or that is none, holds nothing back."""
    assert job(due=due).job.run_at == run_at


@pytest.mark.parametrize(
    ("given", "priority"), [("low", 1), ("Normal", 5), ("high", 9), ("urgent", 10), ("7", 7), (0, 0)]
)
def test_a_priority_may_be_a_word(given: object, priority: int) -> None:
    """Names and numbers as text are understood."""
    assert job(priority=given).job.priority == priority


@pytest.mark.parametrize(("given", "priority"), [(99, 10), (-3, 0), ("somewhat", 5), (2.5, 2)])
def test_an_illegal_priority_is_put_right_and_noted(given: object, priority: int) -> None:
    """A job is not lost for its priority."""
    found, notes = noted(priority=given)

    assert (found.job.priority, notes) == (priority, ["priority put right"])


@pytest.mark.parametrize(
    ("values", "note"),
    [
        ({"created": "yesterday"}, "unreadable time"),
        ({"retries": -1}, "count put right"),
        ({"retries_max": 1000}, "count put right"),
        ({"retries": "9" * 30}, "count put right"),
        ({"metadata": "[1, 2]"}, "metadata wrapped"),
        ({"metadata": "not json"}, "metadata wrapped"),
        ({"metadata": "[" * 50_000}, "metadata wrapped"),
        ({"metadata": '{"a":' * 5_000 + "1" + "}" * 5_000}, "metadata wrapped"),
        ({"file_type": "a\nb"}, "label left out"),
        ({"file_hash": "md5:1"}, "label left out"),
        ({"path": "/a//b/./c.txt"}, "path put in its plain form"),
    ],
)
def test_what_only_colours_a_job_is_put_right_and_noted(values: dict[str, object], note: str) -> None:
    """Such a row is taken over, and the report says what was changed."""
    assert noted(**values)[1] == [note]


def test_metadata_that_is_no_object_is_kept_whole() -> None:
    """It stands under a name of its own."""
    assert json.loads(noted(metadata="plain words")[0].metadata_json) == {"legacy": "plain words"}


def test_a_path_in_plain_form_names_the_same_file() -> None:
    """Doubled slashes and dots go; a step upwards could lead elsewhere and is refused."""
    found, _ = noted(path="/a//b/./c.txt")

    assert found.job.payload == File(file_path="/a/b/c.txt")
    assert skipped(path="/a/../b.txt").reason == "ERR_PATH_INVALID"


@pytest.mark.parametrize(
    ("values", "reason", "word"),
    [
        ({"path": "a.txt"}, "ERR_PATH_INVALID", "not absolute"),
        ({"path": "C:\\a.txt"}, "ERR_PATH_INVALID", "not absolute"),
        ({"path": None}, "ERR_PATH_INVALID", "empty"),
        ({"path": "/a\0b"}, "ERR_PATH_INVALID", "NUL"),
        ({"path": "/" + "a" * 5000}, "ERR_PATH_INVALID", "longer"),
        ({"path": "/\udcff.txt"}, "ERR_PATH_INVALID", "not valid text"),
        ({"operation": "explode"}, "ERR_OPERATION_INVALID", "explode"),
        ({"operation": "scan"}, "ERR_OPERATION_INVALID", "does not offer"),
        ({"status": "on holiday"}, "unknown status", "on_holiday"),
        ({"tenant": "a\nb"}, "ERR_TENANT_INVALID", "control"),
        ({"collection": "c" * 300}, "ERR_COLLECTION_INVALID", "255"),
    ],
)
def test_a_row_no_job_can_be_made_of_is_skipped_with_the_reason(
    values: dict[str, object], reason: str, word: str
) -> None:
    """One bad row costs one row."""
    found = skipped(**values)

    assert found.row == "1"
    assert found.reason == reason
    assert word in found.detail


def test_a_text_row_without_text_is_skipped() -> None:
    """There is nothing to ingest."""
    assert skipped(ItemType.CONTENT, text="").detail == "content is empty"


def test_a_tag_in_another_encoding_skips_its_row() -> None:
    """It could not be stored as JSON."""
    assert skipped(ItemType.CONTENT, main_tag="\udcff").reason == "ERR_PAYLOAD_INVALID"


def test_what_is_larger_than_the_limits_is_skipped() -> None:
    """The limits of a submit hold here too."""
    text = outcome(a_row(ItemType.CONTENT, text="x" * 2000), payload_bytes_max=1000)
    metadata = outcome(a_row(metadata=json.dumps({"a": "x" * 2000})), metadata_bytes_max=1000)

    assert isinstance(text, Skip)
    assert isinstance(metadata, Skip)
    assert (text.reason, metadata.reason) == ("ERR_PAYLOAD_TOO_LARGE", "ERR_METADATA_TOO_LARGE")


def test_the_same_row_becomes_the_same_job() -> None:
    """Whenever it is read and whatever else has changed in it."""
    first, again = job(priority=1), job(priority=9, status="done")
    others = [
        job(id=2),
        job(id="1"),
        job(ItemType.CONTENT),
        mapped_as("other source", a_row()),
    ]

    assert first.job.id == again.job.id
    assert len({first.job.id, *(other.job.id for other in others)}) == 5


def mapped_as(source: str, row: LegacyRow) -> LegacyJob:
    found = job_of(row, source=source, now=NOW, rules=Rules())
    assert isinstance(found, Mapped)
    return found.job

"""Our own jobs in the documented words: the message in a list, the fields of a job's hash."""

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.intake.messages import Declared, Place, translate
from penstock.model.catalogue import LOCAL_TENANT
from penstock.model.codes import CODES
from penstock.model.errors import ErrorReport
from penstock.model.instants import instant_of
from penstock.model.jobs import Job, JobId, NewJob, Operation
from penstock.model.messages import Message, Refusal, read_message
from penstock.model.options import Options, Origin
from penstock.model.payloads import (
    Content,
    DeleteDocument,
    DeleteTenant,
    File,
    Folder,
    ItemType,
    Library,
    Payload,
    Project,
    Rename,
)
from penstock.model.provenance import Provenance, provenance_of
from penstock.model.records import Yield
from penstock.model.states import State
from penstock.model.statuses import STATUS_FIELDS, message_of, status_fields
from tests.house.tree import TOP
from tests.support.messages import QUEUE, WORKER

AT = 1_736_540_130.123


def new_job(payload: Payload, **given: Any) -> NewJob:
    return NewJob(tenant=LOCAL_TENANT, collection="policies_rag", payload=payload, **given)


def bytes_of(job: NewJob) -> bytes:
    return msgspec.json.encode(message_of(job, submitted_at=AT))


def a_job(**given: Any) -> Job:
    known: dict[str, Any] = {
        "id": JobId("rag-policies_rag-1704882600-a7b2c3d4"),
        "item_type": ItemType.FILE,
        "op": Operation.INGEST,
        "tenant": LOCAL_TENANT,
        "collection": "policies_rag",
        "priority": 5,
        "state": State.READY,
        "payload_json": "{}",
        "idempotency_key": "k",
        "subject": "s",
        "created_at": AT,
        "updated_at": AT,
    }
    return Job(**known | given)


def test_a_job_is_shown_as_the_page_documents_it() -> None:
    """Every documented field with its documented name and kind, in the page's order, then ours."""
    job = new_job(File(file_path="/srv/a b/My Policy.PDF"))
    message = json.loads(bytes_of(job))

    assert list(message)[: len(QUEUE)] == list(QUEUE)
    assert {name: type(value) for name, value in message.items() if name in QUEUE} == {
        name: type(value) for name, value in QUEUE.items()
    }
    assert message["source_type"] == "pdf"
    assert message["filename"] == "My Policy.PDF"
    assert message["submitted_at"] == "2025-01-10T20:15:30.123Z"
    assert message["submitted_by"] == "cli"
    assert message["options"] == QUEUE["options"]


ODD_PAYLOADS: list[Payload] = [
    Content(content="x" * 100_000, main_tag="notes"),
    Folder(folder_path="/srv"),
    Project(project_root="/srv/code"),
    Library(library_name="numpy", source_url="https://numpy.org"),
    DeleteDocument(document_id="/srv/a.pdf"),
    DeleteTenant(tenant_id_to_delete=LOCAL_TENANT),
    Rename(old_path="/a", new_path="/b"),
]
OPERATIONS = {DeleteDocument: Operation.DELETE, DeleteTenant: Operation.DELETE, Rename: Operation.UPDATE}


@pytest.mark.parametrize("payload", ODD_PAYLOADS, ids=lambda payload: type(payload).__name__)
def test_jobs_about_other_things_are_shown_too_and_never_taken_for_files(payload: Payload) -> None:
    """An outsider reads them; nobody who finds one again can mistake it for a file's ingest."""
    job = new_job(payload, op=OPERATIONS.get(type(payload), Operation.INGEST))
    data = bytes_of(job)

    refusal = read_message(data)
    assert len(data) < 1000
    assert isinstance(refusal, Refusal)
    assert refusal.code == "ERR_OPERATION_INVALID"


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=40)


@given(
    name=NAMES.filter(lambda name: name not in (".", "..")),
    priority=st.integers(0, 10),
    max_retries=st.integers(0, 100),
    switches=st.tuples(st.booleans(), st.booleans()),
    origin=st.sampled_from(Origin),
)
def test_a_files_message_reads_back_as_it_was_written(
    name: str, priority: int, max_retries: int, switches: tuple[bool, bool], origin: Origin
) -> None:
    """Whatever a file is called and however it is to be treated."""
    options = Options(skip_validation=switches[0], preserve_metadata=switches[1], origin=origin)
    job = new_job(
        File(file_path=f"/srv/{name}"),
        priority=priority,
        max_retries=max_retries,
        metadata=options.as_metadata(),
    )
    message = read_message(bytes_of(job))

    assert isinstance(message, Message), message
    assert (message.id, message.path, message.filename) == (job.id, f"/srv/{name}", name)
    assert (message.collection, message.tenant) == (job.collection, job.tenant)
    assert (message.priority, message.max_retries) == (priority, max_retries)
    assert (message.skip_validation, message.preserve_metadata) == switches
    assert message.submitted_at == instant_of("2025-01-10T20:15:30.123Z")
    assert message.extra == {}


@given(
    extra=st.dictionaries(
        st.sampled_from(["a", "department", "payload_v3"]), st.integers() | st.text("ab"), max_size=3
    ),
    trace=st.none() | st.just("4bf92f3577b34da6a3ce929d0e0e4736"),
    retries=st.integers(0, 3),
    reindex=st.booleans(),
)
def test_a_strangers_message_that_became_a_job_is_shown_as_it_came(
    extra: dict[str, Any], trace: str | None, retries: int, reindex: bool
) -> None:
    """What it said of itself is in the message of its job, unknown fields and options included."""
    small = {name: value for name, value in extra.items() if isinstance(value, str) or abs(value) < 1 << 63}
    fields = QUEUE | small | {"retry_count": retries, "options": QUEUE["options"] | {"reindex": reindex}}
    if trace:
        fields["trace_id"] = trace
    fields["submitted_at"] = "2025-01-10T20:15:30.123Z"
    incoming = QUEUE["source_path"].rsplit("/", 1)[0]
    places = (Place(collection="policies_rag", tenant=LOCAL_TENANT, incoming=incoming),)
    job = translate(json.dumps(fields).encode(), Declared(places=places))

    assert isinstance(job, NewJob), job
    shown = message_of(job, submitted_at=AT + 99)
    assert {name: shown[name] for name in fields} == fields


def test_the_hash_holds_every_documented_field_and_no_other() -> None:
    """While a job waits, what is not known yet is the empty text."""
    fields = status_fields(a_job(), filename="my_policy.pdf")

    assert tuple(fields) == STATUS_FIELDS
    assert fields == {
        "job_id": "rag-policies_rag-1704882600-a7b2c3d4",
        "rag_id": "policies_rag",
        "filename": "my_policy.pdf",
        "status": "queued",
        "submitted_at": "2025-01-10T20:15:30.123Z",
        "started_at": "",
        "completed_at": "",
        "duration_seconds": "",
        "chunks_created": "0",
        "embeddings_generated": "0",
        "tokens_used": "0",
        "error": "",
        "error_type": "",
        "retry_count": "0",
    }


def test_the_hash_of_a_done_job_tells_what_it_made() -> None:
    """The numbers of the page's example."""
    job = a_job(state=State.DONE, started_at=AT + 5, finished_at=AT + 30)
    fields = status_fields(job, filename="a", made=Yield(chunks=21, embeddings=21, tokens=5432))

    assert fields["status"] == "done"
    assert fields["started_at"] == "2025-01-10T20:15:35.123Z"
    assert fields["completed_at"] == "2025-01-10T20:16:00.123Z"
    assert fields["duration_seconds"] == "25"
    assert (fields["chunks_created"], fields["embeddings_generated"], fields["tokens_used"]) == (
        "21",
        "21",
        "5432",
    )


def test_the_hash_of_a_failed_job_tells_why() -> None:
    """The family of the error is the documented word."""
    error = ErrorReport(code="ERR_PDF_INVALID", message="PDF header corrupted or invalid")
    fields = status_fields(a_job(state=State.FAILED, error=error, retry_count=3, finished_at=AT + 1))

    assert fields["status"] == "failed"
    assert (fields["error"], fields["error_type"]) == ("PDF header corrupted or invalid", "ParseError")
    assert (fields["retry_count"], fields["completed_at"]) == ("3", "")


@pytest.mark.parametrize("state", State)
def test_every_state_has_its_documented_word(state: State) -> None:
    """No other word than the page's five is ever shown."""
    words = {"submitted", "queued", "processing", "done", "failed"}

    assert status_fields(a_job(state=state))["status"] in words


def test_a_message_that_coalesced_mirrors_the_job_it_joined() -> None:
    """Its own hash, under its own id, with the other's fate."""
    fields = status_fields(a_job(state=State.LEASED), mirror=JobId("second"))

    assert (fields["job_id"], fields["status"]) == ("second", "processing")


def test_the_hash_shows_the_submitters_own_time_and_name() -> None:
    """What the message said counts, not when we took it in."""
    told = Provenance(filename="their name.pdf", submitted_at=AT - 60).as_metadata()
    fields = status_fields(a_job(metadata_json=json.dumps(told)))

    assert fields["filename"] == "their name.pdf"
    assert fields["submitted_at"] == "2025-01-10T20:14:30.123Z"


@pytest.mark.parametrize(
    "metadata",
    [
        "{}",
        "",
        "[1]",
        '{"message": 3}',
        '{"trace_id": 7}',
        '{"message": {"submitted_at": 1e999, "retry_count": -1}}',
        '{"message": {"submitted_at": ' + "9" * 400 + "}}",
        '{"message": {"submitted_at": "x", "retry_count": true, "extra": 1}}',
    ],
)
def test_metadata_of_others_says_nothing_of_a_message(metadata: str) -> None:
    """A row written by hand may hold anything."""
    assert provenance_of(metadata) == Provenance()


def test_the_page_names_every_field_and_every_refusal() -> None:
    """What a program reads there is what it will meet."""
    page = (TOP / "docs/reference/redis-messages.md").read_text(encoding="utf-8").replace("```", "")
    named = {word for words in re.findall(r"`([^`]+)`", page) for word in re.split(r"[,{} …]+", words)}

    assert {
        *QUEUE,
        *WORKER,
        *STATUS_FIELDS,
        *message_of(new_job(File(file_path="/a")), submitted_at=AT),
    } <= named
    assert {"ERR_MESSAGE_INVALID", "ERR_MESSAGE_VERSION"} <= named & set(CODES)

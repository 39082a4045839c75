"""Messages of other programs: two shapes are read, everything else is refused with its reason."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from penstock.model.codes import CODES
from penstock.model.messages import Message, Refusal, Terms, read_message
from penstock.model.strict_json import DEPTH_MAX
from tests.support.messages import QUEUE, SUBMITTED, WORKER


def read(fields: dict[str, Any]) -> Message | Refusal:
    return read_message(json.dumps(fields).encode())


def taken(fields: dict[str, Any]) -> Message:
    message = read(fields)
    assert isinstance(message, Message), message
    return message


def refused(data: bytes, terms: Terms | None = None) -> Refusal:
    refusal = read_message(data, terms or Terms())
    assert isinstance(refusal, Refusal), refusal
    assert refusal.code in CODES
    return refusal


def test_the_queue_contracts_message_is_read_whole() -> None:
    """Every documented field of the page's own example has its place."""
    assert taken(QUEUE) == Message(
        id=QUEUE["job_id"],
        collection="policies_rag",
        path=QUEUE["source_path"],
        source_type="pdf",
        filename="my_policy.pdf",
        submitted_at=SUBMITTED,
        submitted_by="cli",
    )


def test_the_worker_contracts_job_is_read_whole() -> None:
    """The second shape knows no collection; nanoseconds and a zone are understood."""
    assert taken(WORKER) == Message(
        id=WORKER["id"],
        path="/srv/files/report.pdf",
        filename="report.pdf",
        size=12,
        submitted_at=SUBMITTED - 3600,
        retry_count=1,
        priority=9,
        trace_id=WORKER["trace_id"],
        span_id=WORKER["span_id"],
    )


def test_optional_fields_have_their_documented_defaults() -> None:
    """A message of required fields alone, and nulls for the rest, mean the same."""
    needed = ("job_id", "rag_id", "source_path", "source_type", "filename", "submitted_at")
    bare = {name: QUEUE[name] for name in needed}
    nulls = dict.fromkeys(("submitted_by", "options", "retry_count", "max_retries", "priority", "version"))

    assert taken(bare) == taken(bare | nulls)
    assert taken({"id": "a", "filepath": "/f"}) == Message(
        id=taken({"id": "a", "filepath": "/f"}).id, path="/f", filename="f"
    )


def test_the_pages_retry_example_keeps_its_count() -> None:
    """A message that another worker pushed back has spent what it says; the last retry is still a right."""
    assert taken(QUEUE | {"retry_count": 2}).retry_count == 2
    assert taken(QUEUE | {"retry_count": 3}).retry_count == 3


def test_options_are_read_and_unknown_ones_are_kept() -> None:
    """What we do not understand stays with the job."""
    options = {"reindex": True, "skip_validation": True, "preserve_metadata": False, "ocr": "deu"}
    message = taken(QUEUE | {"options": options, "batch": {"of": 3}, "metadata": {"a": 1}})

    assert (message.reindex, message.skip_validation, message.preserve_metadata) == (True, True, False)
    assert message.extra == {"batch": {"of": 3}, "metadata": {"a": 1}, "options": {"ocr": "deu"}}


@pytest.mark.parametrize(
    "job_id", ["rag-policies_rag-1704882600-a7b2c3d4", "0190e5a0-7c3b-7000-8000-0123456789ab", "job:17", "7"]
)
def test_an_id_of_another_form_is_taken(job_id: str) -> None:
    """Ids are told apart by equality alone; many submitters use UUIDs."""
    assert taken(QUEUE | {"job_id": job_id}).id == job_id


@pytest.mark.parametrize(
    "priority", [("high", 9), ("low", 1), (7, 7), ("urgent", 8), ("", None), (None, None)]
)
def test_a_priority_is_a_number_or_a_name(priority: tuple[object, int | None]) -> None:
    """Documented names, configured ones, and 0 to 10."""
    given, number = priority
    terms = Terms(priorities={"urgent": 8, "bulk": 1})
    message = read_message(json.dumps(WORKER | {"priority": given}).encode(), terms)

    assert isinstance(message, Message)
    assert message.priority == number


def test_a_time_a_go_program_never_set_is_no_time() -> None:
    """Its zero value is year 1, which no store can hold."""
    assert taken(WORKER | {"creation_time": "0001-01-01T00:00:00Z"}).submitted_at is None


NOT_MESSAGES = {
    "empty": (b"", "not JSON"),
    "words": (b"hello", "not JSON"),
    "cut off": (json.dumps(QUEUE).encode()[:-1], "not JSON"),
    "two objects": (b"{}{}", "not JSON"),
    "byte order mark": (b"\xef\xbb\xbf{}", "not JSON"),
    "not UTF-8": (b'{"job_id": "\xff"}', "not UTF-8 at byte 12"),
    "UTF-16": (json.dumps(QUEUE).encode("utf-16"), "not UTF-8"),
    "a list": (b"[1]", "a list"),
    "a text": (b'"job"', "a text"),
    "null": (b"null", "null"),
    "a key twice": (b'{"job_id": "a", "job_id": "b"}', "'job_id' stands in the message twice"),
    "a key twice within": (b'{"job_id": "a", "options": {"reindex": true, "reindex": false}}', "'reindex'"),
    "NaN": (b'{"job_id": "a", "x": NaN}', "NaN"),
    "infinity": (b'{"job_id": "a", "x": -Infinity}', "-Infinity"),
    "endless float": (b'{"job_id": "a", "x": 1e999}', "'x'"),
    "huge whole number": (b'{"job_id": "a", "x": 9223372036854775808}', "64 bits"),
    "number without end": (b'{"job_id": "a", "x": ' + b"9" * 10_000 + b"}", "not JSON"),
    "half a surrogate pair": (b'{"job_id": "a", "x": "\\ud800"}', "surrogate"),
    "surrogate in a key": (b'{"job_id": "a", "x": {"\\udfff": 1}}', "surrogate"),
    "NUL": (b'{"job_id": "a", "x": ["\\u0000"]}', "NUL"),
    "deep": (b'{"job_id": ' + b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1) + b"}", "nested"),
    "bottomless": (b"[" * 200_000, "nested"),
    "neither shape": (b'{"hello": "world"}', "neither job_id"),
}


@pytest.mark.parametrize("case", NOT_MESSAGES)
def test_what_is_no_message_is_refused_with_its_reason(case: str) -> None:
    """Bytes that another reader would read otherwise, or not at all, are not believed."""
    data, words = NOT_MESSAGES[case]
    refusal = refused(data)

    assert refusal.code == "ERR_MESSAGE_INVALID"
    assert words in refusal.message


WRONG_FIELDS: dict[str, tuple[dict[str, Any], str, str]] = {
    "job id missing": ({"job_id": None}, "ERR_MESSAGE_INVALID", "job_id is missing"),
    "job id a number": ({"job_id": 7}, "ERR_MESSAGE_INVALID", "job_id is not a text"),
    "job id empty": ({"job_id": ""}, "ERR_MESSAGE_INVALID", "job_id is empty"),
    "job id with a space": ({"job_id": "a b"}, "ERR_JOB_ID_INVALID", "job_id 'a b'"),
    "job id with a newline": ({"job_id": "a\n"}, "ERR_JOB_ID_INVALID", "job_id"),
    "job id too long": ({"job_id": "a" * 201}, "ERR_JOB_ID_INVALID", "job_id"),
    "job id of an expiry key": ({"job_id": "a:ttl"}, "ERR_JOB_ID_INVALID", ":ttl"),
    "rag id missing": ({"rag_id": None}, "ERR_MESSAGE_INVALID", "rag_id is missing"),
    "rag id with a dash": ({"rag_id": "my-rag"}, "ERR_COLLECTION_INVALID", "letters, digits and _"),
    "rag id reserved": ({"rag_id": "high"}, "ERR_COLLECTION_INVALID", "priority"),
    "path missing": ({"source_path": None}, "ERR_MESSAGE_INVALID", "source_path is missing"),
    "path relative": ({"source_path": "a/b.pdf"}, "ERR_PATH_INVALID", "not absolute"),
    "path upwards": ({"source_path": "/data/../etc/passwd"}, "ERR_PATH_INVALID", "plain form"),
    "path with dots only": ({"source_path": "/data/.."}, "ERR_PATH_INVALID", "plain form"),
    "path too long": ({"source_path": "/" + "x" * 5000}, "ERR_PATH_INVALID", "longer"),
    "type missing": ({"source_type": None}, "ERR_MESSAGE_INVALID", "source_type is missing"),
    "type no word": ({"source_type": "../x"}, "ERR_MESSAGE_INVALID", "source_type"),
    "name missing": ({"filename": None}, "ERR_MESSAGE_INVALID", "filename is missing"),
    "name a path": ({"filename": "../../etc/cron.d/x"}, "ERR_MESSAGE_INVALID", "filename"),
    "name dots": ({"filename": ".."}, "ERR_MESSAGE_INVALID", "filename"),
    "name too long": ({"filename": "ü" * 128}, "ERR_MESSAGE_INVALID", "filename"),
    "time missing": ({"submitted_at": None}, "ERR_MESSAGE_INVALID", "submitted_at is missing"),
    "time a number": ({"submitted_at": 1704882600}, "ERR_MESSAGE_INVALID", "submitted_at is not a text"),
    "time in words": ({"submitted_at": "yesterday"}, "ERR_MESSAGE_INVALID", "submitted_at is no time"),
    "time of no day": ({"submitted_at": "2025-02-30T00:00:00Z"}, "ERR_MESSAGE_INVALID", "submitted_at"),
    "time too early": ({"submitted_at": "1960-01-01T00:00:00Z"}, "ERR_MESSAGE_INVALID", "submitted_at"),
    "time too late": ({"submitted_at": "9999-12-31T23:59:59-10:00"}, "ERR_MESSAGE_INVALID", "submitted_at"),
    "submitter a list": ({"submitted_by": []}, "ERR_MESSAGE_INVALID", "submitted_by is not a text"),
    "submitter with a newline": ({"submitted_by": "a\nb"}, "ERR_MESSAGE_INVALID", "submitted_by"),
    "options a text": ({"options": "reindex"}, "ERR_MESSAGE_INVALID", "options is not an object"),
    "option a number": ({"options": {"reindex": 1}}, "ERR_MESSAGE_INVALID", "options.reindex is not true"),
    "retries a text": ({"retry_count": "1"}, "ERR_MESSAGE_INVALID", "retry_count is not a whole number"),
    "retries true": ({"retry_count": True}, "ERR_MESSAGE_INVALID", "retry_count"),
    "retries half": ({"retry_count": 1.5}, "ERR_MESSAGE_INVALID", "retry_count"),
    "retries negative": ({"retry_count": -1}, "ERR_MESSAGE_INVALID", "retry_count"),
    "more retries than allowed": ({"retry_count": 4}, "ERR_MESSAGE_INVALID", "more than max_retries"),
    "retries without end": ({"max_retries": 101}, "ERR_MESSAGE_INVALID", "max_retries"),
    "priority unknown": ({"priority": "soon"}, "ERR_PRIORITY_INVALID", "priority"),
    "priority too high": ({"priority": 11}, "ERR_PRIORITY_INVALID", "priority"),
    "priority a list": ({"priority": [9]}, "ERR_PRIORITY_INVALID", "priority"),
    "priority of digits": ({"priority": "9" * 5000}, "ERR_PRIORITY_INVALID", "priority"),
    "trace a number": ({"trace_id": 1}, "ERR_MESSAGE_INVALID", "trace_id"),
    "version unknown": ({"version": 2}, "ERR_MESSAGE_VERSION", "version '2'"),
    "version a text": ({"version": "1.0"}, "ERR_MESSAGE_VERSION", "version"),
    "another item type": ({"item_type": "delete_tenant"}, "ERR_OPERATION_INVALID", "delete_tenant"),
    "another operation": ({"item_type": "file", "op": "delete"}, "ERR_OPERATION_INVALID", "delete"),
}


@pytest.mark.parametrize("case", WRONG_FIELDS)
def test_a_wrong_field_is_refused_by_its_name(case: str) -> None:
    """A refusal says which field, so that whoever wrote it can mend it."""
    change, code, words = WRONG_FIELDS[case]
    refusal = refused(json.dumps(QUEUE | change).encode())

    assert (refusal.code, words in refusal.message) == (code, True), refusal


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": None}, "id is missing"),
        ({"filepath": None}, "filepath is missing"),
        ({"filepath": "/srv/../etc/shadow"}, "filepath"),
        ({"filesize": -1}, "filesize"),
        ({"retries": 4}, "retries"),
        ({"creation_time": "noon"}, "creation_time"),
    ],
)
def test_a_wrong_field_of_the_worker_contract_is_refused_by_its_name(
    change: dict[str, Any], words: str
) -> None:
    """The same holds for the second shape, in its own names."""
    assert words in refused(json.dumps(WORKER | change).encode()).message


@pytest.mark.parametrize(
    ("change", "job_id"),
    [
        ({"rag_id": None}, QUEUE["job_id"]),
        ({"version": 2}, QUEUE["job_id"]),
        ({"job_id": "a b"}, None),
        ({"job_id": None}, None),
    ],
)
def test_a_refusal_names_the_job_where_it_can(change: dict[str, Any], job_id: str | None) -> None:
    """So that whoever asks for that id's hash learns what became of the message."""
    assert refused(json.dumps(QUEUE | change).encode()).job_id == job_id


def test_a_message_over_the_limit_is_not_even_read() -> None:
    """The limit counts bytes, as the list does."""
    refusal = refused(json.dumps(QUEUE).encode(), Terms(bytes_max=100))

    assert refusal.code == "ERR_PAYLOAD_TOO_LARGE"


def test_an_object_of_a_hundred_thousand_keys_is_refused_quickly() -> None:
    """A duplicate at the very end costs one pass, not one for every key."""
    keys = ",".join(f'"{number}":1' for number in range(100_000))

    assert "twice" in refused(f'{{{keys},"99999":2}}'.encode(), Terms(bytes_max=1 << 24)).message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.binary(max_size=300))
@example(b"\xed\xa0\x80")
def test_any_bytes_give_a_message_or_a_refusal(data: bytes) -> None:
    """Never an exception: one bad message must not cost a worker."""
    assert isinstance(read_message(data), Message | Refusal)


@given(
    st.sampled_from([QUEUE, WORKER]),
    st.dictionaries(st.sampled_from([*QUEUE, *WORKER, "version", "tenant_id", "item_type", "x"]), JSON),
)
def test_any_values_in_known_fields_give_a_message_or_a_refusal(
    whole: dict[str, Any], change: dict[str, Any]
) -> None:
    """A documented message with anything at all in its fields; what is taken can be written again."""
    message = read_message(json.dumps(whole | change).encode())

    assert isinstance(message, Message | Refusal)
    if isinstance(message, Message):
        json.dumps(dict(message.extra), ensure_ascii=False, allow_nan=False).encode()
    else:
        message.message.encode()

"""The documented idempotency key, hash by hash, and the subject that orders jobs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.model.fingerprints import hash16, idempotency_key, subject_of
from penstock.model.payloads import (
    Content,
    DeleteDocument,
    DeleteTenant,
    File,
    Folder,
    Library,
    Payload,
    Project,
    Rename,
)

# The hashes were made with another program (sha256sum), so that both cannot be wrong together.
KEYS: list[tuple[Payload, str]] = [
    (Content(content="hello world"), "content:notes:b94d27b9934d3e08"),
    (Content(content="Grüße, 世界"), "content:notes:49837434716aa6f6"),
    (File(file_path="/data/report.pdf"), "file:notes:cc2a1b3021830515"),
    (Folder(folder_path="/data"), "folder:notes:bd47413b5c03dfc6"),
    (Project(project_root="/repo/penstock"), "project:notes:0bd1c68e2805371f"),
    (Library(library_name="qdrant-client", library_version="1.15.0"), "library:notes:3b75bfc17d6723f5"),
    (Library(library_name="qdrant-client"), "library:notes:3f5f1c864a528a1d"),
    (DeleteTenant(tenant_id_to_delete="acme"), "delete_tenant:notes:822b33ad87c148a0"),
    (DeleteDocument(document_id="doc-7"), "delete_document:notes:0a57ab62a588ec8f"),
    (Rename(old_path="/a/old.txt", new_path="/a/new.txt"), "rename:notes:1fa450c15492e350"),
]

SUBJECTS: list[tuple[Payload, str]] = [
    (Content(content="hello world"), "content:notes:b94d27b9934d3e08"),
    (File(file_path="/data/report.pdf"), "path:notes:/data/report.pdf"),
    (Folder(folder_path="/data"), "path:notes:/data"),
    (Project(project_root="/repo/penstock"), "path:notes:/repo/penstock"),
    (Library(library_name="qdrant-client", library_version="1.15.0"), "library:notes:3b75bfc17d6723f5"),
    (DeleteTenant(tenant_id_to_delete="acme"), "delete_tenant"),
    (DeleteDocument(document_id="doc-7"), "document:doc-7"),
    (DeleteDocument(document_id="/data/report.pdf"), "path:notes:/data/report.pdf"),
    (Rename(old_path="/a/old.txt", new_path="/a/new.txt"), "path:notes:/a/old.txt"),
]


@pytest.mark.parametrize(("payload", "key"), KEYS, ids=[key for _, key in KEYS])
def test_the_key_has_the_documented_form(payload: Payload, key: str) -> None:
    """`{item_type}:{collection}:{first 16 hex digits of the SHA-256}`, as the page says."""
    assert idempotency_key("notes", payload) == key


def test_the_key_ignores_what_is_not_the_identifier() -> None:
    """Another size or hash of the same path is the same request again."""
    plain = File(file_path="/data/report.pdf")
    described = File(file_path="/data/report.pdf", file_type="document", size_bytes=7)

    assert idempotency_key("notes", plain) == idempotency_key("notes", described)


def test_the_key_tells_collections_apart() -> None:
    """The same path in two collections is two requests."""
    payload = File(file_path="/data/report.pdf")

    assert idempotency_key("notes", payload) != idempotency_key("drafts", payload)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_the_hash_is_always_16_hex_digits(text: str) -> None:
    """Whatever the text, the hash has the documented length and alphabet."""
    found = hash16(text)

    assert len(found) == 16
    assert set(found) <= set("0123456789abcdef")


@pytest.mark.parametrize(("payload", "subject"), SUBJECTS, ids=[subject for _, subject in SUBJECTS])
def test_the_subject_is_document_path_key_or_tenant(payload: Payload, subject: str) -> None:
    """Without a document id the subject is the path, else the key, else the tenant."""
    assert subject_of("notes", payload) == subject


@pytest.mark.parametrize("payload", [payload for payload, _ in KEYS], ids=[key for _, key in KEYS])
def test_a_known_document_is_the_subject(payload: Payload) -> None:
    """Whatever the payload, a document id orders the job by its document."""
    assert subject_of("notes", payload, "doc-7") == "document:doc-7"


def test_ingest_rename_and_delete_of_a_path_share_a_subject() -> None:
    """Three keys, one thing they touch."""
    path = "/data/report.pdf"
    payloads: list[Payload] = [
        File(file_path=path),
        Rename(old_path=path, new_path="/data/other.pdf"),
        DeleteDocument(document_id=path),
    ]

    assert len({subject_of("notes", payload) for payload in payloads}) == 1
    assert len({idempotency_key("notes", payload) for payload in payloads}) == 3

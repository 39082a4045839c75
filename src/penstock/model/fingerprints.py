"""Two names of a job's object: the documented idempotency key, and the subject it is ordered by.

The key says "this is the same request again" and keeps the documented form. The subject says "these two
requests touch the same thing and must run one after the other": a rename, a delete by path and a file's
ingest have different keys and one subject. A rename is on a second path, the new one, which the database
alone minds. Key and subject are also computed by the database for rows written by hand, so a change here is
a change of schema.
"""

from __future__ import annotations

from hashlib import sha256
from typing import assert_never

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
    item_type_of,
)


def hash16(text: str) -> str:
    """The first 16 hex digits of the SHA-256 of a text."""
    return sha256(text.encode()).digest()[:8].hex()


def identifier_of(payload: Payload) -> str:
    """What the documented key is a hash of."""
    match payload:
        case Content():
            return payload.content
        case File():
            return payload.file_path
        case Folder():
            return payload.folder_path
        case Project():
            return payload.project_root
        case Library():
            return f"{payload.library_name}:{payload.library_version}"
        case DeleteTenant():
            return payload.tenant_id_to_delete
        case DeleteDocument():
            return payload.document_id
        case Rename():
            return f"{payload.old_path}:{payload.new_path}"
        case _:
            assert_never(payload)


def idempotency_key(collection: str, payload: Payload) -> str:
    """`{item_type}:{collection}:{hash16}`, as documented."""
    return f"{item_type_of(payload).value}:{collection}:{hash16(identifier_of(payload))}"


def subject_of(collection: str, payload: Payload, document_id: str | None = None) -> str:
    """What a job is ordered by within its tenant: document, else path, else the key, else the tenant."""
    if document_id is not None:
        return f"document:{document_id}"
    match payload:
        case File():
            return f"path:{collection}:{payload.file_path}"
        case Folder():
            return f"path:{collection}:{payload.folder_path}"
        case Project():
            return f"path:{collection}:{payload.project_root}"
        case Rename():
            return f"path:{collection}:{payload.old_path}"
        case DeleteDocument() if payload.document_id.startswith("/"):
            return f"path:{collection}:{payload.document_id}"
        case DeleteDocument():
            return f"document:{payload.document_id}"
        case DeleteTenant():
            return ItemType.DELETE_TENANT.value
        case Content() | Library():
            return idempotency_key(collection, payload)
        case _:
            assert_never(payload)

"""The legacy tables, and the names under which their columns go.

Their layouts were never documented and differ between releases, so a column is known by what it is called.
The first name of a role that a table has is the one that is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from penstock.model.payloads import ItemType


class Role(StrEnum):
    """What a column says about a job."""

    PATH = "path"
    TEXT = "text"
    COLLECTION = "collection"
    TENANT = "tenant"
    OPERATION = "operation"
    PRIORITY = "priority"
    STATUS = "status"
    RETRIES = "retries"
    RETRIES_MAX = "retries_max"
    ERROR = "error"
    ERROR_REFERENCE = "error_reference"
    """The id of a row in a table of messages."""
    ERROR_AT = "error_at"
    CREATED = "created"
    UPDATED = "updated"
    STARTED = "started"
    FINISHED = "finished"
    DUE = "due"
    BRANCH = "branch"
    METADATA = "metadata"
    SOURCE_TYPE = "source_type"
    MAIN_TAG = "main_tag"
    FULL_TAG = "full_tag"
    FILE_TYPE = "file_type"
    FILE_HASH = "file_hash"
    SIZE = "size"
    ID = "id"


NAMES: Mapping[Role, tuple[str, ...]] = MappingProxyType(
    {
        Role.PATH: ("file_absolute_path", "file_path", "absolute_path", "path", "filepath", "full_path"),
        Role.TEXT: ("content", "text", "content_text", "body"),
        Role.COLLECTION: ("collection", "collection_name", "target_collection"),
        Role.TENANT: ("tenant_id", "tenant", "project_id", "project"),
        Role.OPERATION: ("operation", "op", "op_type", "action"),
        Role.PRIORITY: ("priority",),
        Role.STATUS: ("status", "state"),
        Role.RETRIES: ("retry_count", "retries", "attempts", "attempt_count"),
        Role.RETRIES_MAX: ("max_retries", "max_attempts"),
        Role.ERROR: ("error_message", "last_error", "error", "error_text", "error_details", "failure_reason"),
        Role.ERROR_REFERENCE: ("error_message_id", "error_id"),
        Role.ERROR_AT: ("last_error_at", "error_at", "last_error_timestamp", "failed_at"),
        Role.CREATED: (
            "created_at",
            "queued_timestamp",
            "queued_at",
            "enqueued_at",
            "created_timestamp",
            "created",
            "inserted_at",
            "added_at",
            "timestamp",
        ),
        Role.UPDATED: ("updated_at", "updated_timestamp", "modified_at", "last_updated"),
        Role.STARTED: ("started_at", "processing_started_at"),
        Role.FINISHED: ("completed_at", "finished_at", "processed_at", "done_at"),
        Role.DUE: ("next_run_at", "next_retry_at", "retry_from", "retry_at", "scheduled_at", "run_after"),
        Role.BRANCH: ("branch", "git_branch"),
        Role.METADATA: ("metadata", "metadata_json", "meta", "extra"),
        Role.SOURCE_TYPE: ("source_type",),
        Role.MAIN_TAG: ("main_tag",),
        Role.FULL_TAG: ("full_tag",),
        Role.FILE_TYPE: ("file_type",),
        Role.FILE_HASH: ("file_hash",),
        Role.SIZE: ("size_bytes", "file_size", "size"),
        Role.ID: ("queue_id", "id", "item_id", "job_id", "task_id", "uuid", "content_hash"),
    }
)
"""Every role, and its names in the order in which they are looked for."""

MIGRATED: Mapping[str, ItemType] = MappingProxyType(
    {"ingestion_queue": ItemType.FILE, "content_ingestion_queue": ItemType.CONTENT}
)
"""The tables whose rows become jobs, and of which type."""

REPORTED: tuple[str, ...] = ("processing_queue", "missing_metadata_queue", "cumulative_deletions_queue")
"""The tables that are only counted and marked."""

LEGACY_TABLES: tuple[str, ...] = (*MIGRATED, *REPORTED)

REQUIRED: Mapping[ItemType, Role] = MappingProxyType({ItemType.FILE: Role.PATH, ItemType.CONTENT: Role.TEXT})
"""Without this column a table says nothing a job could be made of."""

MESSAGES = "messages"
MESSAGE_TEXTS = ("error_message", "message", "text")
"""Where some releases keep error texts, by id, and what the text is called there."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def plain_name(column: str) -> str:
    """A column's name as the table above spells it: `filePath` and `FILE_PATH` are `file_path`."""
    return _HUMP.sub("_", column).lower()

"""The documents of `penstock dlq`."""

from __future__ import annotations

from typing import TypedDict

from penstock.doors.cli.shapes import SkippedFacts


class LetterFacts(TypedDict):
    """A dead letter without its message; `queue` is the list it lies in, null where that is the database."""

    id: str
    job_id: str | None
    code: str | None
    reason: str | None
    failed_at: str | None
    queue: str | None
    origin_queue: str | None
    bytes: int


class LetterDetails(LetterFacts):
    """A dead letter with its message: as text, or in base64 where the bytes are none.

    Of one too large for a letter only the beginning; `message_key` names the key that holds its bytes.
    """

    message: str | None
    message_base64: str | None
    message_key: str | None


class LetterList(TypedDict):
    """A page of letters, the latest first; `next_before` is the `--before` of the next page."""

    letters: list[LetterFacts]
    next_before: str | None


class LetterReplay(TypedDict):
    """What a replay came to.

    `how` is `created`, `existing` or `coalesced` where a job runs again as `new`, `pushed` where the message
    went back to its list, `before` where that was done already; null in a dry run.
    """

    id: str
    job_id: str | None
    new: str | None
    how: str | None


class Replayed(TypedDict):
    """What was replayed, and what could not be."""

    letters: list[LetterReplay]
    skipped: list[SkippedFacts]
    dry_run: bool


class Purged(TypedDict):
    """How many letters were removed, or would be."""

    removed: int
    before: str | None
    dry_run: bool

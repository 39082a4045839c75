"""Requests that may be sent again: by a key of the sender's own, the same request gets the same answer.

A lost answer leaves its sender not knowing whether anything was done. With a key he may simply ask again: the
answer is kept in the transaction that did the work, so either both are there or neither is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from penstock.model.errors import Refused

KEPT_SECONDS = 24 * 3600.0
KEPT_MAX = 10_000
"""Answers kept of one user; of more, the oldest are forgotten."""
BODY_BYTES_MAX = 1_048_576
_KEY = re.compile(r"[!-~]{1,200}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """What a request was answered."""

    status: int
    body: bytes


def request_key(told: str) -> str:
    """A key as it may be; Refused if it is none."""
    if not _KEY.fullmatch(told):
        raise Refused(
            "an idempotency key has 1 to 200 printable characters without spaces",
            code="ERR_IDEMPOTENCY_KEY_INVALID",
        )
    return told


def fingerprint_of(*parts: str | bytes) -> str:
    """By which a request is known again: what it asks of what, each part apart from its neighbours."""
    digest = sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8))
        digest.update(data)
    return digest.hexdigest()

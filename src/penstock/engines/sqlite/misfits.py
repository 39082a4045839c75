"""Chunks that have another text's vector, or what is no vector at all: found by reading every one.

A vector is kept by a hash of the text it was made from, so a chunk and its vector can be held against each
other without a model. What a vector says cannot be known that way, but it must have length one.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from penstock.engines.sqlite.statements import sql
from penstock.model.jobs import TenantId
from penstock.model.stored_json import stored_words
from penstock.model.vector_keys import vector_keys

PORTION = 1000
LENGTH_SLACK = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """A chunk that does not go with its vector: where it is."""

    version: int
    document: str
    name: str


def misfits(db: sqlite3.Connection, after: int) -> tuple[list[Misfit], int | None]:
    """Those among the next chunks, and the last of these; None where there are no more."""
    rows = db.execute(sql("audit_chunk_texts"), {"after": after, "limit": PORTION}).fetchall()
    found = [
        Misfit(version=version, document=document, name=name)
        for _, version, document, name, *chunk in rows
        if not _fits(*chunk)
    ]
    return found, rows[-1][0] if rows else None


def is_unit(vector: bytes) -> bool:
    """Whether these bytes are numbers of length one."""
    import numpy as np  # here, because most commands never need it

    numbers = np.frombuffer(vector[: len(vector) // 4 * 4], "<f4").astype(np.float64)
    return bool(abs(np.sqrt(numbers @ numbers) - 1.0) <= LENGTH_SLACK)


def _fits(tenant: str, headings_json: str, text: str, key: bytes, vector: bytes) -> bool:
    headings = stored_words(headings_json)
    return headings is not None and key in vector_keys(headings, text, TenantId(tenant)) and is_unit(vector)

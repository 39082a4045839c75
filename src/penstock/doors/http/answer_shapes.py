"""What the API takes about searches and answers."""

from __future__ import annotations

from pydantic import Field

from penstock.answer.grounding import SOURCES_MAX
from penstock.doors.http.shapes import NAME_MAX, Asked
from penstock.model.conversations import SCOPE_NAMES_MAX

TOP_MAX = 100


class Filtered(Asked):
    """What a search is narrowed to; nothing given is everything the workspace has."""

    collections: list[str] = Field(default=[], max_length=SCOPE_NAMES_MAX)
    documents: list[str] = Field(default=[], max_length=SCOPE_NAMES_MAX)
    path: str | None = Field(default=None, max_length=4_096)
    metadata: dict[str, str | int | float | bool | None] = Field(default={}, max_length=20)


class QueryAsked(Asked):
    """A question to be answered from one workspace, or from one collection of it."""

    question: str = Field(min_length=1, max_length=1_000_000)
    workspace_id: str | None = Field(default=None, max_length=100)
    collection: str | None = Field(default=None, max_length=NAME_MAX)
    top_k: int = Field(default=8, ge=1, le=SOURCES_MAX, description="Sources an answer may have.")
    threshold: float = Field(default=0.0, ge=0.0, le=1.0, description="The least cosine a source may have.")
    quote: bool = Field(default=False, description="Quote passages, and ask no language model.")
    filters: Filtered = Filtered()


class SearchAsked(Asked):
    """Words to search for."""

    query: str = Field(min_length=1, max_length=1_000_000)
    top_k: int = Field(default=8, ge=1, le=TOP_MAX)
    threshold: float = Field(default=0.0, ge=0.0, le=1.0, description="The least cosine a hit may have.")
    filters: Filtered = Filtered()

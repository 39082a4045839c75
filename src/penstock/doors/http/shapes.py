"""What the API says and takes, as its reference shows it; the names are promises.

Here is what all of it shares, and what is about people, workspaces and collections.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from penstock.model.accounts import NAME_CHARACTERS_MAX

NAME_MAX = 255


class Said(BaseModel):
    """What we say."""

    model_config = ConfigDict(frozen=True)


class Asked(BaseModel):
    """What we are told; a word nobody knows is refused, for it may be a misspelt one."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=1_000_000, allow_inf_nan=False)


class FieldProblem(Said):
    """A field that is wrong."""

    field: str
    message: str


class Problem(Said):
    """A problem document (RFC 9457); `code` is stable, `detail` is for people."""

    type: str
    title: str
    status: int
    detail: str
    code: str
    suggestions: list[str]
    errors: list[FieldProblem] | None = None


class Me(Said):
    """Who asks."""

    user_id: str
    role: str
    proof: Literal["token", "ticket", "pass", "local"]
    expires_at: str | None


class TicketSaid(Said):
    """A word in place of a token, good once."""

    ticket: str
    expires_in: float


class WorkspaceSaid(Said):
    """A workspace."""

    id: str
    name: str
    created_at: str


class WorkspacePage(Said):
    """All workspaces of whoever asks."""

    items: list[WorkspaceSaid]


class WorkspaceAsked(Asked):
    """A workspace to be made, or its new name."""

    name: str = Field(min_length=1, max_length=4 * NAME_CHARACTERS_MAX)


class RecipeAsked(Asked):
    """What a collection wants otherwise than usual when its documents are made into chunks."""

    chunk_tokens: int | None = Field(default=None, description="No chunk has more tokens.")
    chunk_tokens_min: int | None = Field(default=None, description="A chunk with fewer joins its neighbour.")
    overlap_tokens: int | None = Field(default=None, description="Tokens repeated where a passage is cut.")


class CollectionAsked(Asked):
    """A collection to be made; another recipe than that of one that is there is refused."""

    name: str = Field(min_length=1, max_length=NAME_MAX)
    description: str = Field(default="", max_length=2_000)
    recipe: RecipeAsked = RecipeAsked()


class CollectionSaid(Said):
    """A collection by its recipe; `documents` counts them by state, `chunks` and `bytes` can be found."""

    name: str
    description: str
    created_at: str
    documents: dict[str, int]
    chunks: int
    bytes: int
    rebuilding: bool
    recipe: dict[str, Any]


class CollectionPage(Said):
    """All collections of a workspace."""

    items: list[CollectionSaid]

"""Rows of the catalogue as values of the model."""

from __future__ import annotations

from typing import Any

from penstock.engines.sqlite.times import seconds, seconds_or_none
from penstock.model.catalogue import (
    BlobId,
    Collection,
    CollectionId,
    Debt,
    DebtKind,
    Document,
    DocumentId,
    DocumentState,
    Generation,
    GenerationId,
    Source,
    Stage,
    StageId,
    StageKind,
    StageState,
    Version,
    VersionId,
    VersionState,
    WorkspaceId,
)
from penstock.model.errors import ErrorReport
from penstock.model.jobs import JobId, TenantId

Row = tuple[Any, ...]


def collection_of(row: Row) -> Collection:
    """A collection from a row of `collection_find` or `collection_list`."""
    return Collection(
        id=CollectionId(row[0]),
        workspace=WorkspaceId(row[1]),
        name=row[2],
        recipe_json=row[3],
        generation=GenerationId(row[4]),
        building=None if row[5] is None else GenerationId(row[5]),
        revision=row[6],
        description=row[7],
        created_at=seconds(row[8]),
    )


def generation_of(row: Row) -> Generation:
    """A generation from a row of `generation_find`."""
    return Generation(id=GenerationId(row[0]), collection=CollectionId(row[1]), recipe_json=row[2])


def document_of(row: Row) -> Document:
    """A document from a row of `document_facts`."""
    return Document(
        id=DocumentId(row[0]),
        tenant=TenantId(row[1]),
        workspace=WorkspaceId(row[2]),
        collection=CollectionId(row[3]),
        source=Source(row[4]),
        identity=row[5],
        name=row[6],
        state=DocumentState(row[7]),
        branch=row[8],
        title=row[9],
        media=row[10],
        blob=None if row[11] is None else BlobId(row[11]),
        size=row[12],
        version=None if row[13] is None else VersionId(row[13]),
        chunks=row[14],
        pages=row[15],
        metadata_json=row[16],
        error_stage=None if row[17] is None else StageKind(row[17]),
        error=_error_of(row[18], row[19]),
        hidden=bool(row[20]),
        created_at=seconds(row[21]),
        updated_at=seconds(row[22]),
        collection_name=row[23],
    )


def version_of(row: Row) -> Version:
    """A version from a row of `version_find`."""
    return Version(
        id=VersionId(row[0]),
        document=DocumentId(row[1]),
        generation=GenerationId(row[2]),
        blob=BlobId(row[3]),
        state=VersionState(row[4]),
        chunks=row[5],
    )


def stage_of(row: Row) -> Stage:
    """A stage from a row of `stage_list` or `stage_list_job`."""
    return Stage(
        id=StageId(row[0]),
        kind=StageKind(row[1]),
        document=DocumentId(row[2]),
        job=JobId(row[3]),
        state=StageState(row[4]),
        retry_count=row[5],
        next_run_at=seconds_or_none(row[6]),
        error=_error_of(row[7], row[8]),
        created_at=seconds(row[9]),
        updated_at=seconds(row[10]),
        finished_at=seconds_or_none(row[11]),
    )


def debt_of(row: Row) -> Debt:
    """A debt from a row of `debt_take`."""
    return Debt(id=row[0], kind=DebtKind(row[1]), about=row[2], details_json=row[3], tries=row[4])


def _error_of(code: str | None, message: str | None) -> ErrorReport | None:
    if code is None and message is None:
        return None
    return ErrorReport(code=code or "ERR_UNEXPECTED", message=message or "")

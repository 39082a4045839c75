"""From the names a person gives to what may be looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from penstock.model.catalogue import Collection, DocumentId, GenerationId, WorkspaceId
from penstock.model.errors import Refused
from penstock.model.passages import Scope
from penstock.model.recipes import kept_recipe
from penstock.ports.catalogue import Catalogue

NAMES_TOLD_MAX = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """What a person narrows a search to; nothing given is everything the workspace has."""

    collections: tuple[str, ...] = ()
    documents: tuple[DocumentId, ...] = ()
    path: str | None = None
    metadata: Mapping[str, object] = field(default_factory=dict)

    @property
    def are_narrow(self) -> bool:
        """Whether they may leave out documents of a collection."""
        return bool(self.documents or self.path is not None or self.metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """Where a search looks, and whose vectors it will meet there."""

    scope: Scope
    collections: tuple[Collection, ...]
    models: Mapping[GenerationId, str]


async def ground_of(catalogue: Catalogue, workspace: WorkspaceId, filters: Filters) -> Ground | None:
    """The ground the filters name; None where the workspace has no collection at all.

    Refused, with the names there are, where a collection is unknown; likewise for a document.
    """
    there = await catalogue.collections(workspace)
    chosen = _chosen(there, filters.collections)
    for document in filters.documents:
        if await catalogue.document(workspace, document) is None:
            raise Refused(f"there is no document {document}", code="ERR_DOCUMENT_UNKNOWN")
    if not chosen:
        return None
    scope = Scope(
        workspace=workspace,
        collections=tuple(each.id for each in chosen),
        documents=filters.documents,
        path_prefix=filters.path,
        metadata=filters.metadata,
    )
    models = {each.generation: kept_recipe(each.recipe_json, each.name).model for each in chosen}
    return Ground(scope=scope, collections=tuple(chosen), models=models)


def _chosen(there: Sequence[Collection], names: Sequence[str]) -> list[Collection]:
    if not names:
        return list(there)
    by_name = {each.name: each for each in there}
    unknown = [name for name in names if name not in by_name]
    if unknown:
        raise Refused(
            f"there is no collection {unknown[0]!r}; {_those(by_name)}", code="ERR_COLLECTION_UNKNOWN"
        )
    return [by_name[name] for name in dict.fromkeys(names)]


def _those(by_name: Mapping[str, Collection]) -> str:
    if not by_name:
        return "there is none yet"
    told = sorted(by_name)[:NAMES_TOLD_MAX]
    more = len(by_name) - len(told)
    return f"there are {', '.join(told)}" + (f" and {more} more" if more else "")

"""Workspaces and their collections."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response, status

from penstock.doors.http.description import AS_THINGS_STAND
from penstock.doors.http.etags import (
    TAGGED_IF_UNCHANGED,
    UNLESS_KNOWN,
    check_unchanged,
    tagged,
    with_tag,
)
from penstock.doors.http.house import Admitting, Asker, Here, In
from penstock.doors.http.quotas import check_collections
from penstock.doors.http.repeats import Repeatable
from penstock.doors.http.shapes import (
    NAME_MAX,
    CollectionAsked,
    CollectionPage,
    CollectionSaid,
    WorkspaceAsked,
    WorkspacePage,
    WorkspaceSaid,
)
from penstock.model.accounts import Workspace
from penstock.model.catalogue import Collection
from penstock.model.errors import Refused
from penstock.model.requests import Answered, fingerprint_of
from penstock.ports.database import Transaction
from penstock.settings import RecipeChoice
from penstock.wiring.collections import maker

router = APIRouter(route_class=Admitting, prefix="/workspaces")
CollectionName = Annotated[str, Path(min_length=1, max_length=NAME_MAX, description="The collection's name.")]


@router.get("", tags=["workspaces"])
async def workspaces(asker: Asker, house: In) -> WorkspacePage:
    """All workspaces you own, oldest first."""
    there = await house.store.register.workspaces(asker.user)
    return WorkspacePage(items=[_workspace(each) for each in there])


@router.post("", tags=["workspaces"], status_code=status.HTTP_201_CREATED, response_model=WorkspaceSaid)
async def open_workspace(asker: Asker, house: In, asked: WorkspaceAsked, repeatable: Repeatable) -> Response:
    """Make a workspace."""
    return await repeatable.answered(
        fingerprint_of("open workspace", asked.name),
        status.HTTP_201_CREATED,
        lambda tx: _workspace(tx.accounts.open(asker.user, asked.name)),
    )


@router.get("/{workspace_id}", tags=["workspaces"], response_model=WorkspaceSaid, **UNLESS_KNOWN)
async def workspace(request: Request, here: Here) -> Response:
    """One workspace."""
    return tagged(request, _workspace(here))


@router.patch("/{workspace_id}", tags=["workspaces"], response_model=WorkspaceSaid, **TAGGED_IF_UNCHANGED)
async def rename_workspace(
    request: Request, asker: Asker, house: In, here: Here, asked: WorkspaceAsked
) -> Response:
    """Give it another name."""

    def work(tx: Transaction) -> WorkspaceSaid:
        now = tx.accounts.find(asker.user, here.id)
        check_unchanged(request, None if now is None else _workspace(now))
        return _workspace(tx.accounts.rename(asker.user, here.id, asked.name))

    return with_tag(await house.store.write(work))


@router.delete(
    "/{workspace_id}",
    tags=["workspaces"],
    status_code=status.HTTP_202_ACCEPTED,
    response_class=Response,
    responses=AS_THINGS_STAND,
)
async def remove_workspace(asker: Asker, house: In, here: Here) -> Response:
    """Remove it with everything in it: out of sight at once, purged soon after."""
    await house.store.write(lambda tx: tx.accounts.remove(asker.user, here.id))
    return Response(status_code=status.HTTP_202_ACCEPTED)


@router.get("/{workspace_id}/collections", tags=["collections"])
async def collections(house: In, here: Here) -> CollectionPage:
    """All collections of a workspace, by name."""
    there = await house.store.catalogue.collections(here.id)
    counts = await house.store.catalogue.counts_of_all(here.id)
    return CollectionPage(items=[_collection(each, counts.get(each.id, {})) for each in there])


@router.post(
    "/{workspace_id}/collections",
    tags=["collections"],
    status_code=status.HTTP_201_CREATED,
    response_model=CollectionSaid,
    responses={200: {"model": CollectionSaid, "description": "It was there already."}},
)
async def make_collection(house: In, here: Here, asked: CollectionAsked, repeatable: Repeatable) -> Response:
    """Make a collection; the same one again is answered with 200."""
    mark = fingerprint_of("make collection", here.id, asked.model_dump_json())
    if (told := await repeatable.earlier(mark)) is not None:
        return told
    before = await house.store.catalogue.collection(here.id, asked.name)
    counts = {} if before is None else await house.store.catalogue.counts(before.id)
    make = await maker(
        house.store,
        house.settings,
        asked.name,
        description=asked.description,
        choice=RecipeChoice(**asked.recipe.model_dump()),
        workspace=here.id,
    )

    def work(tx: Transaction) -> Answered:
        made, is_new = make(tx)
        if is_new:
            check_collections(tx, house.settings.http, here)
        said = _collection(made, counts)
        code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        return Answered(status=code, body=said.model_dump_json().encode())

    return await repeatable.answered(mark, status.HTTP_201_CREATED, work)


@router.get(
    "/{workspace_id}/collections/{name}", tags=["collections"], response_model=CollectionSaid, **UNLESS_KNOWN
)
async def collection(request: Request, house: In, here: Here, name: CollectionName) -> Response:
    """One collection."""
    found = await known(house, here, name)
    return tagged(request, _collection(found, await house.store.catalogue.counts(found.id)))


@router.delete(
    "/{workspace_id}/collections/{name}",
    tags=["collections"],
    status_code=status.HTTP_202_ACCEPTED,
    response_class=Response,
)
async def remove_collection(house: In, here: Here, name: CollectionName) -> Response:
    """Remove it with all its documents: out of sight at once, purged soon after."""
    found = await known(house, here, name)
    await house.store.write(lambda tx: tx.shelves.remove(found.id))
    return Response(status_code=status.HTTP_202_ACCEPTED)


async def known(house: In, here: Workspace, name: str) -> Collection:
    """The workspace's collection of this name."""
    found = await house.store.catalogue.collection(here.id, name)
    if found is None:
        raise Refused(f"there is no collection {name!r}", code="ERR_COLLECTION_UNKNOWN")
    return found


def _workspace(workspace: Workspace) -> WorkspaceSaid:
    return WorkspaceSaid.model_validate(workspace.facts())


def _collection(collection: Collection, counts: Mapping[str, int]) -> CollectionSaid:
    return CollectionSaid.model_validate(collection.facts(counts))

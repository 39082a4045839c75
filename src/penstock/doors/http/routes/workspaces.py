"""Workspaces and their collections."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Path, Response, status

from penstock.doors.http.house import Asker, Here, In
from penstock.doors.http.shapes import (
    NAME_MAX,
    CollectionAsked,
    CollectionPage,
    CollectionSaid,
    WorkspaceAsked,
    WorkspacePage,
    WorkspaceSaid,
    instant,
)
from penstock.model.accounts import Workspace
from penstock.model.catalogue import Collection, DocumentState
from penstock.model.errors import Refused
from penstock.settings import RecipeChoice
from penstock.wiring.collections import create

router = APIRouter(prefix="/workspaces")
CollectionName = Annotated[str, Path(min_length=1, max_length=NAME_MAX, description="The collection's name.")]


@router.get("", tags=["workspaces"])
async def workspaces(asker: Asker, house: In) -> WorkspacePage:
    """All workspaces you own, oldest first."""
    there = await house.store.register.workspaces(asker.user)
    return WorkspacePage(items=[_workspace(each) for each in there])


@router.post("", tags=["workspaces"], status_code=status.HTTP_201_CREATED)
async def open_workspace(asker: Asker, house: In, asked: WorkspaceAsked) -> WorkspaceSaid:
    """Make a workspace."""
    return _workspace(await house.store.write(lambda tx: tx.accounts.open(asker.user, asked.name)))


@router.get("/{workspace_id}", tags=["workspaces"])
async def workspace(here: Here) -> WorkspaceSaid:
    """One workspace."""
    return _workspace(here)


@router.patch("/{workspace_id}", tags=["workspaces"])
async def rename_workspace(asker: Asker, house: In, here: Here, asked: WorkspaceAsked) -> WorkspaceSaid:
    """Give it another name."""
    named = await house.store.write(lambda tx: tx.accounts.rename(asker.user, here.id, asked.name))
    return _workspace(named)


@router.delete(
    "/{workspace_id}", tags=["workspaces"], status_code=status.HTTP_202_ACCEPTED, response_class=Response
)
async def remove_workspace(asker: Asker, house: In, here: Here) -> Response:
    """Remove it with everything in it: out of sight at once, purged soon after."""
    await house.store.write(lambda tx: tx.accounts.remove(asker.user, here.id))
    return Response(status_code=status.HTTP_202_ACCEPTED)


@router.get("/{workspace_id}/collections", tags=["collections"])
async def collections(house: In, here: Here) -> CollectionPage:
    """All collections of a workspace, by name."""
    there = await house.store.catalogue.collections(here.id)
    return CollectionPage(items=[await _collection(house, each) for each in there])


@router.post(
    "/{workspace_id}/collections",
    tags=["collections"],
    status_code=status.HTTP_201_CREATED,
    responses={200: {"model": CollectionSaid, "description": "It was there already."}},
)
async def make_collection(
    house: In, here: Here, asked: CollectionAsked, response: Response
) -> CollectionSaid:
    """Make a collection; the same one again is answered with 200."""
    made, is_new = await create(
        house.store,
        house.settings,
        asked.name,
        description=asked.description,
        choice=RecipeChoice(**asked.recipe.model_dump()),
        workspace=here.id,
    )
    if not is_new:
        response.status_code = status.HTTP_200_OK
    return await _collection(house, made)


@router.get("/{workspace_id}/collections/{name}", tags=["collections"])
async def collection(house: In, here: Here, name: CollectionName) -> CollectionSaid:
    """One collection."""
    return await _collection(house, await known(house, here, name))


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
    return WorkspaceSaid(id=workspace.id, name=workspace.name, created_at=instant(workspace.created_at))


async def _collection(house: In, collection: Collection) -> CollectionSaid:
    counts = await house.store.catalogue.counts(collection.id)
    return CollectionSaid(
        name=collection.name,
        description=collection.description,
        created_at=instant(collection.created_at),
        documents={state.value: counts.get(state, 0) for state in DocumentState},
        chunks=counts.get("chunks", 0),
        bytes=counts.get("bytes", 0),
        rebuilding=collection.building is not None,
        recipe=json.loads(collection.recipe_json),
    )

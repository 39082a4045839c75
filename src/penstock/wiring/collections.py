"""Collections as declared and as they are: made where they are missing, compared where they differ."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict

from penstock.model.catalogue import (
    LOCAL_WORKSPACE,
    Collection,
    DebtKind,
    Generation,
    NewDebt,
    WorkspaceId,
)
from penstock.model.collections import RecreationPolicy, check_collection_name
from penstock.model.errors import Broken, Refused
from penstock.model.jobs import Lease
from penstock.model.recipes import Recipe, kept_recipe
from penstock.ports.database import Transaction
from penstock.settings import DeclaredCollection, RecipeChoice, Settings
from penstock.wiring.models import model_name, tokens_max_of
from penstock.wiring.store import Store


async def declare_all(store: Store, settings: Settings) -> list[Collection]:
    """All collections there are, once those the configuration names are among them; changes no other."""
    found = await store.catalogue.collections(LOCAL_WORKSPACE)
    missing = sorted(set(settings.collections) - {each.name for each in found})
    if not missing:
        return found

    def declare(tx: Transaction) -> None:
        for name in missing:
            declared = settings.collections[name]
            recipe = recipe_for(settings, declared.recipe, place=f"collections.{name}.recipe.")
            tx.shelves.declare(
                LOCAL_WORKSPACE, name, recipe_json=recipe.to_json(), description=declared.description
            )

    await store.write(declare)
    return await store.catalogue.collections(LOCAL_WORKSPACE)


async def known_collection(store: Store, settings: Settings, name: str) -> Collection:
    """The collection of this name, declared ones included; Refused naming those there are."""
    there = {each.name: each for each in await declare_all(store, settings)}
    if name not in there:
        names = f"there are {', '.join(sorted(there))}" if there else "there are none yet"
        raise Refused(f"there is no collection {name!r}; {names}", code="ERR_COLLECTION_UNKNOWN")
    return there[name]


async def sound_collection(store: Store, settings: Settings, name: str) -> Collection:
    """The same; Broken where its index is gone or cannot be read, so that nothing can be put into it."""
    found = await known_collection(store, settings, name)
    kept_recipe(found.recipe_json, found.name)
    return found


async def find(store: Store, name: str) -> Collection | None:
    """The collection of this name, if it is in the store."""
    return await store.catalogue.collection(LOCAL_WORKSPACE, name)


async def create(
    store: Store,
    settings: Settings,
    name: str,
    *,
    description: str,
    choice: RecipeChoice,
    workspace: WorkspaceId = LOCAL_WORKSPACE,
) -> tuple[Collection, bool]:
    """The collection, and whether it was made now; one that is there with another recipe is refused."""
    return await store.write(
        await maker(store, settings, name, description=description, choice=choice, workspace=workspace)
    )


async def maker(
    store: Store,
    settings: Settings,
    name: str,
    *,
    description: str,
    choice: RecipeChoice,
    workspace: WorkspaceId = LOCAL_WORKSPACE,
) -> Callable[[Transaction], tuple[Collection, bool]]:
    """What does the same together with the caller's own changes."""
    check_collection_name(name)
    if workspace == LOCAL_WORKSPACE:
        await declare_all(store, settings)
    recipe_json = recipe_for(settings, choice).to_json()

    def make(tx: Transaction) -> tuple[Collection, bool]:
        before = tx.shelves.find(workspace, name)
        if before is None:
            return tx.shelves.declare(workspace, name, recipe_json=recipe_json, description=description), True
        check_alike(before, description, choice)
        return before, False

    return make


def check_alike(found: Collection, description: str, choice: RecipeChoice) -> None:
    """Refused if a collection that is there says other than what was given."""
    kept = asdict(kept_recipe(found.recipe_json, found.name))
    unlike = [word for word, value in choice.given().items() if kept[word] != value]
    if description and description != found.description:
        unlike.append("description")
    if unlike:
        raise Refused(
            f"there is a collection {found.name!r} already, with another {', '.join(unlike)}",
            code="ERR_COLLECTION_EXISTS",
        )


async def reindex(
    store: Store, settings: Settings, collection: Collection, policy: RecreationPolicy | None = None
) -> Generation | None:
    """Open the generation that a rebuild fills, or join the open one; old answers stay until the swap.

    None where the policy, the collection's own unless given, is to leave what is there.
    """
    return await store.write(rebuilder(settings, collection, policy))


def rebuilder(
    settings: Settings, collection: Collection, policy: RecreationPolicy | None = None
) -> Callable[[Transaction], Generation | None]:
    """The same for a transaction of the caller's own; whoever asks for a rebuild asks here."""
    chosen = policy or policy_of(settings, collection)
    recipe = recipe_for(settings, wanted_recipe(settings, collection))

    def begin(tx: Transaction) -> Generation | None:
        seen, _ = tx.shelves.coverage(collection.id)
        if not chosen.rebuilds(seen):
            return None
        generation = tx.shelves.open_generation(collection.id, recipe.to_json())
        tx.debts.owe(NewDebt(kind=DebtKind.REBUILD, about=str(generation.id)))
        return generation

    return begin


async def reindex_for(store: Store, settings: Settings, lease: Lease) -> None:
    """Open the generation a job's message asked for, or join the open one; once, however often it runs."""
    if await store.catalogue.report(lease.job_id) is not None:
        return
    rebuild = rebuilder(settings, await known_collection(store, settings, lease.collection))

    def begin(tx: Transaction) -> None:
        tx.guard(lease)
        generation = rebuild(tx)
        if generation is not None:
            tx.kept.keep_report(lease.job_id, json.dumps({"reindexed": generation.id}))

    await store.write(begin)


def policy_of(settings: Settings, collection: Collection) -> RecreationPolicy:
    """What a rebuild makes of the documents that are there, as the configuration says."""
    return RecreationPolicy(declared(settings, collection).recreation_policy)


def recipe_for(settings: Settings, choice: RecipeChoice, *, place: str = "") -> Recipe:
    """The model in force with what was chosen at a place; Refused if the model takes shorter texts."""
    recipe, most = _recipe(settings, choice), tokens_max_of(settings)
    if recipe.chunk_tokens > most:
        raise Refused(
            f"{place}chunk_tokens is {recipe.chunk_tokens}, but {recipe.model} takes {most} at most",
            code="ERR_CONFIGURATION",
        )
    return recipe


def _recipe(settings: Settings, choice: RecipeChoice) -> Recipe:
    chosen: Mapping[str, int] = choice.given()
    return Recipe(model=model_name(settings), **chosen)


def wanted_recipe(settings: Settings, collection: Collection) -> RecipeChoice:
    """What the configuration says about a collection, or what it was made with where it says nothing."""
    found = _declared(settings, collection)
    if found is not None:
        return found.recipe
    kept = asdict(kept_recipe(collection.recipe_json, collection.name))
    del kept["model"]
    return RecipeChoice(**kept)


def differences(settings: Settings, collection: Collection) -> list[str]:
    """In what its recipe differs from the one in force, in words; it is never changed by itself."""
    try:
        kept = asdict(kept_recipe(collection.recipe_json, collection.name))
    except Broken as broken:
        return [broken.message]
    wanted = asdict(_recipe(settings, wanted_recipe(settings, collection)))
    return [f"{name} is {kept[name]}, now {wanted[name]}" for name in kept if kept[name] != wanted[name]]


def declared(settings: Settings, collection: Collection) -> DeclaredCollection:
    """What the configuration says about it; nothing, for one it does not name."""
    return _declared(settings, collection) or DeclaredCollection()


def _declared(settings: Settings, collection: Collection) -> DeclaredCollection | None:
    """The configuration speaks of the local workspace; it says nothing of another's of the same name."""
    is_local = collection.workspace == LOCAL_WORKSPACE
    return settings.collections.get(collection.name) if is_local else None

"""Collections and their generations, on SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from penstock.engines.sqlite import doomed, words
from penstock.engines.sqlite.debts import SqliteDebts
from penstock.engines.sqlite.records import collection_of, generation_of
from penstock.engines.sqlite.restoring import restore
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.telling import tell
from penstock.engines.sqlite.times import iso
from penstock.model.catalogue import (
    Collection,
    CollectionId,
    DebtKind,
    DocumentId,
    Generation,
    GenerationId,
    Holding,
    NewDebt,
    WorkspaceId,
)
from penstock.model.errors import Broken, Refused
from penstock.model.events import CollectionCreated, CollectionRemoved
from penstock.model.jobs import TenantId
from penstock.model.recipes import Recipe, check_kept


class SqliteShelves:
    """The verbs inside a transaction."""

    def __init__(self, db: sqlite3.Connection, now: float, newcomers: WorkspaceId | None = None) -> None:
        """`newcomers` is the workspace unknown tenants join; None refuses them."""
        self._db = db
        self._now = now
        self._newcomers = newcomers
        self._debts = SqliteDebts(db, now)

    def workspace_of(self, tenant: TenantId) -> WorkspaceId:
        """The workspace a tenant belongs to; an unknown one joins that of newcomers (K20)."""
        known = self._belongs_to(tenant)
        if known is not None:
            return known
        if self._newcomers is None:
            raise Refused("there is no such tenant in this installation", code="ERR_TENANT_INVALID")
        return self.join(tenant, self._newcomers)

    def join(self, tenant: TenantId, workspace: WorkspaceId) -> WorkspaceId:
        """Have a tenant belong to a workspace, unless it belongs to one; to which it does (K20)."""
        known = self._belongs_to(tenant)
        if known is not None:
            return known
        self._db.execute(sql("tenant_join"), (tenant, workspace, iso(self._now)))
        return workspace

    def _belongs_to(self, tenant: TenantId) -> WorkspaceId | None:
        row = self._db.execute(sql("tenant_find"), (tenant,)).fetchone()
        return None if row is None else WorkspaceId(row[0])

    def find(self, workspace: WorkspaceId, name: str) -> Collection | None:
        """The collection by name (K16)."""
        row = self._db.execute(sql("collection_find"), (workspace, name)).fetchone()
        return None if row is None else collection_of(row)

    def holding(self, workspace: WorkspaceId) -> Holding:
        """How many documents and bytes a workspace holds (K16)."""
        return holding(self._db, workspace)

    def count(self, workspace: WorkspaceId, *, most: int) -> int:
        """How many collections a workspace has, up to so many (K16)."""
        return int(self._db.execute(sql("collection_count"), (workspace, most)).fetchone()[0])

    def declare(
        self, workspace: WorkspaceId, name: str, *, recipe_json: str, description: str = ""
    ) -> Collection:
        """Make it, with a first generation of this recipe; an existing one keeps its own recipe (K1)."""
        found = self.find(workspace, name)
        if found is not None:
            check_kept(found.recipe_json, found.name)
            return found
        new = {"workspace": workspace, "name": name, "description": description, "now": iso(self._now)}
        row = self._db.execute(sql("collection_add"), new).fetchone()
        if row is None:
            raise Refused("there is no such workspace", code="ERR_WORKSPACE_UNKNOWN")
        collection = CollectionId(row[0])
        generation = self._new_generation(collection, recipe_json)
        self._point(collection, generation, None)
        made = self.find(workspace, name)
        if made is None:
            raise Broken(f"the collection {name} is not there right after it was made")
        told = CollectionCreated(workspace_id=workspace, collection=made.facts({}))
        tell(self._db, self._now, workspace, told)
        return made

    def generation(self, generation: GenerationId) -> Generation | None:
        """A generation that is not yet purged."""
        row = self._db.execute(sql("generation_find"), (generation,)).fetchone()
        return None if row is None else generation_of(row)

    def is_building(self, generation: GenerationId) -> bool:
        """Is it the one being built beside its collection's answering one?"""
        return bool(self._db.execute(sql("generation_building"), (generation,)).fetchone()[0])

    def open_generation(self, collection: CollectionId, recipe_json: str) -> Generation:
        """The generation being built beside; an open one of another recipe is given up for it."""
        answering, building = self._pointers(collection)
        if building is not None:
            open_one = self.generation(building)
            if open_one is not None and open_one.recipe_json == recipe_json:
                return open_one
            self._forsake(building)
        generation = self._new_generation(collection, recipe_json)
        self._point(collection, answering, generation)
        return Generation(id=generation, collection=collection, recipe_json=recipe_json)

    def restore(self, collection: CollectionId, recipe_json: str) -> Collection | None:
        """Put an index back whose row is gone or cannot be read; None where there is nothing to do."""
        if not restore(self._db, collection, Recipe.from_json(recipe_json), self._now):
            return None
        row = self._db.execute(sql("collection_name"), (collection,)).fetchone()
        return self.find(WorkspaceId(row[0]), row[1])

    def swap(self, collection: CollectionId, *, without: Sequence[DocumentId] = ()) -> bool:
        """Let the generation being built answer, if it is complete (K13); the old one's purge is owed."""
        answering, building = self._pointers(collection)
        if building is None:
            return False
        where = {"old": answering, "new": building, "without": json.dumps(list(without))}
        seen, built = self._db.execute(sql("swap_counts"), where).fetchone()
        if built + len(without) < seen or self._db.execute(sql("swap_missing"), where).fetchone() is not None:
            return False
        self._point(collection, building, None)
        self._forsake(answering)
        return True

    def coverage(self, collection: CollectionId) -> tuple[int, int]:
        """How many documents readers see, and how many of them the generation being built has."""
        answering, building = self._pointers(collection)
        where = {"old": answering, "new": building}
        seen, built = self._db.execute(sql("swap_coverage"), where).fetchone()
        return int(seen), int(built)

    def abandon(self, collection: CollectionId) -> bool:
        """Give up the generation being built; its purge is owed."""
        answering, building = self._pointers(collection)
        if building is None:
            return False
        self._point(collection, answering, None)
        self._forsake(building)
        return True

    def remove(self, collection: CollectionId) -> None:
        """Forget the name, and with it every document at once; all purges are owed (K17)."""
        row = self._db.execute(sql("collection_remove"), (iso(self._now), collection)).fetchone()
        if row is not None:
            workspace, name = WorkspaceId(row[0]), row[1]
            doomed.end_jobs(self._db, workspace, name, self._now)
            tell(self._db, self._now, workspace, CollectionRemoved(workspace_id=workspace, collection=name))
        for (generation,) in self._db.execute(sql("generation_list"), (collection,)).fetchall():
            self._forsake(GenerationId(generation))

    def _new_generation(self, collection: CollectionId, recipe_json: str) -> GenerationId:
        row = self._db.execute(sql("generation_add"), (collection, recipe_json, iso(self._now))).fetchone()
        generation = GenerationId(row[0])
        words.make(self._db, generation)
        return generation

    def _point(
        self, collection: CollectionId, answering: GenerationId, building: GenerationId | None
    ) -> None:
        where = {"collection": collection, "generation": answering, "building": building}
        self._db.execute(sql("collection_point"), where)

    def _pointers(self, collection: CollectionId) -> tuple[GenerationId, GenerationId | None]:
        row = self._db.execute(sql("collection_pointers"), (collection,)).fetchone()
        if row is None:
            raise Refused(f"there is no collection {collection}", code="ERR_COLLECTION_UNKNOWN")
        return GenerationId(row[0]), None if row[1] is None else GenerationId(row[1])

    def _forsake(self, generation: GenerationId) -> None:
        self._debts.owe(NewDebt(kind=DebtKind.PURGE_GENERATION, about=str(generation)))


def holding(db: sqlite3.Connection, workspace: WorkspaceId) -> Holding:
    """How many documents and bytes a workspace holds."""
    documents, size = db.execute(sql("workspace_holding"), (workspace,)).fetchone()
    return Holding(documents=documents, size=size)

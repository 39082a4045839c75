"""Looking at the catalogue, and paying its debts, on SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from penstock.engines.sqlite import debts, kept, purging, shelves
from penstock.engines.sqlite.access import Access
from penstock.engines.sqlite.records import collection_of, document_of, stage_of, version_of
from penstock.engines.sqlite.statements import sql
from penstock.model.catalogue import (
    LOCAL_WORKSPACE,
    BlobId,
    Collection,
    CollectionId,
    Debt,
    DebtKind,
    Document,
    DocumentId,
    DocumentState,
    GenerationId,
    Holding,
    KeptParse,
    Source,
    Stage,
    StageId,
    Version,
    VersionId,
    WorkspaceId,
)
from penstock.model.jobs import JobId, TenantId

_LAST = "\U0010ffff"
"""Sorts after every identity."""
SIZES = ("chunks", "bytes", "visible", "built")
"""What is counted of a collection beside its documents by state."""


class SqliteCatalogue:
    """Looks beside the writer, changes through it."""

    def __init__(self, store: Access) -> None:
        self._store = store
        self._clock = store.clock

    async def workspace_of(self, tenant: TenantId) -> WorkspaceId:
        """The workspace a tenant belongs to; an unknown one would join the local workspace."""
        row = await self._store.look(lambda db: db.execute(sql("tenant_find"), (tenant,)).fetchone())
        return LOCAL_WORKSPACE if row is None else WorkspaceId(row[0])

    async def tenants(self, workspace: WorkspaceId) -> list[TenantId]:
        """Those of a workspace."""
        rows = await self._store.look(lambda db: db.execute(sql("tenant_list"), (workspace,)).fetchall())
        return [TenantId(row[0]) for row in rows]

    async def collections(self, workspace: WorkspaceId) -> list[Collection]:
        """All of a workspace, by name."""
        rows = await self._store.look(lambda db: db.execute(sql("collection_list"), (workspace,)).fetchall())
        return [collection_of(row) for row in rows]

    async def collection(self, workspace: WorkspaceId, name: str) -> Collection | None:
        """One by name."""
        row = await self._store.look(
            lambda db: db.execute(sql("collection_find"), (workspace, name)).fetchone()
        )
        return None if row is None else collection_of(row)

    async def document(self, workspace: WorkspaceId, document: DocumentId) -> Document | None:
        """One by id, unless it is hidden (K16)."""
        where = {"workspace": workspace, "document": document}
        row = await self._store.look(lambda db: db.execute(sql("document_seen"), where).fetchone())
        return None if row is None else document_of(row)

    async def documents(
        self,
        workspace: WorkspaceId,
        *,
        collection: CollectionId | None = None,
        state: DocumentState | None = None,
        source: Source | None = None,
        under: str | None = None,
        after: str | None = None,
        limit: int = 100,
    ) -> list[Document]:
        """Those that are not hidden, by identity; all that share the last identity come with it."""
        folder = None if under is None else under.rstrip("/")
        where = {
            "workspace": workspace,
            "collection": collection,
            "state": state,
            "source": source,
            "low": max(after or "", "" if folder is None else f"{folder}/"),
            "high": _LAST if folder is None else f"{folder}0",  # the character after the slash
        }
        name = "document_list_all"
        if collection is not None:
            name = "document_list" if state is None else "document_list_state"
        return await self._store.look(lambda db: _page(db, name, where, limit))

    async def stages(self, document: DocumentId) -> list[Stage]:
        """A document's stages, oldest first."""
        rows = await self._store.look(lambda db: db.execute(sql("stage_list"), (document,)).fetchall())
        return [stage_of(row) for row in rows]

    async def stages_of_job(self, job: JobId) -> list[Stage]:
        """A job's stages, oldest first."""
        rows = await self._store.look(lambda db: db.execute(sql("stage_list_job"), (job,)).fetchall())
        return [stage_of(row) for row in rows]

    async def job_of(self, workspace: WorkspaceId, stage: StageId) -> JobId | None:
        """The job a stage is a step of (K16)."""
        where = {"workspace": workspace, "stage": stage}
        row = await self._store.look(lambda db: db.execute(sql("stage_owner"), where).fetchone())
        return None if row is None else JobId(row[0])

    async def version(self, version: VersionId) -> Version | None:
        """A version, whatever its state."""
        row = await self._store.look(lambda db: db.execute(sql("version_find"), (version,)).fetchone())
        return None if row is None else version_of(row)

    async def last_bytes(self, document: DocumentId) -> BlobId | None:
        """The bytes its latest version was begun with, or an upload was sent with."""
        row = await self._store.look(lambda db: db.execute(sql("document_bytes"), (document,)).fetchone())
        return None if row is None or row[0] is None else BlobId(row[0])

    async def tokens(self, version: VersionId) -> int:
        """How many tokens its chunks hold."""
        row = await self._store.look(lambda db: db.execute(sql("version_tokens"), (version,)).fetchone())
        return int(row[0])

    async def parses(self, blob: BlobId) -> list[KeptParse]:
        """Every kept parse of these bytes, the newest first."""
        rows = await self._store.look(lambda db: db.execute(sql("parses_of"), (blob,)).fetchall())
        return [KeptParse(blob=BlobId(row[0]), parser=row[1], result=BlobId(row[2])) for row in rows]

    async def known_vectors(self, model: str, keys: Sequence[bytes]) -> set[bytes]:
        """Which of these texts have their vector already."""
        return await self._store.look(lambda db: kept.known_vectors(db, model, keys))

    async def unbuilt(self, generation: GenerationId, *, after: str = "", limit: int = 100) -> list[Document]:
        """Documents readers see whose bytes are not in this generation yet, by identity as `documents`."""
        where = {"generation": generation, "low": after}
        return await self._store.look(lambda db: _page(db, "document_unbuilt", where, limit))

    async def marks(
        self, tenant: TenantId, collection: CollectionId, identities: Sequence[str]
    ) -> Mapping[str, str]:
        """How those of these files looked that are ingested; an empty mark is one nobody told."""
        return await self._store.look(lambda db: kept.marks(db, tenant, collection, identities))

    async def report(self, job: JobId) -> str | None:
        """What a job found."""
        row = await self._store.look(lambda db: db.execute(sql("report_find"), (job,)).fetchone())
        return None if row is None else str(row[0])

    async def holding(self, workspace: WorkspaceId) -> Holding:
        """How many documents and bytes a workspace holds (K16)."""
        return await self._store.look(lambda db: shelves.holding(db, workspace))

    async def counts(self, collection: CollectionId) -> Mapping[str, int]:
        """How many documents by state, and the sizes of what readers can see."""

        def work(db: sqlite3.Connection) -> dict[str, int]:
            found = dict.fromkeys(map(str, DocumentState), 0)
            found.update(db.execute(sql("document_counts"), (collection,)).fetchall())
            sizes = db.execute(sql("collection_sizes"), (collection,)).fetchone()
            return found | dict(zip(SIZES, sizes, strict=True))

        return await self._store.look(work)

    async def counts_of_all(self, workspace: WorkspaceId) -> Mapping[CollectionId, Mapping[str, int]]:
        """The same of every collection of a workspace, in one look."""

        def work(db: sqlite3.Connection) -> dict[CollectionId, Mapping[str, int]]:
            found: dict[CollectionId, Mapping[str, int]] = {}
            for collection, *sizes in db.execute(sql("collection_sizes_all"), (workspace,)).fetchall():
                states = dict.fromkeys(map(str, DocumentState), 0)
                found[collection] = states | dict(zip(SIZES, sizes, strict=True))
            for collection, state, count in db.execute(sql("document_counts_all"), (workspace,)).fetchall():
                found[collection] = {**found[collection], state: count}
            return found

        return await self._store.look(work)

    async def take_debts(self, kinds: Sequence[DebtKind], owner: str, *, limit: int = 10) -> list[Debt]:
        """Due debts, held by this owner for ten seconds (K14)."""
        now = self._clock.now()
        if not await self._store.look(lambda db: debts.any_due(db, now)):
            return []  # nobody waits for the writer to learn that
        return await self._store.change(lambda db: debts.take(db, kinds, owner, now, limit=limit))

    async def put_off(self, debt: Debt, reason: str, *, seconds: float) -> None:
        """It could not be paid now."""
        due = self._clock.now() + seconds
        await self._store.change(lambda db: debts.put_off(db, debt, reason, due))

    async def purge(self, debt: Debt, *, limit: int = 1000) -> bool:
        """Do a portion of a purge; True when nothing of it is left and the debt is paid (K15)."""

        def work(db: sqlite3.Connection) -> bool:
            done = purging.purge(db, debt, self._clock.now(), limit=limit)
            if done:
                db.execute(sql("debt_paid"), (debt.id,))
            return done

        return await self._store.change(work)

    async def sweep(self, *, limit: int = 1000) -> int:
        """Forget vectors and parses that nothing has used for a week; how many went."""
        return await self._store.change(lambda db: purging.sweep(db, self._clock.now(), limit=limit))

    async def unused_blobs(self, blobs: Sequence[BlobId]) -> set[BlobId]:
        """Which of these are not in use (K18)."""

        def work(db: sqlite3.Connection) -> set[BlobId]:
            return {blob for blob in blobs if not db.execute(sql("blob_used"), {"blob": blob}).fetchone()[0]}

        return await self._store.look(work)

    async def blob_in_use(self, blob: BlobId) -> bool:
        """Are these bytes in use (K18)?"""
        found = await self._store.look(lambda db: db.execute(sql("blob_used"), {"blob": blob}).fetchone())
        return bool(found[0])


def _page(db: sqlite3.Connection, name: str, where: Mapping[str, object], limit: int) -> list[Document]:
    """A page and all that share its last identity: the next page asks for what comes after that identity."""
    wanted = limit + 1
    while True:
        rows = db.execute(sql(name), {**where, "limit": wanted}).fetchall()
        whole = len(rows) < wanted or rows[-1][5] != rows[limit - 1][5]
        if whole:
            last = rows[limit - 1][5] if len(rows) > limit else _LAST
            return [document_of(row) for row in rows if row[5] <= last]
        wanted *= 2

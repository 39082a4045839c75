"""The catalogue: collections, documents, versions, stages, and what is owed.

Everything that changes it is a verb of a transaction, so that a document, its job and its events commit
together; everything that only looks is asked of `Catalogue`.

K1   A collection's name is unique in its workspace; declaring the same one again changes nothing.
K2   Admitting the same identity again gives the same document, whatever became of it; a hidden one is
     never given back: its identity starts a new document.
K3   A reader sees current versions of documents that are not hidden in answering generations, no more.
K4   `publish` makes a complete version current and its predecessor gone in one step; an incomplete one,
     one of a hidden document, or one whose bytes are not the latest begun is refused.
K5   Beginning a version of the same bytes in the same generation again takes up the one being built;
     beginning other bytes, or finding the current ones again, makes the unfinished one gone.
K6   Chunks are written once per ordinal; writing one again changes nothing.
K7   `hide` takes a document out of every answer at once and owes its purge; it keeps nothing visible.
K8   A rename changes identity and name alone: version, chunks and vectors stay.
K9   A stage follows its job: whatever ends, parks, retries or rescues the job, by whatever hand, the stage,
     the document's state and their events change in the same transaction.
K10  Finishing a stage gives the job its retries back: they are counted per stage.
K11  Every change of a document or stage is one event of the workspace's owner, none for a change undone. A
     parse or ingest is told to be queued before it is told to run.
K12  A vector is kept once per model and text key; keeping it again changes nothing.
K13  A generation answers from its swap on; before, only its builders see it. It swaps only when every
     document of the collection that is not hidden has its current version in it, but for those named that
     no job is at work on.
K14  A debt is paid by one owner at a time, again and again until it is paid; owing it twice is owing it once.
K15  A purge leaves nothing of what it purges: no chunk, no words, no version, no vector no other chunk uses.
     Of a version whose job failed for good chunks and words go; bytes and vectors stay for another try.
K16  What belongs to another workspace is not there.
K17  Removing a collection ends its unfinished jobs with ERR_COLLECTION_UNKNOWN: what runs can write nothing
     more, what waits is never claimed, and neither comes into a collection of the same name made later.
K18  Bytes are in use as long as a version, a kept parse or an upload of them is there, the job that brought
     them has not ended, or somebody holds them for a while that is not over.
K19  A document put into another collection stays the same document: no reader sees it where it was, and it
     is seen where it is now once it is built there. What is at work on it comes first.
K20  A tenant nobody knows joins the workspace of newcomers, for good; where there is none it is refused with
     ERR_TENANT_INVALID.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

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
    HoldId,
    Holding,
    KeptParse,
    NewChunk,
    NewDocument,
    Source,
    Stage,
    StageId,
    StageKind,
    Version,
    VersionId,
    WorkspaceId,
)
from penstock.model.chunks import Vector
from penstock.model.jobs import JobId, Lease, TenantId


class Shelves(Protocol):
    """Collections and their generations, inside a transaction."""

    def workspace_of(self, tenant: TenantId) -> WorkspaceId:
        """The workspace a tenant belongs to (K20)."""
        ...

    def join(self, tenant: TenantId, workspace: WorkspaceId) -> WorkspaceId:
        """Have a tenant belong to a workspace, unless it belongs to one; to which it does (K20)."""
        ...

    def find(self, workspace: WorkspaceId, name: str) -> Collection | None:
        """The collection by name (K16)."""
        ...

    def holding(self, workspace: WorkspaceId) -> Holding:
        """How many documents and bytes a workspace holds, with what this transaction did (K16)."""
        ...

    def count(self, workspace: WorkspaceId, *, most: int) -> int:
        """How many collections a workspace has; no more than so many are counted (K16)."""
        ...

    def declare(
        self, workspace: WorkspaceId, name: str, *, recipe_json: str, description: str = ""
    ) -> Collection:
        """Make it, with a first generation of this recipe; an existing one keeps its own recipe (K1, A5)."""
        ...

    def generation(self, generation: GenerationId) -> Generation | None:
        """A generation that is not yet purged."""
        ...

    def is_building(self, generation: GenerationId) -> bool:
        """Is it the one being built beside its collection's answering one?"""
        ...

    def open_generation(self, collection: CollectionId, recipe_json: str) -> Generation:
        """The generation being built beside, of this recipe; joins an open one of the same recipe."""
        ...

    def restore(self, collection: CollectionId, recipe_json: str) -> Collection | None:
        """Put an index back whose row is gone or cannot be read; None where there is nothing to do.

        Its recipe is this one with the model its vectors are of: have it rebuilt, it may have been another.
        """
        ...

    def swap(self, collection: CollectionId, *, without: Sequence[DocumentId] = ()) -> bool:
        """Let the generation being built answer, if it is complete (K13); the old one's purge is owed.

        It need not hold the documents named in `without`; these are seen no more.
        """
        ...

    def coverage(self, collection: CollectionId) -> tuple[int, int]:
        """How many documents readers see, and how many of them the generation being built has."""
        ...

    def abandon(self, collection: CollectionId) -> bool:
        """Give up the generation being built; its purge is owed."""
        ...

    def remove(self, collection: CollectionId) -> None:
        """Hide every document, forget the name and end its jobs (K17); all purges are owed."""
        ...


class Documents(Protocol):
    """Documents, versions and chunks, inside a transaction."""

    def admit(self, new: NewDocument, *, job: JobId | None = None) -> Document:
        """The document of this identity, made if need be (K2); with a job, it awaits its parse stage."""
        ...

    def get(self, document: DocumentId) -> Document | None:
        """By id; hidden ones too."""
        ...

    def at(self, tenant: TenantId, collection: CollectionId, identity: str) -> Document | None:
        """By identity; never a hidden one."""
        ...

    def begin(self, document: DocumentId, generation: GenerationId, blob: BlobId, size: int) -> Version:
        """A version to build from these bytes (K5)."""
        ...

    def describe(
        self,
        document: DocumentId,
        *,
        title: str | None,
        media: str,
        pages: int | None,
        metadata_json: str,
        branch: str | None = None,
    ) -> None:
        """What parsing told about the document, and the branch it was read from; its state becomes parsed."""
        ...

    def add_chunks(self, version: VersionId, model: str, chunks: Sequence[NewChunk]) -> None:
        """Write some chunks (K6); a vector that is not known, or not any more, raises Unkept."""
        ...

    def publish(self, version: VersionId, *, chunks: int, carried: bool = False) -> None:
        """Flip (K4); `chunks` is how many there must be. A carried one leaves its document's state."""
        ...

    def carry(self, document: DocumentId, generation: GenerationId) -> Version | None:
        """A version in the generation being built with the chunks of the one readers see, to be published.

        None if their vectors are of another model than that generation's.
        """
        ...

    def touch(
        self, document: DocumentId, *, metadata_json: str | None = None, branch: str | None = None
    ) -> None:
        """An ingest found nothing new to read: it is ingested as it stands, with this said of it."""
        ...

    def rename(self, document: DocumentId, identity: str, name: str) -> None:
        """Move it (K8); a document that has that identity already is hidden first."""
        ...

    def rehome(self, document: DocumentId, collection: CollectionId, *, identity: str, name: str) -> None:
        """Put it into another collection as an upload that awaits its parse (K19).

        Refused while something is done with it. The caller knows that nothing has that identity there.
        """
        ...

    def hide(self, document: DocumentId) -> None:
        """Delete it, as far as readers can tell (K7)."""
        ...

    def hide_some(self, tenant: TenantId, *, limit: int) -> int:
        """Hide up to so many of a tenant's documents; how many there were, fewer than `limit` at the end."""
        ...


class Stages(Protocol):
    """The steps of document jobs, inside a transaction (K9, K10)."""

    def begin(self, lease: Lease, document: DocumentId, kind: StageKind) -> StageId:
        """The stage this attempt works on, running; the one that waits for it, or a new one."""
        ...

    def finish(self, lease: Lease, stage: StageId) -> None:
        """It worked."""
        ...

    def expect(self, document: DocumentId, job: JobId) -> bool:
        """Let a document's parse wait for a job; its state stays. False if the job has ended."""
        ...

    def document_of(self, job: JobId) -> DocumentId | None:
        """The document a job was admitted for."""
        ...


class Kept(Protocol):
    """Results that are never paid for twice, inside a transaction."""

    def keep_parse(self, parse: KeptParse) -> None:
        """Remember a parse by its bytes and parser."""
        ...

    def parse_of(self, blob: BlobId, parser: str) -> KeptParse | None:
        """A kept parse."""
        ...

    def keep_vectors(self, model: str, vectors: Sequence[tuple[bytes, Vector]]) -> None:
        """Remember vectors by text key (K12)."""
        ...

    def note_file(self, document: DocumentId, *, mark: str | None, root: str | None) -> None:
        """How a document's file looked when its bytes of now were taken, and where it was found."""
        ...

    def mark_of(self, document: DocumentId) -> str | None:
        """How its file looked when its bytes of now were taken; None unless it is ingested, with a mark."""
        ...

    def keep_report(self, job: JobId, report_json: str) -> None:
        """What a look at a folder found; a later look of the same job counts."""
        ...

    def hold(self, job: JobId, blob: BlobId) -> None:
        """Keep the bytes an unfinished job brought until it has ended (K18)."""
        ...

    def hold_meanwhile(self, blob: BlobId, *, seconds: float) -> HoldId:
        """Keep bytes for so long, or until they are let go (K18)."""
        ...

    def let_go(self, hold: HoldId) -> None:
        """Hold them no longer; letting go twice is fine."""
        ...

    def held(self, job: JobId) -> BlobId | None:
        """The bytes a job brought, while it has not ended."""
        ...


class Catalogue(Protocol):
    """Looking, and paying debts."""

    async def workspace_of(self, tenant: TenantId) -> WorkspaceId:
        """The workspace a tenant belongs to; an unknown one would join the local workspace."""
        ...

    async def tenants(self, workspace: WorkspaceId) -> list[TenantId]:
        """Those of a workspace: the one its own work runs under, and every one that joined it."""
        ...

    async def collections(self, workspace: WorkspaceId) -> list[Collection]:
        """All of a workspace, by name."""
        ...

    async def collection(self, workspace: WorkspaceId, name: str) -> Collection | None:
        """One by name."""
        ...

    async def document(self, workspace: WorkspaceId, document: DocumentId) -> Document | None:
        """One by id, unless it is hidden (K16)."""
        ...

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
        """Those that are not hidden, by identity; `under` takes a folder, `after` the last identity seen."""
        ...

    async def stages(self, document: DocumentId) -> list[Stage]:
        """A document's stages, oldest first."""
        ...

    async def stages_of_job(self, job: JobId) -> list[Stage]:
        """A job's stages, oldest first."""
        ...

    async def job_of(self, workspace: WorkspaceId, stage: StageId) -> JobId | None:
        """The job a stage is a step of (K16)."""
        ...

    async def version(self, version: VersionId) -> Version | None:
        """A version, whatever its state."""
        ...

    async def tokens(self, version: VersionId) -> int:
        """How many tokens its chunks hold."""
        ...

    async def parses(self, blob: BlobId) -> list[KeptParse]:
        """Every kept parse of these bytes, the newest first."""
        ...

    async def last_bytes(self, document: DocumentId) -> BlobId | None:
        """The bytes its latest version was begun with, whatever became of it, or an upload was sent with."""
        ...

    async def known_vectors(self, model: str, keys: Sequence[bytes]) -> set[bytes]:
        """Which of these texts have their vector already."""
        ...

    async def unbuilt(self, generation: GenerationId, *, after: str = "", limit: int = 100) -> list[Document]:
        """Documents readers see whose bytes are not in this generation yet, by identity as `documents`."""
        ...

    async def marks(
        self, tenant: TenantId, collection: CollectionId, identities: Sequence[str]
    ) -> Mapping[str, str]:
        """How those of these files looked that are ingested; an empty mark is one nobody told."""
        ...

    async def report(self, job: JobId) -> str | None:
        """What a job found."""
        ...

    async def unused_blobs(self, blobs: Sequence[BlobId]) -> set[BlobId]:
        """Which of these are not in use (K18)."""
        ...

    async def holding(self, workspace: WorkspaceId) -> Holding:
        """How many documents and bytes a workspace holds (K16)."""
        ...

    async def counts(self, collection: CollectionId) -> Mapping[str, int]:
        """How many documents by state; of what readers can see, how many `chunks` and `bytes`.

        `visible` documents have a version in the answering generation, `built` ones in the one being built.
        """
        ...

    async def counts_of_all(self, workspace: WorkspaceId) -> Mapping[CollectionId, Mapping[str, int]]:
        """The same of every collection of a workspace, all of one moment."""
        ...

    async def take_debts(self, kinds: Sequence[DebtKind], owner: str, *, limit: int = 10) -> list[Debt]:
        """Due debts, held by this owner for ten seconds (K14)."""
        ...

    async def put_off(self, debt: Debt, reason: str, *, seconds: float) -> None:
        """It could not be paid now."""
        ...

    async def purge(self, debt: Debt, *, limit: int = 1000) -> bool:
        """Do a portion of a purge; True when nothing of it is left and the debt is paid (K15)."""
        ...

    async def sweep(self, *, limit: int = 1000) -> int:
        """Forget vectors and parses nothing has used for a week, and holds that are over; how many went."""
        ...

    async def blob_in_use(self, blob: BlobId) -> bool:
        """Are these bytes in use (K18)?"""
        ...

"""Documents, versions and chunks, on SQLite."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from penstock.engines.sqlite import words
from penstock.engines.sqlite.debts import SqliteDebts
from penstock.engines.sqlite.records import document_of, version_of
from penstock.engines.sqlite.stages import SqliteStages
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso
from penstock.model.catalogue import (
    BlobId,
    CollectionId,
    DebtKind,
    Document,
    DocumentId,
    DocumentState,
    GenerationId,
    NewChunk,
    NewDebt,
    NewDocument,
    Version,
    VersionId,
    VersionState,
)
from penstock.model.errors import Broken, Refused, Unkept
from penstock.model.ids import new_job_id
from penstock.model.jobs import JobId, TenantId
from penstock.model.rules import Rules
from penstock.ports.codec import encode_metadata


class SqliteDocuments:
    """The verbs inside a transaction."""

    def __init__(self, db: sqlite3.Connection, now: float, rules: Rules) -> None:
        self._db = db
        self._now = now
        self._rules = rules
        self._stages = SqliteStages(db, now)
        self._debts = SqliteDebts(db, now)

    def admit(self, new: NewDocument, *, job: JobId | None = None) -> Document:
        """The document of this identity, made if need be (K2); with a job, it awaits its parse stage.

        A job that has ended, or waits for a later stage, is not awaited: the document then stays as it is.
        """
        found = self.at(new.tenant, new.collection, new.identity) or self._add(new)
        if job is None:
            return found
        number = self._number(found.id)
        if self._stages.await_parse(number, job):
            self._move_on(number, DocumentState.PENDING)
        return self._known(found.id)

    def get(self, document: DocumentId) -> Document | None:
        """By id; hidden ones too."""
        row = self._db.execute(sql("document_find"), (document,)).fetchone()
        return None if row is None else document_of(row)

    def at(self, tenant: TenantId, collection: CollectionId, identity: str) -> Document | None:
        """By identity; never a hidden one."""
        where = {"tenant": tenant, "collection": collection, "identity": identity}
        row = self._db.execute(sql("document_at"), where).fetchone()
        return None if row is None else document_of(row)

    def begin(self, document: DocumentId, generation: GenerationId, blob: BlobId, size: int) -> Version:
        """A version to build from these bytes (K5)."""
        number = self._number(document)
        where = {
            "document": number,
            "generation": generation,
            "blob": blob,
            "size": size,
            "now": iso(self._now),
        }
        self._outdate(number, blob)
        row = self._db.execute(sql("version_take_up"), where).fetchone()
        if row is None:
            row = (*self._db.execute(sql("version_add"), where).fetchone(), blob, VersionState.BUILDING, 0)
        return version_of((row[0], document, generation, row[1], row[2], row[3]))

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
        """What parsing told about the document; its state becomes parsed."""
        row = {
            "number": self._number(document),
            "branch": branch,
            "title": title,
            "media": media,
            "pages": pages,
            "metadata": metadata_json,
            "now": iso(self._now),
        }
        self._db.execute(sql("document_describe"), row)

    def add_chunks(self, version: VersionId, model: str, chunks: Sequence[NewChunk]) -> None:
        """Write some chunks (K6); a vector that is not known, or not any more, raises Unkept."""
        if not chunks:
            return
        row = self._db.execute(sql("version_find"), (version,)).fetchone()
        if row is None or row[4] != VersionState.BUILDING:
            raise Refused(f"version {version} is not being built any more", code="ERR_SUPERSEDED")
        generation = GenerationId(row[2])
        model_id = self._model(generation, model)
        last = self._db.execute(sql("chunk_last")).fetchone()[0]
        rows = [self._chunk_row(version, model_id, model, chunk) for chunk in chunks]
        self._db.executemany(sql("chunk_add"), rows)
        written = words.add(self._db, generation, version, last)
        self._db.execute(sql("version_grow"), (written, version))

    def publish(self, version: VersionId, *, chunks: int, carried: bool = False) -> None:
        """Flip (K4); `chunks` is how many there must be. A carried one leaves its document's state."""
        row = self._db.execute(sql("version_standing"), (version,)).fetchone()
        if row is None:
            raise Refused(f"version {version} is gone", code="ERR_SUPERSEDED")
        state, number, generation, hidden, wanted, written = row
        if hidden:
            raise Refused("the document was deleted meanwhile", code="ERR_DOCUMENT_UNKNOWN")
        if not wanted:
            raise Broken(f"generation {generation} was replaced while version {version} was built for it")
        if state != VersionState.BUILDING:
            raise Refused(f"version {version} is {state}: later bytes came", code="ERR_SUPERSEDED")
        if written != chunks:
            raise Broken(f"version {version} has {written} of {chunks} chunks")
        for (retired,) in self._db.execute(
            sql("version_retire"), {"document": number, "generation": generation}
        ).fetchall():
            self._owe(DebtKind.PURGE_VERSION, retired)
        self._db.execute(
            sql("version_publish"), {"version": version, "chunks": chunks, "now": iso(self._now)}
        )
        if not carried:
            self._move_on(number, DocumentState.INGESTED)

    def carry(self, document: DocumentId, generation: GenerationId) -> Version | None:
        """Copy the version readers see into the generation being built; None if its vectors do not fit."""
        where = {"document": document, "generation": generation}
        row = self._db.execute(sql("carry_find"), where).fetchone()
        if row is None:
            return None
        old, number, blob, size = row
        there = {"document": number, "generation": generation}
        for (outdated,) in self._db.execute(sql("carry_outdated"), there).fetchall():
            self._owe(DebtKind.PURGE_VERSION, outdated)
        begun = {**there, "blob": blob, "size": size, "now": iso(self._now)}
        (version,) = self._db.execute(sql("version_add"), begun).fetchone()
        last = self._db.execute(sql("chunk_last")).fetchone()[0]
        self._db.execute(sql("carry_chunks"), {"old": old, "new": version})
        written = words.add(self._db, generation, version, last)
        self._db.execute(sql("version_grow"), (written, version))
        self._db.execute(sql("carry_model"), {"old": old, "generation": generation})
        return version_of((version, document, generation, blob, VersionState.BUILDING, written))

    def touch(
        self, document: DocumentId, *, metadata_json: str | None = None, branch: str | None = None
    ) -> None:
        """An ingest found nothing new to read: the document is ingested as it stands (K5)."""
        found = self._known(document)
        if found.version is None:
            raise Broken(f"document {document} has no current version to be ingested with")
        number = self._number(document)
        self._outdate(number, found.blob)
        said = metadata_json or found.metadata_json, branch or found.branch
        if said != (found.metadata_json, found.branch):
            remark = {"number": number, "metadata": said[0], "branch": said[1]}
            self._db.execute(sql("document_remark"), remark)
        self._move_on(number, DocumentState.INGESTED)

    def rename(self, document: DocumentId, identity: str, name: str) -> None:
        """Move it (K8); a document that has that identity already is hidden first."""
        number = self._number(document)
        where = {"number": number, "identity": identity, "name": name, "now": iso(self._now)}
        for (twin,) in self._db.execute(sql("document_twin"), where).fetchall():
            self.hide(DocumentId(twin))
        self._db.execute(sql("document_rename"), where)

    def rehome(self, document: DocumentId, collection: CollectionId, *, identity: str, name: str) -> None:
        """Put it into another collection as an upload that awaits its parse (K19)."""
        number = self._number(document)
        if self._db.execute(sql("document_busy"), (number,)).fetchone()[0]:
            raise Refused(
                "something is being done with it; move it when that is over, or cancel that first",
                code="ERR_JOB_UNFINISHED",
            )
        for (gone,) in self._db.execute(sql("version_abandon"), (number,)).fetchall():
            self._owe(DebtKind.PURGE_VERSION, gone)
        where = {"number": number, "collection": collection, "identity": identity, "name": name}
        self._db.execute(sql("document_rehome"), {**where, "now": iso(self._now)})

    def hide(self, document: DocumentId) -> None:
        """Delete it, as far as readers can tell (K7); hiding it again changes nothing."""
        row = self._db.execute(sql("document_number"), (document,)).fetchone()
        if row is None:
            raise Refused(f"there is no document {document}", code="ERR_DOCUMENT_UNKNOWN")
        where = {"number": row[0], "now": iso(self._now)}
        if self._db.execute(sql("document_hide"), where).rowcount:
            self._owe(DebtKind.PURGE_DOCUMENT, document)

    def hide_some(self, tenant: TenantId, *, limit: int) -> int:
        """Hide up to so many of a tenant's documents; how many there were."""
        rows = self._db.execute(sql("document_hidable"), (tenant, limit)).fetchall()
        for (document,) in rows:
            self.hide(DocumentId(document))
        return len(rows)

    def _add(self, new: NewDocument) -> Document:
        document = DocumentId(new_job_id(self._now))
        row = {
            "id": document,
            "tenant": new.tenant,
            "collection": new.collection,
            "source": new.source,
            "identity": new.identity,
            "name": new.name,
            "branch": new.branch,
            "metadata": encode_metadata(new.metadata, bytes_max=self._rules.metadata_bytes_max),
            "bytes": new.size,
            "now": iso(self._now),
        }
        if not self._db.execute(sql("document_add"), row).rowcount:
            raise Refused(f"there is no collection {new.collection}", code="ERR_COLLECTION_UNKNOWN")
        return self._known(document)

    def _known(self, document: DocumentId) -> Document:
        found = self.get(document)
        if found is None:
            raise Refused(f"there is no document {document}", code="ERR_DOCUMENT_UNKNOWN")
        return found

    def _number(self, document: DocumentId) -> int:
        row = self._db.execute(sql("document_number"), (document,)).fetchone()
        if row is None or row[2]:
            raise Refused(f"there is no document {document}", code="ERR_DOCUMENT_UNKNOWN")
        return int(row[0])

    def _move_on(self, number: int, state: DocumentState) -> None:
        where = {"number": number, "state": state, "now": iso(self._now)}
        self._db.execute(sql("document_state"), where)

    def _outdate(self, number: int, blob: BlobId | None) -> None:
        """Unfinished versions of other bytes than these will not be finished."""
        where = {"document": number, "blob": blob}
        for (outdated,) in self._db.execute(sql("version_outdated"), where).fetchall():
            self._owe(DebtKind.PURGE_VERSION, outdated)

    def _owe(self, kind: DebtKind, about: object) -> None:
        self._debts.owe(NewDebt(kind=kind, about=str(about)))

    def _model(self, generation: GenerationId, model: str) -> int:
        row = self._db.execute(sql("model_find"), (model,)).fetchone()
        if row is None:
            raise Broken(f"no vector of {model} is known")
        where = {"generation": generation, "model": row[0]}
        told = self._db.execute(sql("generation_model"), where).fetchone()
        if told is None:
            raise Broken(f"generation {generation} is not there")
        if told[0] != row[0]:
            raise Broken(f"generation {generation} holds vectors of another model than {model}")
        return int(row[0])

    def _chunk_row(self, version: VersionId, model_id: int, model: str, new: NewChunk) -> tuple[object, ...]:
        chunk = new.chunk
        row = self._db.execute(sql("embedding_find"), (model_id, new.key)).fetchone()
        if row is None:
            raise Unkept(f"chunk {chunk.ordinal} of version {version} has no vector of {model}")
        return (
            version,
            chunk.ordinal,
            chunk.start,
            chunk.end,
            chunk.tokens,
            chunk.page_first,
            chunk.page_last,
            row[0],
            json.dumps(chunk.headings, ensure_ascii=False),
            new.lead,
            new.text,
            words.grams_of(f"{new.lead}\n{new.text}"),
        )

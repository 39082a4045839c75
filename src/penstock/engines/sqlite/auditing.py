"""Auditing the database: one statement a check, all in one snapshot, each with its repair beside it.

The checks read; they take no lock and hold up no writer. What a job under way has half done is not a flaw,
because it commits its steps whole and every check asks about states between steps.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial

from penstock.engines.sqlite import words
from penstock.engines.sqlite.access import Access
from penstock.engines.sqlite.debts import SqliteDebts
from penstock.engines.sqlite.misfits import Misfit, is_unit, misfits
from penstock.engines.sqlite.recounting import miscounts, recount
from penstock.engines.sqlite.restoring import index_flaws
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import iso, seconds
from penstock.engines.sqlite.words import words_sql
from penstock.model.catalogue import LOCAL_WORKSPACE, DebtKind, GenerationId, NewDebt
from penstock.model.diagnosis import Disagreement, Flaw, Laid, Need, Owed
from penstock.model.errors import Broken, Displaced
from penstock.model.standing import counted
from penstock.model.stored_json import stored_object

PORTION = 5000
"""Rows removed in one write."""
FAULTS_MAX = 20
"""Faults of the file itself that are told."""


class SqliteAuditor:
    """Compares what the tables say of each other."""

    def __init__(self, store: Access) -> None:
        self._store = store

    async def disagreements(
        self, *, limit: int = 1000, deep: bool = False, declared: Sequence[str] = ()
    ) -> list[Disagreement]:
        """Every flaw, at most `limit` of a kind."""
        found = await self._store.look(lambda db: _flaws(db, limit, declared, deep=deep))
        if deep:
            # FTS5 compares inside a write of its own; a generation at a time, so that others get their turn.
            for generation, name in await self._store.look(_generations):
                if not any(each.flaw is Flaw.WORDS and each.about == str(generation) for each in found):
                    found += await self._store.change(_comparing(generation, name))
            found += await self._misfits(limit)
        return found

    async def _misfits(self, limit: int) -> list[Disagreement]:
        """Versions of which a chunk's vector is no vector, or another text's; read a portion at a time."""
        versions: dict[int, list[Misfit]] = {}
        after: int | None = 0
        while after is not None and len(versions) < limit:
            some, after = await self._store.look(partial(misfits, after=after))
            for each in some:
                versions.setdefault(each.version, []).append(each)
        return [
            Disagreement(
                flaw=Flaw.CHUNK_TEXTS,
                about=str(version),
                sentence=f"{some[0].name}: {counted(len(some), 'chunk')} of version {version} and their "
                "vectors do not go together",
                document=some[0].document,
            )
            for version, some in list(versions.items())[:limit]
        ]

    async def mend(self, flaws: Sequence[Disagreement]) -> list[bool]:
        """Mend what is a matter of the database alone; False where that is not enough."""
        return [await self._mended(each) for each in flaws]

    async def _mended(self, each: Disagreement) -> bool:
        """What cannot be mended keeps nothing else from it."""
        try:
            return await self._mend(each)
        except Displaced:
            raise
        except Broken:
            return False

    async def needed(self, *, after: str = "", limit: int = 1000) -> list[Need]:
        """Bytes something refers to, by hash."""
        where = {"after": after, "limit": limit}
        rows = await self._store.look(lambda db: db.execute(sql("audit_needed"), where).fetchall())
        return [Need(blob=row[0], document=row[1], identity=row[2] or "") for row in rows]

    async def unneeded(self, blobs: Sequence[str]) -> list[str]:
        """Those of these bytes that nothing refers to and nobody has been told to remove."""
        where = {"blobs": json.dumps(list(blobs))}
        rows = await self._store.look(lambda db: db.execute(sql("audit_unneeded"), where).fetchall())
        return [blob for (blob,) in rows]

    async def laid(self, *, after: int = 0, limit: int = 100) -> list[Laid]:
        """Current versions of generations in use, and where their texts lie."""
        where = {"after": after, "limit": limit}
        rows = await self._store.look(lambda db: db.execute(sql("audit_spans"), where).fetchall())
        return [
            Laid(version=version, document=document, name=name, parses=tuple(json.loads(parses)))
            for version, document, name, parses in rows
        ]

    async def spans(self, version: int) -> list[tuple[int, int, str]]:
        """Where each chunk of a version starts and ends in its text, and what it says."""
        return await self._store.look(lambda db: db.execute(sql("audit_spans_of"), (version,)).fetchall())

    async def forget_parse(self, blob: str) -> None:
        """A kept parse whose bytes are gone is made anew."""
        await self._store.change(lambda db: db.execute(sql("parse_forget"), (blob,)).rowcount)

    async def owed(self) -> list[Owed]:
        """What is owed, by kind."""
        rows = await self._store.look(lambda db: db.execute(sql("audit_owed")).fetchall())
        return [
            Owed(kind=kind, count=count, since=seconds(since), tries=tries, reason=reason)
            for kind, count, since, tries, reason in rows
        ]

    async def _mend(self, each: Disagreement) -> bool:
        repair = _REPAIRS.get(each.flaw)
        if repair is None:
            return False
        now = self._store.clock.now()
        while await self._store.change(lambda db: repair(db, each.about, now)):
            pass
        return each.flaw not in _BEGUN


def _flaws(db: sqlite3.Connection, limit: int, declared: Sequence[str], *, deep: bool) -> list[Disagreement]:
    found = _file(db) if deep else []
    found += index_flaws(db, limit) + miscounts(db, limit)
    where = {"limit": limit, "declared": json.dumps(list(declared)), "local": LOCAL_WORKSPACE}
    for flaw, (name, sentence) in _CHECKS.items():
        for row in db.execute(sql(name), where).fetchall():
            document = row[_DOCUMENT[flaw]] if flaw in _DOCUMENT else None
            found.append(
                Disagreement(flaw=flaw, about=str(row[0]), sentence=sentence(row), document=document)
            )
    for generation, name in _generations(db):
        found += _words(db, generation, name)
    return found


def _file(db: sqlite3.Connection) -> list[Disagreement]:
    rows = db.execute(f"PRAGMA quick_check({FAULTS_MAX})").fetchall()
    return [
        Disagreement(flaw=Flaw.DATABASE, about="penstock.db", sentence=told)
        for (told,) in rows
        if told != "ok"
    ]


def _generations(db: sqlite3.Connection) -> list[tuple[GenerationId, str]]:
    return [(GenerationId(row[0]), row[1]) for row in db.execute(sql("audit_generations")).fetchall()]


def _words(db: sqlite3.Connection, generation: GenerationId, name: str) -> list[Disagreement]:
    try:
        wordless, chunkless = db.execute(words_sql("audit_words", generation)).fetchone()
    except sqlite3.OperationalError as error:
        told = f"the words of {name} cannot be read: {error}"
        return [Disagreement(flaw=Flaw.WORDS, about=str(generation), sentence=told)]
    if not wordless and not chunkless:
        return []
    told = f"{wordless} chunks of {name} have no words, and words of {chunkless} have no chunk"
    return [Disagreement(flaw=Flaw.WORDS, about=str(generation), sentence=told)]


def _comparing(generation: GenerationId, name: str) -> Callable[[sqlite3.Connection], list[Disagreement]]:
    def work(db: sqlite3.Connection) -> list[Disagreement]:
        try:
            db.execute(words_sql("audit_words_whole", generation))
        except sqlite3.DatabaseError:
            told = f"the words of {name} are not those of its chunks"
            return [Disagreement(flaw=Flaw.WORDS, about=str(generation), sentence=told)]
        return []

    return work


_CHECKS: dict[Flaw, tuple[str, Callable[[Sequence[object]], str]]] = {
    Flaw.VERSION_CHUNKS: (
        "audit_version_chunks",
        lambda row: f"{row[2]}: version {row[0]} should have {row[3]} chunks and has {row[4]}, or others",
    ),
    Flaw.CHUNK_VECTORS: (
        "audit_chunk_vectors",
        lambda row: f"{row[2]}: {row[3]} chunks of version {row[0]} have no vector that fits",
    ),
    Flaw.DOCUMENT_METADATA: (
        "audit_document_metadata",
        lambda row: f"the metadata of {row[1]} is no JSON object",
    ),
    Flaw.JOB_ASTRAY: (
        "audit_job_astray",
        lambda row: (
            f"job {row[0]} waits for the collection {row[1]}, which is not there; make it, "
            "or have the job cancelled"
        ),
    ),
    Flaw.DOCUMENT_STRAYS: (
        "audit_document_strays",
        lambda row: f"{row[1]} says another workspace than its collection's",
    ),
    Flaw.CHUNK_ORPHANS: (
        "audit_chunk_orphans",
        lambda row: f"{row[1]} chunks belong to version {row[0]}, which is not there",
    ),
    Flaw.VERSION_UNPURGED: (
        "audit_version_unpurged",
        lambda row: f"{row[2] or 'no document'}: version {row[0]} is gone and nobody purges it",
    ),
    Flaw.VERSION_UNFINISHED: (
        "audit_version_unfinished",
        lambda row: f"{row[2]}: version {row[0]} is left half built and nobody purges it",
    ),
    Flaw.VERSION_ORPHANS: (
        "audit_version_orphans",
        lambda row: f"version {row[0]} belongs to a document that is not there",
    ),
    Flaw.DOCUMENT_ORPHANS: (
        "audit_document_orphans",
        lambda row: f"{row[1]} belongs to a collection that is not there",
    ),
    Flaw.DOCUMENT_UNPURGED: (
        "audit_document_unpurged",
        lambda row: f"{row[1]} is deleted and nobody purges it",
    ),
    Flaw.GENERATION_UNPURGED: (
        "audit_generation_unpurged",
        lambda row: f"index {row[0]} of {row[1] or 'no collection'} is not used and nobody purges it",
    ),
    Flaw.DOCUMENT_VERSIONLESS: (
        "audit_document_versionless",
        lambda row: f"{row[1]} counts as ingested and has no current version",
    ),
    Flaw.DOCUMENT_WAITING: (
        "audit_document_waiting",
        lambda row: f"{row[1]} is {row[2]} and no job is at work on it",
    ),
    Flaw.EVENT_PAYLOAD: (
        "audit_event_payload",
        lambda row: f"event {row[1]} of user {row[2]} is no JSON object and is told to nobody",
    ),
    Flaw.STAGE_LOST: (
        "audit_stage_lost",
        lambda row: f"{row[2] or 'no document'}: step {row[0]} has not ended though its job has",
    ),
}
_DOCUMENT = {
    Flaw.VERSION_CHUNKS: 1,
    Flaw.CHUNK_VECTORS: 1,
    Flaw.DOCUMENT_VERSIONLESS: 0,
    Flaw.DOCUMENT_WAITING: 0,
}
"""Which cell names the document that must be built anew."""


def _owe(kind: DebtKind) -> Callable[[sqlite3.Connection, str, float], int]:
    def repair(db: sqlite3.Connection, about: str, now: float) -> int:
        SqliteDebts(db, now).owe(NewDebt(kind=kind, about=about))
        return 0

    return repair


def _give_up_version(db: sqlite3.Connection, version: str, now: float) -> int:
    db.execute(sql("mend_version"), {"version": int(version)})
    return _owe(DebtKind.PURGE_VERSION)(db, version, now)


def _give_up_document(db: sqlite3.Connection, document: str, now: float) -> int:
    db.execute(sql("mend_document"), {"document": document, "now": iso(now)})
    return _owe(DebtKind.PURGE_DOCUMENT)(db, document, now)


def _end_stage(db: sqlite3.Connection, stage: str, now: float) -> int:
    db.execute(sql("mend_stage"), {"id": stage, "now": iso(now)})
    return 0


def _remove_orphans(db: sqlite3.Connection, version: str, _: float) -> int:
    return db.execute(sql("mend_orphans"), {"version": int(version), "limit": PORTION}).rowcount


def _forget_vectors(db: sqlite3.Connection, version: str, _: float) -> int:
    db.execute(sql("mend_vectors"), {"version": int(version)})
    return 0


def _forget_lengthless(db: sqlite3.Connection, version: str, _: float) -> int:
    """What is no vector is made anew; one of another text may be somebody's and stays."""
    rows = db.execute(sql("mend_lengths"), (int(version),)).fetchall()
    db.execute(sql("mend_embeddings"), (json.dumps([each for each, vector in rows if not is_unit(vector)]),))
    return 0


def _let_answer(db: sqlite3.Connection, collection: str, _: float) -> int:
    db.execute(sql("mend_collection"), {"collection": int(collection)})
    return 0


def _say_metadata(db: sqlite3.Connection, document: str, _: float) -> int:
    """In JSON, whatever it says: nothing of it is dropped."""
    row = db.execute(sql("metadata_of"), (document,)).fetchone()
    if row is not None:
        text = row[0].decode(errors="backslashreplace")
        said = json.dumps(stored_object(text), ensure_ascii=False)
        db.execute(sql("mend_metadata"), {"document": document, "metadata": said, "read": row[0]})
    return 0


def _forget_events(db: sqlite3.Connection, about: str, _: float) -> int:
    """Up to the damaged one, which goes last: nobody who lacks it is told any of these one by one."""
    user, seq = about.rsplit(":", 1)
    return db.execute(sql("mend_events"), {"user": user, "seq": int(seq), "limit": PORTION}).rowcount


def _bring_home(db: sqlite3.Connection, document: str, _: float) -> int:
    db.execute(sql("mend_workspace"), {"document": document})
    return 0


def _words_again(db: sqlite3.Connection, about: str, _: float) -> int:
    """From the ground: of a table that cannot be read, FTS5 can make no other."""
    generation = GenerationId(int(about))
    words.drop(db, generation)
    words.make(db, generation)
    db.execute(words_sql("audit_words_again", generation))
    return 0


_REPAIRS: dict[Flaw, Callable[[sqlite3.Connection, str, float], int]] = {
    Flaw.COLLECTION_INDEX: _let_answer,
    Flaw.DOCUMENT_STRAYS: _bring_home,
    Flaw.DOCUMENT_METADATA: _say_metadata,
    Flaw.BATCH_COUNTS: recount,
    Flaw.EVENT_PAYLOAD: _forget_events,
    Flaw.CHUNK_VECTORS: _forget_vectors,
    Flaw.CHUNK_TEXTS: _forget_lengthless,
    Flaw.CHUNK_ORPHANS: _remove_orphans,
    Flaw.WORDS: _words_again,
    Flaw.VERSION_ORPHANS: _give_up_version,
    Flaw.DOCUMENT_ORPHANS: _give_up_document,
    Flaw.VERSION_UNPURGED: _owe(DebtKind.PURGE_VERSION),
    Flaw.VERSION_UNFINISHED: _owe(DebtKind.PURGE_VERSION),
    Flaw.DOCUMENT_UNPURGED: _owe(DebtKind.PURGE_DOCUMENT),
    Flaw.GENERATION_UNPURGED: _owe(DebtKind.PURGE_GENERATION),
    Flaw.STAGE_LOST: _end_stage,
}
"""How each is mended; a repair says how much is left to do in a further write."""
_BEGUN = frozenset({Flaw.CHUNK_VECTORS, Flaw.CHUNK_TEXTS, Flaw.COLLECTION_INDEX})
"""Flaws that take more than that: their document, or all of them, must be built anew."""

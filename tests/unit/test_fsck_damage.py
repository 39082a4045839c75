"""`fsck` on data damaged by hand: it looks on, tells each flaw by name, and mends what can be mended."""

# ruff: noqa: ASYNC240 -- a test's own loop may be held up by a file of its own.

import json
import os
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.disk import DiskBlobs
from penstock.intake.admission import Admission, Order
from penstock.model.accounts import Workspace
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE
from penstock.model.diagnosis import Disagreement
from penstock.model.errors import Broken, ErrorReport
from penstock.model.jobs import BatchId, JobId
from penstock.model.outcomes import DONE, Failed
from penstock.model.parsed import Media, Parsed
from penstock.model.payloads import Content
from penstock.model.recipes import Recipe
from penstock.model.states import State
from penstock.model.vector_keys import vector_keys
from penstock.ports.codec import encode_parsed
from penstock.ports.database import Transaction
from penstock.settings import Settings, load
from penstock.wiring.fsck import Audit
from penstock.wiring.store import Store, open_store
from tests.support.ingested import MODEL, WORKER, a_collection, by_hand, ingested
from tests.support.jobs import a_job

LONG_AGO = (1_000_000_000, 1_000_000_000)
TEXTS = ("the first part", "the second part", "the third part")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(None, {"PENSTOCK_DATA": str(tmp_path / "data")}, {})


@pytest.fixture
async def store(settings: Settings, tmp_path: Path) -> AsyncIterator[Store]:
    """A data folder with one searchable document."""
    (tmp_path / "one.txt").write_text(" ".join(TEXTS), encoding="utf-8")
    async with open_store(settings) as opened:
        await a_collection(opened)
        await ingested(opened, settings.data, tmp_path / "one.txt", TEXTS)
        yield opened


@pytest.fixture
def audit(store: Store, settings: Settings) -> Audit:
    return Audit(store, settings)


@pytest.fixture
def blob(store: Store, settings: Settings) -> Path:
    """Where the document's bytes lie."""
    (found,) = [path for path in (settings.data / "blobs").rglob("*") if path.is_file()]
    return found


def kinds(found: list[Disagreement]) -> list[str]:
    return sorted(each.flaw.value for each in found)


async def mended(audit: Audit, *, deep: bool = False) -> list[str]:
    """What is found and all mended."""
    found = await audit.flaws(deep=deep)
    assert await audit.mend(found) == [True] * len(found)
    return kinds(found)


SWAPPED = """UPDATE chunks SET embedding_id = (SELECT other.embedding_id FROM chunks other
  WHERE other.ordinal = 1 - chunks.ordinal) WHERE ordinal < 2"""


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (SWAPPED, ["chunk_texts"]),
        ("UPDATE chunks SET text = 'a lie' WHERE ordinal = 1", ["chunk_texts", "words"]),
        ("UPDATE chunks SET headings_json = '{' WHERE ordinal = 1", ["chunk_texts"]),
        ("UPDATE embeddings SET vector = zeroblob(length(vector)) WHERE embedding_id = 1", ["chunk_texts"]),
    ],
)
async def test_a_chunk_with_the_vector_of_another_text_is_built_anew(
    audit: Audit, store: Store, settings: Settings, damage: str, told: list[str]
) -> None:
    """Only a deep look reads them all; while its job waits, the document is no flaw."""
    by_hand(settings.data, damage)

    assert await audit.flaws() == []
    assert await mended(audit, deep=True) == told
    assert await audit.flaws(deep=True) == []
    assert len(await store.queue.claim(WORKER, 2)) == 1


async def test_words_that_cannot_be_read_are_made_from_the_ground(audit: Audit, settings: Settings) -> None:
    """A table that is gone, or what it is made of, keeps no other flaw from being mended."""
    for lost in ("DROP TABLE words_1", "DROP VIEW words_1_of"):
        by_hand(settings.data, lost)

        assert await mended(audit) == ["words"]
        assert await audit.flaws(deep=True) == []


async def test_an_index_no_pointer_leads_to_is_not_thrown_away(audit: Audit, settings: Settings) -> None:
    """A collection that answers from an index that is not there gets its own back."""
    by_hand(settings.data, "UPDATE collections SET generation = 77")

    assert kinds(await audit.flaws()) == ["collection_index", "document_versionless"]
    await mended(audit)
    by_hand(settings.data, "DELETE FROM unified_queue WHERE finished_at IS NULL")

    assert await audit.flaws(deep=True) == []


UNREADABLE_RECIPE = "UPDATE generations SET recipe_json = {}"


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("DELETE FROM generations", "the index of notes is not there"),
        (UNREADABLE_RECIPE.format("'{'"), "the recipe of notes cannot be read: the recipe is not JSON"),
        (UNREADABLE_RECIPE.format("CAST(x'7bff' AS TEXT)"), "the recipe is not JSON"),
        (UNREADABLE_RECIPE.format('\'{"model": "m", "chunk_tokens": 1}\''), "chunk_tokens is 1"),
        ("UPDATE collections SET building = 77", "the index being built for notes is not there"),
    ],
)
async def test_a_lost_index_is_put_back_and_built_anew(
    audit: Audit, store: Store, settings: Settings, damage: str, told: str
) -> None:
    """What lies in it answers meanwhile; as nobody knows its recipe any more, the collection is rebuilt."""
    by_hand(settings.data, damage)

    (found,) = await audit.flaws()
    assert told in found.sentence
    assert await mended(audit) == ["collection_index"]

    assert await audit.flaws(deep=True) == []
    shelf = await store.catalogue.collection(LOCAL_WORKSPACE, "notes")
    assert shelf is not None
    assert Recipe.from_json(shelf.recipe_json) == Recipe(model=MODEL)
    assert shelf.building is not None
    assert [each.kind for each in await store.auditor.owed() if each.kind == "rebuild"] == ["rebuild"]
    (document,) = await store.catalogue.documents(LOCAL_WORKSPACE)
    assert (document.chunks, document.version is not None) == (len(TEXTS), True)


async def test_a_restored_index_says_the_model_of_its_vectors(
    audit: Audit, store: Store, settings: Settings
) -> None:
    """Whatever model is in force: a question must be embedded as its chunks were."""
    by_hand(settings.data, "UPDATE models SET name = 'an older one'", "DELETE FROM generations")

    await mended(audit)

    shelf = await store.catalogue.collection(LOCAL_WORKSPACE, "notes")
    assert shelf is not None
    assert Recipe.from_json(shelf.recipe_json).model == "an older one"


async def test_a_collection_without_its_index_says_what_to_do(store: Store, settings: Settings) -> None:
    """Whoever would make it anew is told that it is there, and how it is mended."""
    by_hand(settings.data, "DELETE FROM generations")

    with pytest.raises(Broken, match="penstock fsck --repair"):
        await a_collection(store)


@pytest.mark.parametrize("damage", ["'{'", "'[1]'", "'NaN'", "''", "x'7b7d'"])
async def test_an_event_that_cannot_be_told_is_forgotten_with_all_before_it(
    audit: Audit, store: Store, settings: Settings, damage: str
) -> None:
    """Numbers keep no gap but at the beginning, none is given again, and whoever lacks it is told so."""
    ((user, last),) = rows(settings, "SELECT user_id, seq FROM event_counters")
    torn = last - 1
    by_hand(settings.data, f"UPDATE events SET payload_json = {damage} WHERE seq = {torn}")  # noqa: S608

    before = {seq: await told_after(store, user, seq) for seq in range(last)}
    assert await mended(audit) == ["event_payload"]
    assert await audit.flaws(deep=True) == []

    assert rows(settings, "SELECT seq FROM events") == [(last,)]
    assert {seq: await told_after(store, user, seq) for seq in range(last)} == before
    assert {seq for seq, told in before.items() if told} == {torn}
    assert (await store.feed.bounds([user]))[user].last == last


def rows(settings: Settings, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(settings.data / "penstock.db")) as db:
        return db.execute(query).fetchall()


async def told_after(store: Store, user: str, seq: int) -> bool:
    """Whether a reader who has this one is told the next ones, and not to read anew."""
    (page,) = await store.feed.pages({user: seq})
    return page.follows(seq)


@pytest.mark.parametrize("text", ["'{'", "'[1]'", "'NaN'", "''", "CAST(x'7b22c3' AS TEXT)"])
async def test_metadata_that_is_no_json_is_told_and_kept(
    audit: Audit, store: Store, settings: Settings, text: str
) -> None:
    """The text itself may be all there is of it: the repair makes it readable and drops nothing."""
    by_hand(settings.data, f"UPDATE documents SET metadata_json = {text}")  # noqa: S608

    assert await mended(audit) == ["document_metadata"]
    assert await audit.flaws(deep=True) == []

    (document,) = await store.catalogue.documents(LOCAL_WORKSPACE)
    kept = json.loads(document.metadata_json)
    assert list(kept) == ["unreadable"]
    assert kept["unreadable"].replace("\\xc3", "") in (text.strip("'"), '{"')


@pytest.fixture
async def batch(store: Store) -> str:
    """A batch of three: one is done, one failed, one waits."""
    of = await store.batches.open_batch("parent")
    await store.queue.submit([a_job(collection="notes") for _ in range(3)], batch=of)
    await store.batches.seal_batch(of)
    one, other = await store.queue.claim(WORKER, 2)
    report = ErrorReport(code="ERR_FILE_NOT_FOUND", message="gone")
    await store.queue.settle([(one, DONE), (other, Failed(report))])
    return of


@pytest.mark.parametrize(
    "damage",
    [
        "done = 0",
        "done = 2",
        "failed = 0, done = 2",
        "total = 2",
        "total = 30",
        "ended_at = created_at",
    ],
)
async def test_a_batch_is_counted_by_its_children(
    audit: Audit, store: Store, settings: Settings, batch: str, damage: str
) -> None:
    """Counts somebody changed are told, and are afterwards those of the children."""
    assert await audit.flaws() == []
    by_hand(settings.data, f"UPDATE queue_batches SET {damage}")  # noqa: S608

    assert await mended(audit) == ["batch_counts"]
    assert await audit.flaws() == []
    found = await store.batches.batch(BatchId(batch))
    assert found is not None
    assert (found.total, found.done, found.failed, found.ended_at) == (3, 1, 1, None)


async def test_a_child_the_batch_would_not_notice_is_counted(
    audit: Audit, store: Store, settings: Settings, batch: str
) -> None:
    """A batch ends with its last child, also where somebody took the child's mark away."""
    by_hand(settings.data, "UPDATE unified_queue SET batched = 0 WHERE finished_at IS NULL")

    assert await mended(audit) == ["batch_counts"]
    (last,) = await store.queue.claim(WORKER, 5)
    await store.queue.settle([(last, DONE)])

    found = await store.batches.batch(BatchId(batch))
    assert found is not None
    assert (found.done, found.ended_at is None) == (2, False)
    assert await audit.flaws() == []


@pytest.mark.parametrize("damage", ["total = 30", "done = 9", "total = 1", "ended_at = created_at"])
async def test_children_that_are_kept_no_more_stay_counted(
    audit: Audit, store: Store, settings: Settings, batch: str, damage: str
) -> None:
    """What was removed when its time was over is no flaw, and the repair counts it as the batch does."""
    by_hand(
        settings.data,
        "DELETE FROM queue_batch_members "
        "WHERE queue_id IN (SELECT queue_id FROM unified_queue WHERE status = 'done')",
    )
    assert await audit.flaws() == []
    by_hand(settings.data, f"UPDATE queue_batches SET {damage}")  # noqa: S608

    assert await mended(audit) == ["batch_counts"]

    found = await store.batches.batch(BatchId(batch))
    assert found is not None
    assert (found.total, found.done, found.failed) == (3, 1, 1)


async def keep_text(store: Store, settings: Settings, text: str) -> None:
    """A parse of the document's bytes, kept before its version was published; chunks have their places."""
    parsed = Parsed(text=text, media=Media.TEXT)
    kept = await DiskBlobs(settings.data / "blobs").put_bytes(encode_parsed(parsed))
    places = [
        f"UPDATE chunks SET span_start = {text.index(each)}, span_end = {text.index(each) + len(each)} "  # noqa: S608
        f"WHERE text = '{each}'"
        for each in TEXTS
    ]
    by_hand(
        settings.data,
        "INSERT INTO parses (blob, parser, result, kept_at) "  # noqa: S608
        f"SELECT blob, 'txt', '{kept.hash}', begun_at FROM versions",
        *places,
    )


@pytest.mark.parametrize(
    "damage",
    [
        "span_start = span_start + 1, span_end = span_end + 1",
        "span_end = span_end + 5",
        "span_start = 900, span_end = 900 + length(text)",
        "span_start = -15, span_end = -1",
    ],
)
async def test_a_chunk_that_is_not_at_its_place_is_built_anew(
    audit: Audit, store: Store, settings: Settings, damage: str
) -> None:
    """A citation would show other words; only a deep look reads the texts."""
    await keep_text(store, settings, " ".join(TEXTS))
    assert await audit.flaws(deep=True) == []
    by_hand(settings.data, f"UPDATE chunks SET {damage} WHERE ordinal = 1")  # noqa: S608

    assert await audit.flaws() == []
    assert await mended(audit, deep=True) == ["chunk_spans"]
    assert await audit.flaws(deep=True) == []
    assert len(await store.queue.claim(WORKER, 2)) == 1


async def test_a_place_that_reaches_beyond_the_text_is_told(
    audit: Audit, store: Store, settings: Settings
) -> None:
    """The last words of a text stand where its end is, whatever else a slice of it would show."""
    await keep_text(store, settings, " ".join(TEXTS))
    by_hand(
        settings.data,
        "UPDATE chunks SET span_end = span_end + 3 WHERE chunk_id = (SELECT max(chunk_id) FROM chunks)",
    )

    assert await mended(audit, deep=True) == ["chunk_spans"]


async def test_without_its_text_a_chunk_is_as_long_as_its_place(
    audit: Audit, store: Store, settings: Settings
) -> None:
    """Where no parse is kept any more, that much can still be known."""
    by_hand(settings.data, "UPDATE chunks SET span_end = span_end + 1 WHERE ordinal = 1")

    assert await mended(audit, deep=True) == ["chunk_spans"]


async def test_a_parse_that_came_later_is_not_what_chunks_were_cut_from(
    audit: Audit, store: Store, settings: Settings
) -> None:
    """Another parser may have read the same bytes otherwise since."""
    await keep_text(store, settings, " ".join(TEXTS))
    by_hand(settings.data, "UPDATE parses SET kept_at = '2999-01-01T00:00:00.000000Z'")
    by_hand(settings.data, "UPDATE chunks SET span_start = span_start + 3, span_end = span_end + 3")

    assert await audit.flaws(deep=True) == []


ASTRAY = """INSERT INTO unified_queue (queue_id, item_type, op, tenant_id, collection, created_at, updated_at,
  idempotency_key, payload_json, next_run_at) VALUES ('astray', 'file', 'ingest', 'local', 'nowhere',
  '2026-01-01T00:00:00.000000Z', '2026-01-01T00:00:00.000000Z', 'file:nowhere:0', '{"file_path": "/a.txt"}',
  '2999-01-01T00:00:00.000000Z')"""


async def test_a_job_for_a_collection_that_is_not_there_is_cancelled(
    audit: Audit, store: Store, settings: Settings
) -> None:
    """Also one that is due only later; one whose collection the configuration names is no flaw."""
    by_hand(settings.data, ASTRAY)
    named = {"PENSTOCK_DATA": str(settings.data)}
    config = settings.data.parent / "penstock.yaml"
    config.write_text("collections:\n  nowhere: {}\n")

    assert await Audit(store, load(config, named, {})).flaws() == []
    assert await mended(audit) == ["job_astray"]
    assert await audit.flaws() == []
    found = await store.desk.find(JobId("astray"))
    assert found is not None
    assert found.state is State.FAILED


async def test_a_queue_without_a_catalogue_is_judged_by_none(tmp_path: Path) -> None:
    """Handlers of other programs know their own collections."""
    settings = load(None, {"PENSTOCK_DATA": str(tmp_path / "bare")}, {})
    async with open_store(settings) as store:
        by_hand(settings.data, ASTRAY)

        assert await Audit(store, settings).flaws() == []


async def test_a_document_of_another_workspace_comes_home(
    audit: Audit, store: Store, settings: Settings
) -> None:
    """Nobody reads it where it does not belong."""
    other = (await store.write(_workspace)).id
    by_hand(settings.data, f"UPDATE documents SET workspace_id = '{other}'")  # noqa: S608

    assert await mended(audit) == ["document_strays"]
    assert await audit.flaws() == []
    assert await store.catalogue.documents(other) == []


async def test_bytes_that_cannot_be_read_are_taken_again(audit: Audit, blob: Path) -> None:
    """One of them is no reason to look at nothing else; what lies in their place is replaced."""
    blob.unlink()
    blob.symlink_to(blob.name)  # a link to itself: the system reads it as little as a bad sector

    assert await mended(audit) == ["blob_damaged"]
    assert await audit.flaws(deep=True) == []


async def test_bytes_by_no_hash_are_taken_anew(audit: Audit, store: Store, settings: Settings) -> None:
    """What somebody wrote by hand can be no name of bytes; the document is built from its file."""
    by_hand(settings.data, "UPDATE versions SET blob = 'nonsense'")

    assert await mended(audit) == ["blob_missing"]
    assert len(await store.queue.claim(WORKER, 2)) == 1


async def test_what_is_none_of_the_bytes_is_put_aside(audit: Audit, blob: Path, settings: Settings) -> None:
    """Neither kept nor removed: it is somebody's. A folder where bytes belong no longer keeps them away."""
    blobs = settings.data / "blobs"
    (blob.parent / "junk").write_text("a")
    (blobs / os.fsdecode(b"caf\xe9")).write_text("b")
    blob.unlink()
    blob.mkdir()
    for path in (blob.parent / "junk", blobs / os.fsdecode(b"caf\xe9"), blob):
        os.utime(path, LONG_AGO)
    (blobs / "young").write_text("c")

    assert await mended(audit) == ["blob_damaged", "blob_foreign", "blob_foreign", "blob_foreign"]

    assert await audit.flaws(deep=True) == []
    there = blob.parent.name
    assert {os.fsencode(path.name) for path in (settings.data / "strays").iterdir()} == {
        f"{there}-junk".encode(),
        f"{there}-{blob.name}".encode(),
        b"blobs-caf\xe9",
    }
    assert (blobs / "young").exists()


async def test_half_written_files_beside_moved_ones_are_swept(audit: Audit, settings: Settings) -> None:
    """Records and moves are written aside too; a folder by such a name is nobody's leftover."""
    processed = settings.data / "sources" / "notes" / "processed"
    processed.mkdir(parents=True)
    (processed / ".a.pdf.0123456789abcdef.part").write_text("half")
    (processed / "0123456789abcdef.part").mkdir()

    assert await mended(audit) == ["unfinished_files"]
    assert [path.name for path in processed.iterdir()] == ["0123456789abcdef.part"]
    assert await audit.flaws() == []


async def test_a_text_is_said_again_by_its_job_and_never_misquoted(
    audit: Audit, store: Store, settings: Settings
) -> None:
    """Lost bytes come from the job that brought them; damaged ones never make a document of their own."""
    blobs = DiskBlobs(settings.data / "blobs")
    order = Order(tenant=LOCAL_TENANT, collection="notes", priority=5)
    text = await Admission(store).text(order, Content(content="what was said"), name="a note")
    kept = await blobs.put_bytes(b"what was said")
    by_hand(
        settings.data,
        "INSERT INTO versions (document, generation_id, blob, size, begun_at) "  # noqa: S608
        f"SELECT number, 1, '{kept.hash}', 13, created_at FROM documents WHERE source = 'content'",
    )
    await blobs.remove(kept.hash)

    assert await mended(audit) == ["blob_missing"]
    assert (await blobs.verify(kept.hash)).size == 13

    await store.desk.cancel([text.job])
    by_hand(settings.data, "UPDATE documents SET state = 'pending' WHERE source = 'content'")
    path = settings.data / "blobs" / kept.hash[:2] / kept.hash[2:]
    path.chmod(0o600)
    path.write_bytes(b"what was shed")
    found = await audit.flaws()

    assert kinds(found) == ["document_waiting"]
    assert await audit.mend(found) == [False]
    assert len(await store.catalogue.documents(LOCAL_WORKSPACE)) == 2


def test_every_lead_a_chunk_may_have_is_tried() -> None:
    """All headings, some of them in a row, or none."""
    from penstock.model.chunks import text_key

    keys = list(vector_keys(("A", "B"), "text", LOCAL_TENANT))

    assert keys == [text_key(each) for each in ("A\nB\ntext", "B\ntext", "A\ntext", "text")]


def _workspace(tx: Transaction) -> Workspace:
    user = "00000000-0000-4000-8000-00000000000a"
    tx.accounts.sign_in(user)
    return tx.accounts.open(user, "Research")

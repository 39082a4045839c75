"""Collections, documents, versions and chunks: clauses K1 to K8, K12, K16, K19."""

import asyncio
from typing import Any

import pytest

from penstock.model.catalogue import (
    LOCAL_WORKSPACE,
    DebtKind,
    DocumentId,
    DocumentState,
    GenerationId,
    KeptParse,
    Source,
    StageKind,
    VersionId,
    VersionState,
    WorkspaceId,
)
from penstock.model.chunks import Vector, text_key
from penstock.model.errors import Broken, Refused
from penstock.model.jobs import TenantId
from penstock.model.uploads import upload_path
from penstock.ports.database import Transaction
from tests.contract.engines import Home, Store
from tests.support.cataloguing import (
    MODEL,
    PURGES,
    RECIPE,
    blob_of,
    claimed_job,
    declared,
    ingest,
    ingested,
    new_chunks,
    new_document,
    vector_of,
    version_id,
    write_version,
)
from tests.support.jobs import COLLECTION, OTHER_TENANT, TENANT, a_job

NEEDS_DATABASE = True


async def test_declaring_a_collection_again_changes_nothing(store: Store) -> None:
    """K1: the first declaration's recipe stays, and there is one collection of a name."""
    first = await store.write(lambda tx: tx.shelves.declare(LOCAL_WORKSPACE, "notes", recipe_json='{"a":1}'))
    again = await store.write(lambda tx: tx.shelves.declare(LOCAL_WORKSPACE, "notes", recipe_json='{"b":2}'))

    assert again == first
    assert await store.catalogue.collections(LOCAL_WORKSPACE) == [first]


async def test_collections_survive_a_restart(home: Home, store: Store) -> None:
    """K1: what was declared is there after the store was opened again."""
    made = await store.write(declared)

    again = await home.restart(store)

    assert await again.catalogue.collection(LOCAL_WORKSPACE, COLLECTION) == made


async def test_an_identity_is_one_document(store: Store) -> None:
    """K2: admitting it again gives the same document, also after it failed or was ingested."""

    def twice(tx: Transaction) -> tuple[DocumentId, DocumentId]:
        new = new_document(declared(tx).id)
        return tx.documents.admit(new).id, tx.documents.admit(new).id

    first, second = await store.write(twice)

    assert first == second


async def test_two_tenants_have_documents_of_their_own_at_one_path(store: Store) -> None:
    """K2: the identity is the tenant's, not the collection's alone."""

    def both(tx: Transaction) -> set[DocumentId]:
        shelf = declared(tx)
        return {tx.documents.admit(new_document(shelf.id, tenant=t)).id for t in (TENANT, OTHER_TENANT)}

    assert len(await store.write(both)) == 2


async def test_a_hidden_identity_starts_a_new_document(store: Store) -> None:
    """K2: a deleted document is never given back."""
    gone = await ingested(store)
    await store.write(lambda tx: tx.documents.hide(gone.id))

    new = await ingested(store)

    assert new.id != gone.id
    assert await store.catalogue.document(LOCAL_WORKSPACE, gone.id) is None


async def test_a_document_of_an_unknown_collection_is_refused(store: Store) -> None:
    """K2: there is no place for it, and the error says so."""
    shelf = await store.write(declared)
    await store.write(lambda tx: tx.shelves.remove(shelf.id))

    with pytest.raises(Refused) as caught:
        await store.write(lambda tx: tx.documents.admit(new_document(shelf.id)))

    assert caught.value.code == "ERR_COLLECTION_UNKNOWN"


async def test_readers_see_the_published_version_alone(store: Store) -> None:
    """K3: a version being built changes nothing a reader sees."""
    document = await ingested(store, texts=["old words"])

    def build(tx: Transaction) -> VersionId:
        return write_version(tx, document.id, declared(tx).generation, ["new words"]).id

    building = await store.write(build)
    seen = await store.catalogue.document(LOCAL_WORKSPACE, document.id)
    version = await store.catalogue.version(building)

    assert seen == document
    assert version is not None
    assert version.state is VersionState.BUILDING
    counts = await store.catalogue.counts(document.collection)
    assert counts["chunks"] == 1
    assert await store.catalogue.counts_of_all(document.workspace) == {document.collection: counts}


async def test_publishing_makes_the_predecessor_gone_in_one_step(store: Store) -> None:
    """K4: one current version before and after, and the old one's purge is owed."""
    old = await ingested(store, texts=["old words"])

    new = await ingested(store, texts=["new words", "and more"])

    assert (new.id, new.chunks, new.blob) == (old.id, 2, blob_of("new words\nand more"))
    retired = await store.catalogue.version(version_id(old))
    assert retired is not None
    assert retired.state is VersionState.GONE
    owed = await store.catalogue.take_debts(PURGES, "me")
    assert [(debt.kind, debt.about) for debt in owed] == [(DebtKind.PURGE_VERSION, str(old.version))]


async def test_an_incomplete_version_is_not_published(store: Store) -> None:
    """K4: readers never see half a version."""

    def publish_half(tx: Transaction) -> None:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id))
        version = write_version(tx, document.id, shelf.generation, ["one of two"])
        tx.documents.publish(version.id, chunks=2)

    with pytest.raises(Broken, match="1 of 2 chunks"):
        await store.write(publish_half)


async def test_a_version_of_a_deleted_document_is_not_published(store: Store) -> None:
    """K4: a delete that came while a version was built wins."""

    def begin(tx: Transaction) -> tuple[DocumentId, VersionId]:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id))
        return document.id, write_version(tx, document.id, shelf.generation, ["words"]).id

    document, version = await store.write(begin)
    await store.write(lambda tx: tx.documents.hide(document))

    with pytest.raises(Refused) as caught:
        await store.write(lambda tx: tx.documents.publish(version, chunks=1))
    assert caught.value.code == "ERR_DOCUMENT_UNKNOWN"


async def test_a_version_of_overtaken_bytes_is_not_published(store: Store) -> None:
    """K4: bytes that are not the latest begun never become current."""

    def begin(tx: Transaction) -> VersionId:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id))
        early = write_version(tx, document.id, shelf.generation, ["early"])
        write_version(tx, document.id, shelf.generation, ["late"])
        return early.id

    early = await store.write(begin)

    with pytest.raises(Refused) as caught:
        await store.write(lambda tx: tx.documents.publish(early, chunks=1))
    assert caught.value.code == "ERR_SUPERSEDED"


async def test_beginning_the_same_bytes_again_takes_up_the_version(store: Store) -> None:
    """K5: a retry goes on where the attempt before it stopped."""

    def begin(tx: Transaction) -> VersionId:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id))
        return write_version(tx, document.id, shelf.generation, ["same"]).id

    assert await store.write(begin) == await store.write(begin)


async def test_beginning_other_bytes_makes_the_unfinished_version_gone(store: Store) -> None:
    """K5: what nobody will finish is purged."""

    def begin(tx: Transaction, text: str) -> VersionId:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id))
        return write_version(tx, document.id, shelf.generation, [text]).id

    early = await store.write(lambda tx: begin(tx, "early"))
    await store.write(lambda tx: begin(tx, "late"))

    found = await store.catalogue.version(early)
    assert found is not None
    assert found.state is VersionState.GONE
    assert [debt.about for debt in await store.catalogue.take_debts(PURGES, "me")] == [str(early)]


async def test_chunks_are_written_once_per_ordinal(store: Store) -> None:
    """K6: writing them again, or some of them, changes nothing."""

    def write(tx: Transaction) -> VersionId:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id))
        version = write_version(tx, document.id, shelf.generation, ["a", "b"])
        tx.documents.add_chunks(version.id, MODEL, new_chunks(["b"], first=1))
        tx.documents.publish(version.id, chunks=2)
        return version.id

    version = await store.catalogue.version(await store.write(write))

    assert version is not None
    assert version.chunks == 2


async def test_a_chunk_without_its_vector_is_an_error(store: Store) -> None:
    """K6: a version can never hold a chunk nobody could find."""

    def write(tx: Transaction) -> None:
        shelf = declared(tx)
        document = tx.documents.admit(new_document(shelf.id))
        version = write_version(tx, document.id, shelf.generation, ["known"])
        tx.documents.add_chunks(version.id, MODEL, new_chunks(["unknown"], first=1))

    with pytest.raises(Broken, match="no vector"):
        await store.write(write)


async def test_a_generation_holds_vectors_of_one_model(store: Store) -> None:
    """K6: chunks with another model's vectors do not get in."""
    document = await ingested(store)

    def write(tx: Transaction) -> None:
        version = tx.documents.begin(document.id, declared(tx).generation, blob_of("other"), 5)
        tx.kept.keep_vectors("other", [(text_key("x"), vector_of("x"))])
        tx.documents.add_chunks(version.id, "other", new_chunks(["x"]))

    with pytest.raises(Broken, match="another model"):
        await store.write(write)


async def test_hiding_takes_a_document_out_at_once_and_owes_its_purge(store: Store) -> None:
    """K7: nothing of it is visible, and hiding it again owes nothing more."""
    document = await ingested(store)

    await store.write(lambda tx: tx.documents.hide(document.id))
    await store.write(lambda tx: tx.documents.hide(document.id))

    assert await store.catalogue.documents(LOCAL_WORKSPACE) == []
    assert (await store.catalogue.counts(document.collection))["chunks"] == 0
    owed = await store.catalogue.take_debts(PURGES, "me")
    assert [(debt.kind, debt.about) for debt in owed] == [(DebtKind.PURGE_DOCUMENT, document.id)]


async def test_a_tenant_is_hidden_in_portions(store: Store) -> None:
    """K7: as many a call as asked for, and no other tenant's."""
    for at in range(3):
        await ingested(store, f"/{at}.txt")
    other = await ingested(store, "/other.txt", tenant=OTHER_TENANT)

    counts = [await store.write(lambda tx: tx.documents.hide_some(TENANT, limit=2)) for _ in range(3)]

    assert counts == [2, 1, 0]
    assert [each.id for each in await store.catalogue.documents(LOCAL_WORKSPACE)] == [other.id]


async def test_a_rename_changes_identity_and_name_alone(store: Store) -> None:
    """K8: version, chunks and vectors stay."""
    before = await ingested(store)

    await store.write(lambda tx: tx.documents.rename(before.id, "/b/new.txt", "new.txt"))

    after = await store.catalogue.document(LOCAL_WORKSPACE, before.id)
    assert after is not None
    assert (after.identity, after.name) == ("/b/new.txt", "new.txt")
    assert (after.version, after.chunks, after.state) == (before.version, before.chunks, before.state)


async def test_a_rename_hides_what_was_there(store: Store) -> None:
    """K8: a file moved over another replaces it."""
    moved, replaced = await ingested(store, "/a.txt"), await ingested(store, "/b.txt")

    await store.write(lambda tx: tx.documents.rename(moved.id, "/b.txt", "b.txt"))

    assert [each.id for each in await store.catalogue.documents(LOCAL_WORKSPACE)] == [moved.id]
    assert await store.catalogue.document(LOCAL_WORKSPACE, replaced.id) is None


async def test_a_rename_to_its_own_place_changes_nothing(store: Store) -> None:
    """K8: a document is not its own obstacle."""
    document = await ingested(store)

    await store.write(lambda tx: tx.documents.rename(document.id, document.identity, document.name))

    assert await store.catalogue.document(LOCAL_WORKSPACE, document.id) == document


async def test_a_document_in_another_collection_is_the_same_one(store: Store) -> None:
    """K19: it is seen nowhere until it is built there, and what it was is purged."""
    before = await ingested(store)
    other = await store.write(lambda tx: declared(tx, "others"))
    place = upload_path(blob_of("hello world"))

    await store.write(lambda tx: tx.documents.rehome(before.id, other.id, identity=place, name="new.txt"))

    moved = await store.catalogue.document(LOCAL_WORKSPACE, before.id)
    assert moved is not None
    assert (moved.collection_name, moved.source, moved.identity) == ("others", Source.UPLOAD, place)
    assert (moved.state, moved.version, moved.chunks) == (DocumentState.PENDING, None, 0)
    (debt,) = await store.catalogue.take_debts(PURGES, "by-hand")
    assert (debt.kind, debt.about) == (DebtKind.PURGE_VERSION, str(before.version))

    def built(tx: Transaction) -> None:
        version = write_version(tx, before.id, other.generation, ["hello world"])
        tx.documents.publish(version.id, chunks=1)

    await store.write(built)
    seen = await store.catalogue.document(LOCAL_WORKSPACE, before.id)
    assert seen is not None
    assert (seen.state, seen.chunks) == (DocumentState.INGESTED, 1)


async def test_a_document_at_work_stays_where_it_is(store: Store) -> None:
    """K19: what is at work on it would write into a collection it is not in."""
    document = await ingested(store)
    other = await store.write(lambda tx: declared(tx, "others"))
    await store.queue.submit([a_job(document.identity)])
    lease = await claimed_job(store.queue)
    await store.write(lambda tx: tx.stages.begin(lease, document.id, StageKind.PARSE))

    with pytest.raises(Refused, match="being done") as refused:
        await store.write(lambda tx: tx.documents.rehome(document.id, other.id, identity="/b", name="b"))

    assert refused.value.code == "ERR_JOB_UNFINISHED"
    found = await store.catalogue.document(LOCAL_WORKSPACE, document.id)
    assert found is not None
    assert found.collection_name == COLLECTION


async def test_touching_leaves_a_document_as_it_stands(store: Store) -> None:
    """K4: an ingest that found nothing new ends ingested, with the version there was."""
    document = await ingested(store)

    await store.write(lambda tx: tx.documents.touch(document.id))

    found = await store.catalogue.document(LOCAL_WORKSPACE, document.id)
    assert found is not None
    assert (found.state, found.version) == (DocumentState.INGESTED, document.version)
    assert found.metadata_json == document.metadata_json

    await store.write(lambda tx: tx.documents.touch(document.id, metadata_json='{"floor":2}'))

    found = await store.catalogue.document(LOCAL_WORKSPACE, document.id)
    assert found is not None
    assert (found.version, found.metadata_json) == (document.version, '{"floor":2}')
    assert found.branch == document.branch

    await store.write(lambda tx: tx.documents.touch(document.id, branch="feature"))

    found = await store.catalogue.document(LOCAL_WORKSPACE, document.id)
    assert found is not None
    assert (found.branch, found.metadata_json) == ("feature", '{"floor":2}')


async def test_a_vector_is_kept_once(store: Store) -> None:
    """K12: keeping it again changes nothing, also with other numbers."""
    keys = [text_key("a"), text_key("b")]
    await store.write(lambda tx: tx.kept.keep_vectors(MODEL, [(keys[0], vector_of("a"))]))
    await store.write(lambda tx: tx.kept.keep_vectors(MODEL, [(keys[0], vector_of("z"))]))

    assert await store.catalogue.known_vectors(MODEL, keys) == {keys[0]}
    assert await store.catalogue.known_vectors("other", keys) == set()


@pytest.mark.parametrize(
    "bad",
    [b"", b"\0" * 8, b"\0" * 15, vector_of("a")[:12] + b"\x00\x00\xc0\x7f"],
    ids=["empty", "short", "ragged", "not a number"],
)
async def test_a_vector_that_is_none_is_not_kept(store: Store, bad: bytes) -> None:
    """K12: another length, or a number that is not finite, is refused loudly."""
    await store.write(lambda tx: tx.kept.keep_vectors(MODEL, [(text_key("a"), vector_of("a"))]))

    with pytest.raises(Broken):
        await store.write(lambda tx: tx.kept.keep_vectors(MODEL, [(text_key("b"), Vector(bad))]))


async def test_a_parse_is_kept_by_bytes_and_parser(store: Store) -> None:
    """K12: another parser has not parsed it yet."""
    kept = KeptParse(blob=blob_of("in"), parser="pdf 1", result=blob_of("out"))
    await store.write(lambda tx: tx.kept.keep_parse(kept))

    assert await store.write(lambda tx: tx.kept.parse_of(kept.blob, "pdf 1")) == kept
    assert await store.write(lambda tx: tx.kept.parse_of(kept.blob, "pdf 2")) is None
    assert await store.catalogue.parses(kept.blob) == [kept]
    assert await store.catalogue.parses(kept.result) == []
    assert await store.catalogue.unused_blobs([kept.blob, kept.result]) == {kept.blob}


async def test_another_workspace_is_not_there(store: Store) -> None:
    """K16: neither its collections nor its documents, by name, id or list."""
    document = await ingested(store)
    elsewhere = WorkspaceId("00000000-0000-4000-8000-0000000000ff")

    assert await store.catalogue.collections(elsewhere) == []
    assert await store.catalogue.collection(elsewhere, COLLECTION) is None
    assert await store.catalogue.document(elsewhere, document.id) is None
    assert await store.catalogue.documents(elsewhere) == []
    assert await store.catalogue.documents(elsewhere, collection=document.collection) == []


async def test_documents_are_listed_in_pages_without_a_gap(store: Store) -> None:
    """K3: pages by identity meet every document once, also where tenants share identities."""

    def fill(tx: Transaction) -> None:
        for at in range(7):
            ingest(tx, f"/{at}.txt", [f"text {at}"])
            ingest(tx, f"/{at}.txt", [f"text {at}"], tenant=OTHER_TENANT)

    await store.write(fill)
    met: list[tuple[str, TenantId]] = []
    after = None
    while page := await store.catalogue.documents(LOCAL_WORKSPACE, after=after, limit=3):
        met += [(each.identity, each.tenant) for each in page]
        after = page[-1].identity

    assert sorted(met) == sorted((f"/{at}.txt", t) for at in range(7) for t in (TENANT, OTHER_TENANT))


async def test_documents_are_listed_by_folder_state_and_source(store: Store) -> None:
    """K3: filters hold together, and a folder is no prefix of its neighbour's name."""
    inside = await ingested(store, "/docs/a.txt")
    await ingested(store, "/docs2/b.txt")
    waiting = await store.write(
        lambda tx: tx.documents.admit(new_document(inside.collection, "/docs/waiting.txt"))
    )

    async def listed(**wanted: Any) -> list[DocumentId]:
        found = await store.catalogue.documents(LOCAL_WORKSPACE, **wanted)
        return [each.id for each in found]

    assert await listed(under="/docs") == [inside.id, waiting.id]
    assert await listed(under="/docs/", state=DocumentState.PENDING) == [waiting.id]
    assert await listed(collection=inside.collection, under="/docs", state=DocumentState.INGESTED) == [
        inside.id
    ]
    assert await listed(source=Source.CONTENT) == []


async def test_two_processes_publish_different_documents(home: Home, store: Store) -> None:
    """K4: writers of two processes take turns, and readers of both see both."""
    other = await home.open()

    await asyncio.gather(ingested(store, "/a.txt"), ingested(other, "/b.txt"))

    for each in (store, other):
        seen = await each.catalogue.documents(LOCAL_WORKSPACE)
        assert [document.identity for document in seen] == ["/a.txt", "/b.txt"]


async def test_an_unknown_document_is_refused_by_name(store: Store) -> None:
    """K16: every verb that names a document says when there is none."""
    nobody = DocumentId("nobody")
    await store.write(lambda tx: tx.shelves.declare(LOCAL_WORKSPACE, COLLECTION, recipe_json=RECIPE))

    for verb in (
        lambda tx: tx.documents.hide(nobody),
        lambda tx: tx.documents.touch(nobody),
        lambda tx: tx.documents.rename(nobody, "/x", "x"),
        lambda tx: tx.documents.begin(nobody, GenerationId(1), blob_of("x"), 1),
    ):
        with pytest.raises(Refused) as caught:
            await store.write(verb)
        assert caught.value.code == "ERR_DOCUMENT_UNKNOWN"

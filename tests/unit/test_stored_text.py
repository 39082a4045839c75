"""The stored text of a document: that of its own parse, and none before there is one."""

from pathlib import Path

from penstock.answer.texts import Texts
from penstock.engines.disk import DiskBlobs
from penstock.model.catalogue import LOCAL_WORKSPACE, BlobId, Document, KeptParse, WorkspaceId
from penstock.model.parsed import Media, Parsed
from penstock.ports.codec import encode_parsed
from penstock.ports.database import Transaction
from penstock.settings import load
from penstock.wiring.store import Store, open_store
from tests.support.cataloguing import blob_of, declared, ingested, new_document

ELSEWHERE = WorkspaceId("00000000-0000-4000-8000-0000000000ff")
TEXT = "hello world"


async def keep(store: Store, blobs: DiskBlobs, text: str, parser: str, blob: BlobId) -> None:
    """A kept parse of these bytes."""
    result = await blobs.put_bytes(encode_parsed(Parsed(text=text, media=Media.TEXT)))
    parse = KeptParse(blob=blob, parser=parser, result=BlobId(result.hash))
    await store.write(lambda tx: tx.kept.keep_parse(parse))


async def test_a_documents_text_is_that_its_chunks_are_cut_from(tmp_path: Path) -> None:
    """Not that of the same bytes read another way, though it be newer; and nobody else's."""
    async with open_store(load(None, {"PENSTOCK_DATA": str(tmp_path)}, {})) as store:
        blobs = DiskBlobs(tmp_path / "blobs")
        texts = Texts(store.catalogue, store.browser, blobs)
        document = await ingested(store, texts=[TEXT])
        await keep(store, blobs, TEXT, "own", blob_of(TEXT))
        await keep(store, blobs, "another reading", "other", blob_of(TEXT))

        own = await texts.text_of(LOCAL_WORKSPACE, document.id)
        foreign = await texts.text_of(ELSEWHERE, document.id)

    assert (own, foreign) == (TEXT, None)


async def test_there_is_no_text_until_the_document_itself_is_parsed(tmp_path: Path) -> None:
    """That somebody's equal bytes were parsed before is not told."""
    async with open_store(load(None, {"PENSTOCK_DATA": str(tmp_path)}, {})) as store:
        blobs = DiskBlobs(tmp_path / "blobs")
        texts = Texts(store.catalogue, store.browser, blobs)
        await keep(store, blobs, TEXT, "own", blob_of(TEXT))

        def begin(tx: Transaction) -> Document:
            shelf = declared(tx)
            document = tx.documents.admit(new_document(shelf.id))
            tx.documents.begin(document.id, shelf.generation, blob_of(TEXT), len(TEXT))
            return document

        document = await store.write(begin)
        pending = await texts.text_of(LOCAL_WORKSPACE, document.id)
        await store.write(
            lambda tx: tx.documents.describe(
                document.id, title=None, media="text/plain", pages=None, metadata_json="{}"
            )
        )
        parsed = await texts.text_of(LOCAL_WORKSPACE, document.id)

    assert (pending, parsed) == (None, TEXT)

"""What a server tells can be shown on a terminal, though it tells less than a store does."""

from io import StringIO

from rich.console import Console, RenderableType

from penstock.client.values import Collection, Document, Reason
from penstock.doors.cli.collection import pictures as collection_pictures
from penstock.doors.cli.ingest import pictures
from penstock.doors.cli.ingest.shapes import StatusRecord
from penstock.doors.cli.remote.collections import facts_of as collection_facts
from penstock.doors.cli.remote.listing import facts_of as document_facts

AT = "2030-01-31T08:00:00.000000Z"


def drawn(picture: RenderableType) -> str:
    screen = Console(file=StringIO(), width=160)
    screen.print(picture)
    assert isinstance(screen.file, StringIO)
    return screen.file.getvalue()


def test_documents_are_shown_by_name() -> None:
    """A file's path stays with the server; its name is there."""
    document = Document(
        id="d1",
        workspace_id="w",
        collection="papers",
        name="keys.md",
        title=None,
        source="file",
        status="error",
        media=None,
        size=None,
        pages=None,
        chunks=0,
        metadata={},
        error=Reason(stage="parse", code="ERR_PDF_INVALID", message="no", suggestions=()),
        created_at=AT,
        updated_at=AT,
    )

    shown = drawn(pictures.documents([document_facts(document)], 1_900_000_000.0))
    assert "keys.md" in shown
    assert "ERR_PDF_INVALID" in shown


def test_collections_are_shown_as_a_server_tells_them() -> None:
    """Counts and sizes are what a server tells."""
    counts = {"pending": 1, "parsed": 0, "ingested": 7, "error": 0}
    told = Collection(
        name="papers",
        description="All",
        created_at=AT,
        documents=counts,
        chunks=9,
        bytes=10,
        rebuilding=False,
        recipe={"model": "m", "chunk_tokens": 200},
    )

    shown = drawn(collection_pictures.collections([collection_facts(told)]))
    assert "papers" in shown
    assert "7" in shown


def test_a_job_is_shown_without_what_only_a_store_knows() -> None:
    """Its status, stages and what it made."""
    record = StatusRecord(
        job_id="j1",
        rag_id="papers",
        filename="keys.md",
        status="done",
        submitted_at=AT,
        completed_at=AT,
        chunks_created=3,
        embeddings_generated=3,
        error=None,
        error_type=None,
        retry_count=0,
        error_code=None,
        max_retries=3,
        progress=None,
        next_run_at=None,
        stages=[],
        suggestions=[],
        document_id="d1",
        document_state="ingested",
        batch=None,
    )

    assert "3 chunks" in drawn(pictures.record(record))

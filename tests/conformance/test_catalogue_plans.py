"""What readers and triggers ask often is answered by an index, with or without somebody's statistics."""

import sqlite3

import pytest

from penstock.engines.sqlite.statements import sql
from tests.conformance.foreign import plan

NAMES = {
    "document_at": "documents_identity",
    "document_list": "documents_identity",
    "document_list_state": "documents_state",
    "document_list_all": "documents_workspace",
    "document_counts": "documents_state",
    "document_hidable": "documents_tenant",
    "swap_counts": "versions_current",
    "swap_missing": "versions_current",
    "index_size": "versions_current",
    "index_current": "versions_current",
    "index_all": "versions_current",
    "index_documents": "documents_identity",
    "stage_open": "stages_unfinished",
    "stage_list": "stages_document",
    "embedding_find": "embeddings_key",
    "embedding_remove": "chunks_embedding",
    "purge_chunks": "chunks_ordinal",
    "debt_take": "debts_due",
    "parse_remove": "versions_blob",
    "doomed_mark": "idx_unified_queue_collection_tenant",
    "doomed_stop": "idx_unified_queue_worker",
    "doomed_end": "queue_doomed",
    "blob_used": "documents_upload",
    "workspace_holding": "COVERING INDEX documents_held",
    "browse_count": "documents_state (collection_id=? AND state=?)",
    "browse_state": "documents_state (collection_id=? AND state=?)",
    "browse_failed": "documents_state (collection_id=? AND state=? AND identity>?)",
    "browse_failed_code": "documents_failed (collection_id=? AND error_code=? AND identity>?)",
    "browse_versions": "versions_document",
    "browse_chunks": "chunks_ordinal",
}
BROWSED = {
    "browse_created": "documents_created",
    "browse_updated": "documents_updated",
    "browse_name": "documents_name",
    "browse_size": "documents_bytes",
}


@pytest.fixture(params=[False, True], ids=["fresh", "analyzed"])
def catalogue(request: pytest.FixtureRequest, table: sqlite3.Connection) -> sqlite3.Connection:
    """The tables with some rows, and statistics where asked for."""
    table.execute("BEGIN")
    with table:
        for at in range(50):
            table.execute(
                "INSERT INTO collections (workspace_id, name, created_at) VALUES ('w', ?, '')", (at,)
            )
        for at in range(500):
            table.execute(
                "INSERT INTO documents (document_id, workspace_id, tenant_id, collection_id, source,"
                " identity, name, created_at, updated_at) VALUES (?, 'w', 't', 1, 'file', ?, 'n', '', '')",
                (f"d{at}", f"/{at}"),
            )
            table.execute(
                "INSERT INTO versions (document, generation_id, blob, size, state, begun_at)"
                " VALUES (?, 1, ?, 1, 'current', '')",
                (at, str(at)),
            )
    if request.param:
        table.execute("ANALYZE")
    return table


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_hot_statement_uses_its_index(catalogue: sqlite3.Connection, name: str) -> None:
    """The index its header names is in the plan."""
    steps = plan(catalogue, sql(name))

    assert any(NAMES[name] in step for step in steps), steps


def test_listings_are_read_in_the_order_of_the_index(catalogue: sqlite3.Connection) -> None:
    """A page of a collection sorts nothing but the documents of one identity."""
    steps = plan(catalogue, sql("document_list"))

    assert not [step for step in steps if step.endswith("FOR ORDER BY")], steps


def test_chunks_are_looked_up_one_by_one(catalogue: sqlite3.Connection) -> None:
    """The chunks asked for come first; nothing is scanned for them."""
    for name in ("index_visible", "index_passages", "index_rows"):
        scans = [step for step in plan(catalogue, sql(name)) if step.startswith("SCAN")]
        assert all("json_each" in step or "wanted" in step for step in scans), scans


@pytest.mark.parametrize("down", ["", "_down"], ids=["up", "down"])
@pytest.mark.parametrize("name", sorted(BROWSED))
def test_a_page_is_a_range_of_its_index(catalogue: sqlite3.Connection, name: str, down: str) -> None:
    """However many documents there are, none is sorted, and none before the place is met."""
    steps = plan(catalogue, sql(f"{name}{down}"))

    assert len(steps) == 1, steps
    assert f"USING INDEX {BROWSED[name]} (collection_id=? AND " in steps[0], steps


def test_a_page_fetches_its_own_documents_alone(catalogue: sqlite3.Connection) -> None:
    """By their numbers, one by one."""
    scans = [step for step in plan(catalogue, sql("browse_rows")) if step.startswith("SCAN")]

    assert all("json_each" in step for step in scans), scans

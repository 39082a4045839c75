"""Item types, operations and priorities, against the documented tables."""

from typing import Any

import pytest

from penstock.model.errors import Refused
from penstock.model.jobs import MATRIX, NewJob, Operation, operation_of, priority_of
from penstock.model.payloads import SHAPES, ItemType, item_type_named, item_type_of
from tests.support.jobs import a_job, a_scan, a_tenant_delete

TABLE = """
item_type        | ingest | update | delete | scan
-----------------|--------|--------|--------|------
content          |   Y    |   Y    |   Y    |  N
file             |   Y    |   Y    |   Y    |  N
folder           |   Y    |   N    |   Y    |  Y
project          |   Y    |   N    |   Y    |  Y
library          |   Y    |   Y    |   Y    |  N
delete_tenant    |   N    |   N    |   Y    |  N
delete_document  |   N    |   N    |   Y    |  N
rename           |   N    |   Y    |   N    |  N
"""


def documented() -> dict[tuple[str, str], bool]:
    """The table as the page shows it, cell by cell."""
    header, _, *rows = [[cell.strip() for cell in line.split("|")] for line in TABLE.strip().splitlines()]
    return {(row[0], op): cell == "Y" for row in rows for op, cell in zip(header[1:], row[1:], strict=True)}


def test_the_table_names_every_type_and_operation() -> None:
    """Eight types by four operations, all of them ours and no others."""
    cells = documented()

    assert {name for name, _ in cells} == set(ItemType)
    assert {op for _, op in cells} == set(Operation)


@pytest.mark.parametrize(("item_type", "op"), sorted(documented()))
def test_the_matrix_is_the_documented_one(item_type: str, op: str) -> None:
    """An operation is offered exactly where the page has a Y."""
    offered = documented()[item_type, op]

    assert (Operation(op) in MATRIX[ItemType(item_type)]) is offered
    if offered:
        assert operation_of(ItemType(item_type), op) is Operation(op)
    else:
        with pytest.raises(Refused, match="does not offer") as refused:
            operation_of(ItemType(item_type), op)
        assert refused.value.code == "ERR_OPERATION_INVALID"


def test_an_unknown_operation_is_refused() -> None:
    """A word that is no operation is named in the refusal."""
    with pytest.raises(Refused, match="'upsert'") as refused:
        operation_of(ItemType.FILE, "upsert")
    assert refused.value.code == "ERR_OPERATION_INVALID"


def test_an_unknown_item_type_is_refused() -> None:
    """A word that is no item type is named in the refusal, with a suggestion."""
    with pytest.raises(Refused, match="'picture'") as refused:
        item_type_named("picture")
    assert refused.value.code == "ERR_ITEM_TYPE_UNKNOWN"
    assert refused.value.suggestions


def test_every_item_type_has_one_shape() -> None:
    """Types and payload shapes stand one to one."""
    assert set(SHAPES) == set(ItemType)
    assert len(set(SHAPES.values())) == len(ItemType)
    assert item_type_of(a_job().payload) is item_type_named("file") is ItemType.FILE


def test_a_job_cannot_be_made_against_the_matrix() -> None:
    """A value that exists is legal: an engine never meets a file's scan."""
    with pytest.raises(Refused) as refused:
        a_job(op=Operation.SCAN)
    assert refused.value.code == "ERR_OPERATION_INVALID"


def test_a_folder_may_be_scanned_and_a_tenant_deleted() -> None:
    """What the table allows can be made."""
    assert a_scan().op is Operation.SCAN
    assert a_tenant_delete().item_type is ItemType.DELETE_TENANT


@pytest.mark.parametrize(
    ("given", "number"),
    [("high", 9), ("normal", 5), ("low", 1), ("HIGH", 9), (0, 0), (10, 10), ("7", 7), ("0", 0)],
)
def test_a_priority_by_number_or_name(given: int | str, number: int) -> None:
    """0 to 10, and the three documented names."""
    assert priority_of(given) == number


@pytest.mark.parametrize("given", [-1, 11, "urgent", "", "-1", "11", True, False, 5.0, None, "²"])
def test_anything_else_is_no_priority(given: object) -> None:
    """What is neither 0 to 10 nor a name is refused with its code."""
    with pytest.raises(Refused) as refused:
        priority_of(given)  # type: ignore[arg-type]  # what an untyped caller may send
    assert refused.value.code == "ERR_PRIORITY_INVALID"


@pytest.mark.parametrize("priority", [-1, 11])
def test_a_job_outside_the_priorities_cannot_be_made(priority: int) -> None:
    """The table's CHECK holds before the database is asked."""
    with pytest.raises(Refused) as refused:
        a_job(priority=priority)
    assert refused.value.code == "ERR_PRIORITY_INVALID"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"tenant": ""}, "ERR_TENANT_INVALID"),
        ({"tenant": "a\x00b"}, "ERR_TENANT_INVALID"),
        ({"tenant": "t" * 256}, "ERR_TENANT_INVALID"),
        ({"tenant": "\ud800"}, "ERR_TENANT_INVALID"),
        ({"collection": ""}, "ERR_COLLECTION_INVALID"),
        ({"collection": "new\nline"}, "ERR_COLLECTION_INVALID"),
        ({"branch": ""}, "ERR_PAYLOAD_INVALID"),
        ({"id": ""}, "ERR_JOB_ID_INVALID"),
        ({"id": "a b"}, "ERR_JOB_ID_INVALID"),
        ({"id": "-flag"}, "ERR_JOB_ID_INVALID"),
        ({"id": "x" * 201}, "ERR_JOB_ID_INVALID"),
        ({"max_retries": -1}, "ERR_PAYLOAD_INVALID"),
        ({"max_retries": 101}, "ERR_PAYLOAD_INVALID"),
    ],
)
def test_a_job_with_a_field_out_of_bounds_cannot_be_made(changed: dict[str, Any], code: str) -> None:
    """Names, ids and limits are checked when the value is made, each with its code."""
    with pytest.raises(Refused) as refused:
        a_job(**changed)
    assert refused.value.code == code


def test_a_tenant_may_delete_only_itself() -> None:
    """A job of one tenant cannot name another as the one to delete."""
    with pytest.raises(Refused) as refused:
        NewJob(
            tenant=a_job(tenant="globex").tenant,
            collection="notes",
            payload=a_tenant_delete(tenant="acme").payload,
            op=Operation.DELETE,
        )
    assert refused.value.code == "ERR_TENANT_INVALID"


def test_every_new_job_draws_its_own_id() -> None:
    """Two values never share an id unless the submitter says so."""
    assert len({a_job().id for _ in range(1_000)}) == 1_000

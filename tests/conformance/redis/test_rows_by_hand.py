"""Rows written by plain SQL while Redis hands jobs out: each comes to its turn or ends with its reason."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.model.jobs import WorkerId
from penstock.settings import RedisServer
from penstock.wiring.store import Store
from penstock.work.relay import Comparer
from tests.conformance.foreign import add, connect, on_path
from tests.support.redis_program import RedisProgram

W1 = WorkerId("w1")
LATIN = b"caf\xe9"
RUN: dict[str, dict[str, Any]] = {
    "metadata that is no JSON": {"metadata": "seen by Ann"},
    "metadata that is a list": {"metadata": "[1]"},
    "metadata of bytes": {"metadata": LATIN},
    "no metadata": {"metadata": None},
    "a branch of bytes": {"branch": LATIN},
    "a document of bytes": {"document_id": LATIN},
    "a tenant of bytes": {"tenant_id": LATIN},
}
ENDED: dict[str, dict[str, Any]] = {
    "a payload that is a list": {"payload_json": "[]"},
    "retries without end": {"max_retries": 10**9},
}


@pytest.fixture
def yard(tmp_path: Path, redis: RedisServer) -> Iterator[RedisProgram]:
    made = RedisProgram(tmp_path, redis)
    made.submit()  # nothing, but the database is made
    yield made
    made.bare.close()


async def _compared(store: Store) -> list[str]:
    comparer = store.comparer()  # type: ignore[attr-defined]  # a store whose jobs Redis hands out has one
    assert isinstance(comparer, Comparer)
    await comparer.agree()
    return [lease.job_id for _ in range(3) for lease in await store.queue.claim(W1, 10)]


def claimed_beside(yard: RedisProgram, odd: dict[str, Any], kind: str = "BLOB") -> list[str]:
    """What is handed out of three rows, the second of which is odd; its bytes are of this kind."""
    rows: list[dict[str, Any]] = [{}, odd, {}]
    with closing(connect(yard.data)) as db:
        for number, row in enumerate(rows):
            add(db, f"row-{number}", **{"tenant_id": "local", **on_path(f"/{number}"), **row})
        for column in [column for column, value in odd.items() if isinstance(value, bytes)]:
            change = f"UPDATE unified_queue SET {column} = CAST({column} AS {kind}) WHERE rowid = 2"  # noqa: S608  # the test's own
            db.execute(change)
    return yard.in_store(_compared)


@pytest.mark.parametrize("kind", ["BLOB", "TEXT"])
@pytest.mark.parametrize("name", RUN)
def test_a_row_of_another_spelling_is_a_job(yard: RedisProgram, name: str, kind: str) -> None:
    """As where the table itself is claimed from: what nobody needs to read stops nobody."""
    assert sorted(claimed_beside(yard, RUN[name], kind)) == ["row-0", "row-1", "row-2"]


@pytest.mark.parametrize("name", ENDED)
def test_a_row_nobody_can_read_fails_alone(yard: RedisProgram, name: str) -> None:
    """It ends with a code, and those beside it run."""
    assert claimed_beside(yard, ENDED[name]) == ["row-0", "row-2"]

    assert yard.rows("queue_id, status, error_code")[1] == ("row-1", "failed", "ERR_PAYLOAD_INVALID")


def test_an_id_of_bytes_fails_alone(yard: RedisProgram) -> None:
    """Nobody could ask Redis for it: it gets a name that can be read, and the reason."""
    with closing(connect(yard.data)) as db:
        for number in range(3):
            add(db, f"row-{number}", **{"tenant_id": "local", **on_path(f"/{number}")})
        db.execute("UPDATE unified_queue SET queue_id = CAST(x'636166e9' AS TEXT) WHERE rowid = 2")

    assert yard.in_store(_compared) == ["row-0", "row-2"]

    assert yard.rows("queue_id, status, error_code")[1] == (
        "caf\N{REPLACEMENT CHARACTER}",
        "failed",
        "ERR_JOB_ID_INVALID",
    )


@pytest.mark.parametrize("text", ["{torn", "[]", '{"id": "x"}', LATIN], ids=["torn", "list", "half", "bytes"])
def test_a_message_to_redis_nobody_can_read_holds_up_no_other(yard: RedisProgram, text: str | bytes) -> None:
    """A submit behind it is accepted and told, and its own job is told from its row."""
    with closing(connect(yard.data)) as db:
        add(db, "row-0", **{"tenant_id": "local", **on_path("/0")})
        db.execute("INSERT INTO queue_messages (job_json) VALUES (?)", (text,))
    path = yard.papers / "policy-1.txt"
    path.write_text("The notice period is thirty days.")

    said = yard("ingest", "submit", "--rag", "policies_rag", "--path", str(path))

    assert said.code == 0, said.err
    job = said.lines[0]
    assert yard.shown(job)["status"] == "queued"
    assert sorted(yard.in_store(_compared)) == sorted([job, "row-0"])

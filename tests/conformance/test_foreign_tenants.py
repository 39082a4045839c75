"""What names a tenant from outside, as the program is wired: nobody writes into another's workspace."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from penstock.model.catalogue import LOCAL_WORKSPACE
from penstock.ports.database import Transaction
from penstock.settings import RedisServer
from penstock.wiring.store import Store
from tests.conformance.foreign import add, connect, on_path
from tests.support.redis_program import DEAD, RAG, RedisProgram
from tests.support.tokens import ISSUER, SECRET
from tests.support.waiting import until

ANNA = "11111111-1111-4111-8111-111111111111"
MODES = {"local": {}, "jwt": {"auth": {"mode": "jwt", "secret": SECRET, "issuer": ISSUER}}}


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def yard(tmp_path: Path, redis: RedisServer, mode: str) -> Iterator[RedisProgram]:
    made = RedisProgram(tmp_path, redis, **MODES[mode])
    yield made
    made.bare.close()


def hers(yard: RedisProgram) -> str:
    """Anna's workspace, which has a collection of the same name."""

    async def work(store: Store) -> str:
        (ours,) = await store.catalogue.collections(LOCAL_WORKSPACE)

        def made(tx: Transaction) -> str:
            tx.accounts.sign_in(ANNA)
            workspace = tx.accounts.open(ANNA, "Plans")
            recipe = tx.shelves.generation(ours.generation)
            assert recipe is not None
            tx.shelves.declare(workspace.id, RAG, recipe_json=recipe.recipe_json)
            return workspace.id

        return await store.write(made)

    return yard.in_store(work)


def test_a_message_joins_no_other_workspace(yard: RedisProgram, mode: str) -> None:
    """Another workspace's tenant finds no collection of ours; one nobody knows is local, or nobody's."""
    told = {"hers": hers(yard), "own": "local", "new": "nobody-knows-me"}
    ids = {who: str(yard.message(number)["job_id"]) for number, who in enumerate(told)}
    for number, tenant in enumerate(told.values()):
        yard.push(yard.message(number, tenant_id=tenant))

    claimed = yard.worked()

    letters = [json.loads(letter) for letter in yard.bare.call("LRANGE", DEAD, 0, -1)]
    codes = {json.loads(letter["message"])["job_id"]: letter["code"] for letter in letters}
    if mode == "local":
        assert sorted(claimed) == [ids["own"], ids["new"]]
        assert codes == {ids["hers"]: "ERR_COLLECTION_UNKNOWN"}
    else:
        assert claimed == [ids["own"]]
        assert codes == {ids["hers"]: "ERR_COLLECTION_UNKNOWN", ids["new"]: "ERR_TENANT_INVALID"}


def test_a_raw_row_joins_no_workspace_it_has_none_in(yard: RedisProgram, mode: str) -> None:
    """A tenant nobody knows is the local workspace's where its user is the only one, else it is refused."""
    yard.in_store(_nothing)
    paper = yard.papers / "policy.txt"
    paper.write_text("Hats are off indoors.")
    with closing(connect(yard.data)) as db:
        add(db, "raw", tenant_id="nobody-knows-me", collection=RAG, **on_path(str(paper)))

    worker = yard.start("worker", "--config", yard.file)
    try:
        until("the row has ended", lambda: yard.rows("status")[0][0] in {"done", "failed"})
    finally:
        worker.terminate()
        worker.communicate(timeout=60)

    with closing(connect(yard.data)) as db:
        tenants = dict(db.execute("SELECT tenant_id, workspace_id FROM tenants"))
        documents = db.execute("SELECT state FROM documents WHERE tenant_id <> 'local'").fetchall()
    if mode == "local":
        assert yard.rows("status, error_code")[0] == ("done", None)
        assert tenants["nobody-knows-me"] == LOCAL_WORKSPACE
        assert documents == [("ingested",)]
    else:
        assert yard.rows("status, error_code")[0] == ("failed", "ERR_TENANT_INVALID")
        assert "nobody-knows-me" not in tenants
        assert documents == []


async def _nothing(store: Store) -> None:
    """Opened once, its collections are declared."""

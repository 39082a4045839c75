"""Users of one server: each has his share, and what is said of another's is not said of his."""

import sqlite3
import stat
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import httpx
import pytest

from penstock.model.catalogue import LOCAL_WORKSPACE
from tests.support.command_line import PATIENCE, Program
from tests.support.live import a_token, a_user
from tests.support.served import Served, serving
from tests.support.tenants import SIGNED_IN
from tests.support.waiting import until

pytestmark = pytest.mark.xdist_group("api_shares")

QUOTA, QUOTA_BYTES = 3, 100_000
QUOTAS = {
    "PENSTOCK_HTTP_QUOTA_COLLECTIONS": str(QUOTA),
    "PENSTOCK_HTTP_QUOTA_CONVERSATIONS": str(QUOTA),
    "PENSTOCK_HTTP_QUOTA_BYTES": str(QUOTA_BYTES),
}
A_FOREIGN_ROW = """
INSERT INTO unified_queue (queue_id, item_type, op, tenant_id, collection, created_at, updated_at,
  idempotency_key, payload_json)
VALUES ('theirs', 'content', 'ingest', 'acme', 'notes', '2025-06-15T12:00:00Z', '2025-06-15T12:00:00Z',
  'content:notes:1', '{"content": "A lost key costs forty crowns.", "source_type": "x"}')
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return Program(tmp_path_factory.mktemp("shares"))


@pytest.fixture(scope="module")
def served(program: Program) -> Iterator[Served]:
    declared = program.folder / "declared.yaml"
    declared.write_text("collections: {small: {limits: {file_bytes: 4, pages: 1}}}", encoding="utf-8")
    with serving(program, "run", "--role=all", "--config", declared, env={**SIGNED_IN, **QUOTAS}) as process:
        yield process


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    """A user nobody has seen before."""
    with served.client(a_token(a_user())) as client:
        yield client


@pytest.fixture
def data(program: Program) -> Path:
    return program.data


def workspace_of(client: httpx.Client) -> str:
    """The user's only workspace."""
    (found,) = client.get("/workspaces").json()["items"]
    return str(found["id"])


def test_a_limit_of_the_operators_collection_is_not_that_of_a_users(client: httpx.Client) -> None:
    """His collection of the same name takes what the program takes, at the door and in the worker."""
    at = f"/workspaces/{workspace_of(client)}"
    assert client.post(f"{at}/collections", json={"name": "small"}).status_code == 201

    files = {"files": ("keys.txt", b"A lost key costs forty crowns.")}
    reply = client.post(f"{at}/documents", data={"collection": "small"}, files=files)

    assert reply.status_code == 202, reply.text
    document = f"{at}/documents/{reply.json()['items'][0]['document_id']}"
    until("it has ended", lambda: client.get(document).json()["status"] in ("ingested", "error"))
    assert client.get(document).json()["status"] == "ingested"


def test_jobs_of_every_tenant_of_a_workspace_are_its_owners(tmp_path: Path) -> None:
    """A row of another program joins the local workspace: what events name can be looked up and cancelled."""
    program = Program(tmp_path)
    with serving(program, "run", "--role=all") as served, served.client() as client:
        assert program("collection", "create", "notes").code == 0
        with closing(sqlite3.connect(program.data / "penstock.db", timeout=PATIENCE)) as db:
            db.execute(A_FOREIGN_ROW)
            db.commit()
        documents = f"/workspaces/{LOCAL_WORKSPACE}/documents"
        until("it is there", lambda: client.get(documents).json()["total"] == 1)
        (document,) = client.get(documents).json()["items"]
        (parse, *_) = client.get(f"{documents}/{document['id']}").json()["stages"]

        jobs = f"/workspaces/{LOCAL_WORKSPACE}/jobs"
        by_stage, by_id = client.get(f"{jobs}/{parse['job_id']}"), client.get(f"{jobs}/theirs")
        listed = client.get(jobs).json()["items"]

        assert (by_stage.status_code, by_id.status_code) == (200, 200)
        assert by_stage.json()["id"] == "theirs"
        assert [each["id"] for each in listed] == ["theirs"]
        assert client.post(f"{jobs}/theirs/cancel").status_code == 200


def test_collections_and_conversations_of_a_workspace_are_so_many_at_most(
    served: Served, client: httpx.Client
) -> None:
    """One more is refused, what is there is answered as before, and another user is not concerned."""
    workspace = workspace_of(client)
    collections = f"/workspaces/{workspace}/collections"

    def made(number: int) -> httpx.Response:
        return client.post(collections, json={"name": f"shelf{number}"})

    def begun(_: int) -> httpx.Response:
        return client.post("/conversations", json={"workspace_id": workspace})

    for make, code in ((made, "ERR_QUOTA_COLLECTIONS"), (begun, "ERR_QUOTA_CONVERSATIONS")):
        assert [make(number).status_code for number in range(QUOTA)] == [201] * QUOTA
        refused = make(QUOTA)
        assert (refused.status_code, refused.json()["code"]) == (429, code)
        assert refused.json()["suggestions"]
        assert int(refused.headers["retry-after"]) > 0
    assert made(0).status_code == 200
    assert [each["name"] for each in client.get(collections).json()["items"]] == [
        "shelf0",
        "shelf1",
        "shelf2",
    ]
    assert client.delete(f"{collections}/shelf0").status_code == 202
    assert made(QUOTA).status_code == 201
    with served.client(a_token(a_user())) as other:
        at = f"/workspaces/{workspace_of(other)}/collections"
        assert other.post(at, json={"name": "shelf"}).status_code == 201


def kept_bytes(served_data: Path) -> int:
    """What lies in the blob store, parts of files included; some are named or go while one looks.

    One that is named meanwhile is met under both names, and is one file all the same.
    """
    kept: dict[int, int] = {}
    for each in (served_data / "blobs").rglob("*"):
        with suppress(FileNotFoundError):
            about = each.stat()
            kept[about.st_ino] = about.st_size if stat.S_ISREG(about.st_mode) else 0
    return sum(kept.values())


def test_a_quota_bounds_what_the_disk_takes_while_files_come(
    served: Served, data: Path, client: httpx.Client
) -> None:
    """A form of many files is refused at the one that does not fit; the others are not read."""
    at = f"/workspaces/{workspace_of(client)}"
    assert client.post(f"{at}/collections", json={"name": "papers"}).status_code == 201
    sent: list[int] = []
    before = kept_bytes(data)

    def body() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="collection"\r\n\r\npapers\r\n'
        for number in range(50):
            yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="%d.txt"\r\n\r\n' % number
            yield bytes([65 + number]) * (QUOTA_BYTES // 2) + b"\r\n"
            sent.append(kept_bytes(data))
            time.sleep(0.02)
        yield b"--b--\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    try:
        reply = client.post(f"{at}/documents", content=body(), headers=headers)
    except (httpx.NetworkError, httpx.RemoteProtocolError):  # it was refused before all of it was sent
        reply = None

    assert reply is None or (reply.status_code, reply.json()["code"]) == (429, "ERR_QUOTA_BYTES")
    assert max(sent) - before <= QUOTA_BYTES


def test_bodies_on_their_way_share_the_room(served: Served, data: Path, client: httpx.Client) -> None:
    """Many at once do not take more together than one may."""
    at = f"/workspaces/{workspace_of(client)}"
    assert client.post(f"{at}/collections", json={"name": "papers"}).status_code == 201
    before, peak = kept_bytes(data), []

    def sending(number: int) -> int:
        with served.client(client.headers["authorization"].partition(" ")[2]) as own:
            files = {"files": (f"{number}.txt", bytes([65 + number]) * (QUOTA_BYTES * 2 // 3))}
            status = own.post(f"{at}/documents", data={"collection": "papers"}, files=files).status_code
            peak.append(kept_bytes(data))
            return status

    with ThreadPoolExecutor(8) as senders:
        statuses = sorted(senders.map(sending, range(8)))

    assert statuses.count(202) <= 1
    assert set(statuses) <= {202, 429}
    assert max(peak) - before <= 2 * QUOTA_BYTES


def test_a_repeat_is_recognised_before_it_is_judged(client: httpx.Client) -> None:
    """What the first request needed may be gone by then: the only workspace is no longer the only one."""
    key = {"Idempotency-Key": "first"}
    first = client.post("/conversations", json={"title": "Keys"}, headers=key)
    assert client.post("/workspaces", json={"name": "second"}).status_code == 201

    again = client.post("/conversations", json={"title": "Keys"}, headers=key)
    another = client.post("/conversations", json={"title": "Bikes"}, headers=key)

    assert first.status_code == 201
    assert (again.status_code, again.json()) == (201, first.json())
    assert (another.status_code, another.json()["code"]) == (409, "ERR_IDEMPOTENCY_MISMATCH")

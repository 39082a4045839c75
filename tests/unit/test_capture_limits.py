"""A collection that takes less than others takes less of every source."""

from collections.abc import AsyncIterator
from ipaddress import ip_network
from pathlib import Path

import pytest

from penstock.engines.disk import DiskBlobs
from penstock.engines.web import WebFetcher
from penstock.model.accounts import tenant_of
from penstock.model.catalogue import LOCAL_WORKSPACE, WorkspaceId
from penstock.model.collections import CollectionLimits
from penstock.model.errors import Refused
from penstock.model.jobs import NewJob, WorkerId
from penstock.model.options import Options
from penstock.model.payloads import File, Library, Payload
from penstock.pipeline.capture import Captured, Capturer
from penstock.settings import load
from penstock.wiring.store import Store, open_store
from tests.support.live import a_user
from tests.support.web_server import WebServer, reply, web_server
from tests.support.workshops import a_workshop

TEXT = b"twenty bytes of text"


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with web_server() as web:
        web.answers["/guide.txt"] = reply(TEXT)
        yield web


async def captured(top: Path, collection: str, payload: Payload, *, foreign: bool = False) -> Captured | None:
    """What a worker takes for a collection; the local one called small takes ten bytes."""
    blobs = DiskBlobs(top / "blobs")
    async with open_store(load(None, {"PENSTOCK_DATA": str(top)}, {})) as store:
        shop = a_workshop(store, blobs, limits={"small": CollectionLimits(file_bytes=10)})
        workspace = await somebodys(store) if foreign else LOCAL_WORKSPACE
        await store.write(lambda tx: tx.shelves.declare(workspace, collection, recipe_json="{}"))
        job = NewJob(tenant=tenant_of(workspace), collection=collection, payload=payload)
        await store.write(lambda tx: tx.submit([job]))
        (lease,) = await store.queue.claim(WorkerId("w"), 1)
        fetcher = WebFetcher(blobs, allowed=[ip_network("127.0.0.0/8")])
        return await Capturer(shop, fetcher).capture(lease, Options())


async def somebodys(store: Store) -> WorkspaceId:
    """A workspace of a user who is not the local one."""
    user = a_user()
    await store.write(lambda tx: tx.accounts.sign_in(user))
    (workspace,) = await store.register.workspaces(user)
    return workspace.id


def payload_of(kind: str, web: WebServer, top: Path) -> Payload:
    path = top / "guide.txt"
    path.write_bytes(TEXT)
    match kind:
        case "file":
            return File(file_path=str(path))
        case "library":
            return Library(library_name="x", library_version="1", source_path=str(path))
        case _:
            url = f"http://127.0.0.1:{web.port}/guide.txt"
            return Library(library_name="x", library_version="1", source_url=url)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("file", "ERR_FILE_TOO_LARGE"),
        ("library", "ERR_FILE_TOO_LARGE"),
        ("url", "ERR_FETCH_TOO_LARGE"),
    ],
)
async def test_a_collections_limit_holds_for_every_source(
    web: WebServer, tmp_path: Path, kind: str, code: str
) -> None:
    """A file, a library's file and a document by URL: refused where the limit is small, taken elsewhere."""
    payload = payload_of(kind, web, tmp_path)

    with pytest.raises(Refused) as refused:
        await captured(tmp_path, "small", payload)
    taken = await captured(tmp_path, "usual", payload)

    assert refused.value.code == code
    assert taken is not None
    assert taken.size == len(TEXT)


async def test_a_limit_is_that_of_the_declared_collection_alone(web: WebServer, tmp_path: Path) -> None:
    """Another's collection of the same name takes what the program takes."""
    payload = payload_of("file", web, tmp_path)

    taken = await captured(tmp_path, "small", payload, foreign=True)

    assert taken is not None
    assert taken.size == len(TEXT)

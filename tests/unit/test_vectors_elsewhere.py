"""What answers where a Qdrant server should: another program, an older version, or nobody in time."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from penstock.engines.qdrant import Server
from penstock.model.diagnosis import Verdict
from penstock.model.errors import Unavailable
from penstock.settings import Settings, load
from penstock.wiring.doctor import CHECKS
from penstock.wiring.store import open_store
from penstock.wiring.vectors import is_old
from tests.support.cataloguing import declared, ingest, question, scope_of


@contextmanager
def answering(status: int, body: bytes) -> Iterator[str]:
    """A server that says the same to everybody."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # as the library calls it
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def settings_for(tmp_path: Path, url: str, **flags: object) -> Settings:
    return load(None, {}, {"data": str(tmp_path), "vectors": url, **flags})


async def test_a_page_that_is_not_there_is_no_missing_collection() -> None:
    """A proxy, or another program: whoever reads it must mend the address, not rebuild vectors."""
    with answering(404, b"<h1>Not Found</h1>") as url:
        server = Server(url)
        with pytest.raises(Unavailable) as caught:
            await server.call("GET", "/collections/notes")
        await server.close()

    assert caught.value.code == "ERR_VECTORS_ANSWER"


async def test_what_qdrant_does_not_have_is_not_there() -> None:
    """In its own words."""
    said = {"status": {"error": "Not found: Collection `notes` doesn't exist!"}, "time": 0.1}
    with answering(404, json.dumps(said).encode()) as url:
        server = Server(url)
        assert await server.call("GET", "/collections/notes") is None
        await server.close()


async def test_the_doctor_tells_of_an_old_server(tmp_path: Path) -> None:
    """Before its answers are misread."""
    with answering(200, json.dumps({"title": "qdrant", "version": "1.12.4"}).encode()) as url:
        settings = settings_for(tmp_path, url)
        async with open_store(settings):
            pass
        (finding,) = await CHECKS["vectors"](settings)

    assert finding.verdict is Verdict.WRONG
    assert "1.12.4" in finding.sentence


@pytest.mark.parametrize(
    ("version", "old"),
    [("1.15.5", True), ("0.99.0", True), ("1.16.0", False), ("2.0.1", False), ("dev", False)],
)
def test_versions_are_compared_by_their_numbers(version: str, old: bool) -> None:
    """One that has none is taken as it is."""
    assert is_old(version) is old


async def test_a_question_does_not_wait_for_a_server_that_never_answers(tmp_path: Path) -> None:
    """After a few that waited it is left alone, and the next one is told at once."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        url = f"http://127.0.0.1:{deaf.getsockname()[1]}"
        asked = {"qdrant.timeout": "200ms", "circuit_breaker.min_samples": "2"}
        async with open_store(settings_for(tmp_path, url, **asked)) as store:
            await store.write(lambda tx: ingest(tx, "/a.txt", ["a fish"]))
            scope = scope_of((await store.write(declared)).id)
            codes = []
            for _ in range(3):
                with pytest.raises(Unavailable) as caught:
                    await store.index.candidates(scope, question("fish"))
                codes.append(caught.value.code)

    assert codes == ["ERR_VECTORS_DOWN", "ERR_VECTORS_DOWN", "ERR_BREAKER_OPEN"]

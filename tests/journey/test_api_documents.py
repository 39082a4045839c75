"""Documents by the API of the running program: taken in, watched, looked at, tried again, moved, deleted."""

import hashlib
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from penstock.model.catalogue import LOCAL_WORKSPACE
from tests.journey.test_api import problem
from tests.support.command_line import PATIENCE, Program
from tests.support.served import Served, serving
from tests.support.waiting import until

pytestmark = pytest.mark.xdist_group("api")
DOCUMENTS = f"/workspaces/{LOCAL_WORKSPACE}/documents"
KEYS = b"# Keys\n\nA lost key costs forty crowns.\n"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    program = Program(tmp_path_factory.mktemp("documents"))
    limits = program.folder / "limits.yaml"
    limits.write_text(
        "collections: {small: {limits: {file_bytes: 4}}, spared: {recreation_policy: skip}}", encoding="utf-8"
    )
    with serving(program, "run", "--role=all", "--config", limits) as process:
        for name in ("papers", "others"):
            assert program("collection", "create", name).code == 0
        yield process


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with served.client() as client:
        yield client


def sent(client: httpx.Client, *files: tuple[str, bytes], collection: str = "papers", **more: Any) -> Any:
    """Upload some files; what was accepted."""
    reply = client.post(
        DOCUMENTS, data={"collection": collection}, files=[("files", each) for each in files], **more
    )
    assert reply.status_code == 202, reply.text
    return reply.json()["items"]


def ended(client: httpx.Client, document: str) -> Any:
    """The document, once it is ingested or in error."""
    deadline = time.monotonic() + PATIENCE
    while True:
        said = client.get(f"{DOCUMENTS}/{document}").json()
        if said["status"] in ("ingested", "error"):
            return said
        assert time.monotonic() < deadline, said
        time.sleep(0.05)


def test_files_are_taken_in_at_once_and_ingested_soon(client: httpx.Client) -> None:
    """Ids with 202; then stages, versions, chunks, text and the original, each as it was sent."""
    keys, bikes = sent(client, ("keys.md", KEYS), ("bikes.txt", b"Bicycles stand behind the house."))

    said = ended(client, keys["document_id"])
    assert (said["status"], said["name"], said["source"]) == ("ingested", "keys.md", "upload")
    assert [(each["job_type"], each["status"]) for each in said["stages"]] == [
        ("parse", "success"),
        ("ingest", "success"),
    ]
    (version,) = said["versions"]
    assert (version["state"], version["sha256"]) == ("current", hashlib.sha256(KEYS).hexdigest())
    at = f"{DOCUMENTS}/{keys['document_id']}"
    original = client.get(f"{at}/content")
    assert original.content == KEYS
    assert original.headers["content-disposition"] == "attachment; filename*=UTF-8''keys.md"
    text = client.get(f"{at}/text").text
    (chunk,) = client.get(f"{at}/chunks").json()["items"]
    assert text[chunk["start"] : chunk["end"]] == chunk["text"]
    assert ended(client, bikes["document_id"])["status"] == "ingested"
    assert done(client, keys)["document_id"] == keys["document_id"]
    answer = client.post("/query", json={"question": "What does a lost key cost?"}).json()
    assert answer["citations"][0]["document_id"] == keys["document_id"]


def test_the_same_bytes_again_are_the_same_document(client: httpx.Client) -> None:
    """In one collection, by the name it has; under a key the very same answer, and no other request."""
    (first,) = sent(client, ("a.txt", b"The garden is open."))
    (second,) = sent(client, ("b.txt", b"The garden is open."))
    assert second["document_id"] == first["document_id"]
    assert second["name"] == client.get(f"{DOCUMENTS}/{first['document_id']}").json()["name"] == "a.txt"
    text = {"collection": "papers", "name": "gate", "content": "The gate is shut."}
    for name in ("gate", "door"):
        (again,) = client.post(f"{DOCUMENTS}/text", json={**text, "name": name}).json()["items"]
        assert again["name"] == "gate"

    key = {"Idempotency-Key": "upload-1"}
    one = sent(client, ("c.txt", b"The attic is closed."), headers=key)
    assert sent(client, ("c.txt", b"The attic is closed."), headers=key) == one
    other = client.post(
        DOCUMENTS, data={"collection": "papers"}, files={"files": ("d.txt", b"Else.")}, headers=key
    )
    problem(other, 409, "ERR_IDEMPOTENCY_MISMATCH")
    named = {"files": ("e.txt", b"The attic is closed.")}
    other = client.post(DOCUMENTS, data={"collection": "papers"}, files=named, headers=key)
    problem(other, 409, "ERR_IDEMPOTENCY_MISMATCH")


def test_a_text_is_taken_in(client: httpx.Client) -> None:
    """With its metadata, which a search can be narrowed by."""
    body = {"collection": "papers", "name": "note", "content": "Tea is at five.", "metadata": {"kind": "tea"}}
    reply = client.post(f"{DOCUMENTS}/text", json=body)
    assert reply.status_code == 202
    said = ended(client, reply.json()["items"][0]["document_id"])
    assert (said["name"], said["status"], said["metadata"]["kind"]) == ("note", "ingested", "tea")
    found = client.post(
        f"/workspaces/{LOCAL_WORKSPACE}/search",
        json={"query": "tea", "filters": {"metadata": {"kind": "tea"}}},
    ).json()
    assert {each["document_id"] for each in found["hits"]} == {said["id"]}
    narrowed = client.get(DOCUMENTS, params={"metadata": json.dumps({"kind": "tea"})}).json()
    assert ([each["id"] for each in narrowed["items"]], narrowed["total"]) == ([said["id"]], 1)
    for wrong in (
        "[]",
        "{",
        '{"kind": {"a": 1}}',
        '{"kind": NaN}',
        json.dumps(dict.fromkeys("abcdefghijklmnopqrstu")),
    ):
        problem(client.get(DOCUMENTS, params={"metadata": wrong}), 422, "ERR_METADATA_INVALID")


def done(client: httpx.Client, taken: Any) -> Any:
    """The job of what was taken in, once it has succeeded."""
    at = f"/workspaces/{LOCAL_WORKSPACE}/jobs/{taken['job_id']}"
    until("the job is done", lambda: client.get(at).json()["status"] == "success")
    return client.get(at).json()


def test_a_form_and_a_text_say_how_they_are_to_be_treated(client: httpx.Client) -> None:
    """How urgently and how strictly, and what becomes of the metadata; within bounds, and known by a key."""
    half = [("files", ("half.json", b'{"wharf": "north"'))]
    (strict,) = client.post(DOCUMENTS, data={"collection": "papers"}, files=half).json()["items"]
    assert ended(client, strict["document_id"])["error"]["code"] == "ERR_JSON_INVALID"
    wishes = {"collection": "papers", "priority": "7", "skip_validation": "true"}
    (taken,) = client.post(DOCUMENTS, data=wishes, files=half).json()["items"]
    assert (done(client, taken)["priority"], taken["document_id"]) == (7, strict["document_id"])
    assert ended(client, taken["document_id"])["status"] == "ingested"

    text = {"collection": "papers", "name": "wharf", "content": "The wharf is long.", "metadata": {"a": 1}}
    kept: list[Any] = []
    for more in ({}, {"metadata": {"b": 2}}, {"metadata": {"c": 3}, "preserve_metadata": False}):
        (taken,) = client.post(f"{DOCUMENTS}/text", json={**text, **more}).json()["items"]
        done(client, taken)
        kept.append(client.get(f"{DOCUMENTS}/{taken['document_id']}").json()["metadata"])
    assert kept == [{"a": 1}, {"a": 1, "b": 2}, {"c": 3}]

    key = {"Idempotency-Key": "urgent-1"}
    first = client.post(f"{DOCUMENTS}/text", json={**text, "priority": 10}, headers=key)
    assert client.post(f"{DOCUMENTS}/text", json={**text, "priority": 10}, headers=key).json() == first.json()
    other = client.post(f"{DOCUMENTS}/text", json={**text, "priority": 9}, headers=key)
    problem(other, 409, "ERR_IDEMPOTENCY_MISMATCH")
    for name, wrong in (("priority", "11"), ("priority", "soon"), ("reindex", "perhaps")):
        form = client.post(DOCUMENTS, data={"collection": "papers", name: wrong}, files=half)
        problem(form, 422, "ERR_REQUEST_INVALID")
        problem(client.post(f"{DOCUMENTS}/text", json={**text, name: wrong}), 422, "ERR_REQUEST_INVALID")


def test_a_collection_is_built_anew_with_what_is_handed_in(client: httpx.Client) -> None:
    """All of its documents, in one transaction with the new one; what is refused has nothing built."""
    (old,) = sent(client, ("pier.md", b"# Pier\n\nThe pier is short.\n"), collection="others")
    (before,) = ended(client, old["document_id"])["versions"]
    text = {"collection": "others", "name": "mole", "content": "The mole is old.", "reindex": True}
    problem(client.post(f"{DOCUMENTS}/text", json={**text, "content": ""}), 422, "ERR_REQUEST_INVALID")
    (taken,) = client.post(f"{DOCUMENTS}/text", json=text).json()["items"]
    done(client, taken)

    def current() -> list[int]:
        versions = client.get(f"{DOCUMENTS}/{old['document_id']}").json()["versions"]
        return [each["id"] for each in versions if each["state"] == "current"]

    until("the other document is built anew", lambda: before["id"] < max(current(), default=0))
    at = f"/workspaces/{LOCAL_WORKSPACE}/collections/others"
    until("the new one answers", lambda: not client.get(at).json()["rebuilding"])
    assert client.get(f"{DOCUMENTS}/{taken['document_id']}").json()["status"] == "ingested"


def test_a_collection_whose_policy_spares_it_is_not_built_anew(client: httpx.Client) -> None:
    """Text and upload that ask for it take themselves in alone, once documents can be found."""
    (old,) = sent(client, ("pier.md", b"# Pier\n\nThe pier is short.\n"), collection="spared")
    before = ended(client, old["document_id"])["versions"]
    text = {"collection": "spared", "name": "mole", "content": "The mole is old.", "reindex": True}
    asked = [client.post(f"{DOCUMENTS}/text", json=text)]
    form = {"collection": "spared", "reindex": "true"}
    asked.append(client.post(DOCUMENTS, data=form, files={"files": ("quay.txt", b"The quay is long.")}))

    for reply in asked:
        (taken,) = reply.json()["items"]
        assert ended(client, taken["document_id"])["status"] == "ingested"
    assert client.get(f"{DOCUMENTS}/{old['document_id']}").json()["versions"] == before
    spared = client.get(f"/workspaces/{LOCAL_WORKSPACE}/collections/spared").json()
    assert spared["rebuilding"] is False


def test_a_broken_file_ends_in_error_and_can_be_tried_again(client: httpx.Client) -> None:
    """With a code, what to do, 409 for its text, and one retry that ends the same way."""
    (broken,) = sent(client, ("broken.pdf", b"%PDF-1.7 no, not really"))
    said = ended(client, broken["document_id"])
    assert said["status"] == "error"
    assert (said["error"]["stage"], said["error"]["code"]) == ("parse", "ERR_PDF_INVALID")
    assert said["error"]["suggestions"]
    at = f"{DOCUMENTS}/{broken['document_id']}"
    text = client.get(f"{at}/text")
    problem(text, 409, "ERR_NOT_PARSED")
    assert said["error"]["message"] in text.json()["detail"]
    assert "being read" not in text.json()["detail"]
    assert text.json()["suggestions"]
    assert client.get(f"{at}/content").content.startswith(b"%PDF")

    again = client.post(f"{at}/retry")
    assert again.status_code == 202, again.text
    assert again.json()["job_id"] != broken["job_id"]
    assert ended(client, broken["document_id"])["status"] == "error"
    some = client.post(f"{DOCUMENTS}/retry", json={"code": "ERR_PDF_INVALID"}).json()["items"]
    assert [each["document_id"] for each in some] == [broken["document_id"]]
    ended(client, broken["document_id"])
    assert client.post(f"{at}/cancel").json() == {"cancelled": False}


def test_what_is_ingested_has_nothing_to_try_again(client: httpx.Client) -> None:
    """It is told so, with what else to do."""
    (taken,) = sent(client, ("sound.txt", b"The sound is wide."))
    assert ended(client, taken["document_id"])["status"] == "ingested"

    said = problem(client.post(f"{DOCUMENTS}/{taken['document_id']}/retry"), 409, "ERR_NOTHING_FAILED")

    assert said["suggestions"]


def test_what_was_called_off_is_tried_again_only_by_its_name(tmp_path: Path) -> None:
    """Somebody wanted that end: all that failed is not all that was called off."""
    with serving(Program(tmp_path)) as served, served.client() as client:
        client.post(f"/workspaces/{LOCAL_WORKSPACE}/collections", json={"name": "papers"})
        (taken,) = sent(client, ("called-off.txt", b"The fair is called off."))
        at = f"{DOCUMENTS}/{taken['document_id']}"
        problem(client.post(f"{at}/retry"), 409, "ERR_JOB_UNFINISHED")
        assert client.post(f"{at}/cancel").json() == {"cancelled": True}
        assert client.get(at).json()["error"]["code"] == "ERR_CANCELLED"

        for asked in ({}, {"collection": "papers"}, {"code": "ERR_PDF_INVALID"}):
            assert client.post(f"{DOCUMENTS}/retry", json=asked).json()["items"] == []
        (again,) = client.post(f"{DOCUMENTS}/retry", json={"code": "ERR_CANCELLED"}).json()["items"]

        assert again["document_id"] == taken["document_id"]
        assert client.get(at).json()["status"] == "pending"


def test_documents_are_listed_page_by_page(client: httpx.Client) -> None:
    """Filtered, sorted, each once, with how many there are."""
    client.post(f"/workspaces/{LOCAL_WORKSPACE}/collections", json={"name": "shelf"})
    files = [
        (f"{letter}.txt", letter.encode() * size) for letter, size in zip("edcba", range(1, 6), strict=True)
    ]
    for each in sent(client, *files, collection="shelf"):
        ended(client, each["document_id"])

    def names(**chosen: str) -> list[str]:
        seen: list[str] = []
        after: dict[str, str] = {}
        while True:
            asked = {"collection": "shelf", "limit": "2", **chosen, **after}
            page = client.get(DOCUMENTS, params=asked).json()
            assert page["total_is_more"] is False
            seen += [each["name"] for each in page["items"]]
            if page["next"] is None:
                assert page["total"] == len(seen)
                return seen
            after = {"after": page["next"]}

    assert names(sort="name", order="asc") == ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]
    assert names(sort="size", order="desc") == ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt"]
    assert names(status="ingested", name="C.T") == ["c.txt"]
    assert names(status="ready", name="C.T") == ["c.txt"]
    place = client.get(DOCUMENTS, params={"sort": "name", "limit": 1}).json()["next"]
    problem(client.get(DOCUMENTS, params={"sort": "created", "after": place}), 422, "ERR_PLACE_INVALID")
    assert names(status="error") == []
    problem(client.get(DOCUMENTS, params={"after": "x"}), 422, "ERR_PLACE_INVALID")
    problem(client.get(DOCUMENTS, params={"collection": "none"}), 404, "ERR_COLLECTION_UNKNOWN")


def test_a_document_is_moved_and_deleted(client: httpx.Client) -> None:
    """Out of sight at once; a client that looks at an older state of it is told."""
    (made,) = sent(client, ("cellar.txt", b"The cellar is damp."))
    ended(client, made["document_id"])
    at = f"{DOCUMENTS}/{made['document_id']}"
    tag = client.get(at).headers["etag"]
    assert client.get(at, headers={"If-None-Match": tag}).status_code == 304
    assert client.post(f"{at}/move", json={"name": "basement.txt"}).status_code == 202
    assert client.get(at).json()["name"] == "basement.txt"
    problem(client.delete(at, headers={"If-Match": tag}), 412, "ERR_PRECONDITION")

    moved = client.post(f"{at}/move", json={"collection": "others"}).json()
    assert moved["document_id"] == made["document_id"]
    there = ended(client, moved["document_id"])
    assert (there["collection"], there["name"], there["status"]) == ("others", "basement.txt", "ingested")

    assert client.delete(f"{DOCUMENTS}/{moved['document_id']}").status_code == 202
    problem(client.get(f"{DOCUMENTS}/{moved['document_id']}"), 404, "ERR_DOCUMENT_UNKNOWN")
    (bulk,) = sent(client, ("bulk.txt", b"Gone soon."))
    some = client.post(f"{DOCUMENTS}/delete", json={"ids": [bulk["document_id"], "never"]})
    problem(some, 404, "ERR_DOCUMENT_UNKNOWN")
    assert client.post(f"{DOCUMENTS}/delete", json={"ids": [bulk["document_id"]]}).status_code == 202
    problem(client.get(f"{DOCUMENTS}/{bulk['document_id']}"), 404, "ERR_DOCUMENT_UNKNOWN")


COLLECTION = 'name="collection"\r\n\r\npapers'


def file(name: str) -> str:
    return f'name="files"; {name}\r\n\r\nWords.'


def form(*parts: str) -> bytes:
    """Parts behind the name of their collection."""
    heads = [f"--b\r\nContent-Disposition: form-data; {part}\r\n" for part in (COLLECTION, *parts)]
    return "".join([*heads, "--b--\r\n"]).encode()


@pytest.mark.parametrize(
    ("body", "kind", "status", "code"),
    [
        (b"x", "text/plain", 415, "ERR_MEDIA_TYPE"),
        (b"x", "multipart/form-data", 415, "ERR_MEDIA_TYPE"),
        (b"no form at all", "multipart/form-data; boundary=b", 422, "ERR_REQUEST_INVALID"),
        (
            b"--b\r\nContent-Disposition: form-data; name=files; filename=a\r\n\r\nx",
            None,
            422,
            "ERR_REQUEST_INVALID",
        ),
        (b"--b\r\nX: " + b"y" * 20_000 + b"\r\n\r\nx\r\n--b--\r\n", None, 422, "ERR_REQUEST_INVALID"),
        (b"--b--\r\n", None, 422, "ERR_REQUEST_INVALID"),
        *(
            (form(file(f"filename*={name}")), None, 422, "ERR_REQUEST_INVALID")
            for name in ("idna''x", "undefined''x", "hex''6162", "utf-7''+AGE-", "x\0y''a", "utf-8''%ff")
        ),
        (form(file(f"filename*{'1' * 5_000}=x")), None, 422, "ERR_REQUEST_INVALID"),
        (form(COLLECTION, file('filename="a.txt"')), None, 422, "ERR_REQUEST_INVALID"),
        (b"x", f"multipart/form-data; boundary={'b' * 71}", 422, "ERR_REQUEST_INVALID"),
        (b"x", f"multipart/form-data; boundary={'b' * 5_000}", 422, "ERR_REQUEST_INVALID"),
        (b"x", "multipart/form-data; boundary*=idna''b", 422, "ERR_REQUEST_INVALID"),
    ],
)
def test_a_form_that_is_none_is_refused(
    client: httpx.Client, body: bytes, kind: str | None, status: int, code: str
) -> None:
    """And leaves no document."""
    before = client.get(DOCUMENTS).json()["total"]
    headers = {"Content-Type": kind or "multipart/form-data; boundary=b"}
    problem(client.post(DOCUMENTS, content=body, headers=headers), status, code)
    assert client.get(DOCUMENTS).json()["total"] == before


@pytest.mark.parametrize(
    ("collection", "name", "data", "status", "code"),
    [
        ("papers", "empty.txt", b"", 422, "ERR_FILE_EMPTY"),
        ("papers", "..", b"x", 422, "ERR_UPLOAD_NAME_INVALID"),
        ("none", "a.txt", b"x", 404, "ERR_COLLECTION_UNKNOWN"),
    ],
)
def test_a_file_that_cannot_be_taken_in_is_refused(
    client: httpx.Client, collection: str, name: str, data: bytes, status: int, code: str
) -> None:
    """The whole request is, and leaves nothing."""
    before = client.get(DOCUMENTS).json()["total"]
    files = [("files", ("good.txt", b"A good one.")), ("files", (name, data))]
    problem(client.post(DOCUMENTS, data={"collection": collection}, files=files), status, code)
    assert client.get(DOCUMENTS).json()["total"] == before


def test_a_large_file_is_streamed(client: httpx.Client, tmp_path: Path) -> None:
    """Thirty megabytes of text that is no text: kept whole, and refused by its parser with a reason."""
    data = bytes(range(256)) * 4096 * 30
    (large,) = sent(client, ("large.bin", data))
    said = ended(client, large["document_id"])
    assert (said["status"], said["size"]) == ("error", len(data))
    with client.stream("GET", f"{DOCUMENTS}/{large['document_id']}/content") as reply:
        digest = hashlib.sha256()
        for piece in reply.iter_bytes():
            digest.update(piece)
    assert digest.digest() == hashlib.sha256(data).digest()


def test_jobs_are_listed_and_run_again(client: httpx.Client) -> None:
    """The newest first; an ended one again as a new one that names it."""
    sent(client, ("before.txt", b"Once."))
    (made,) = sent(client, ("again.txt", b"Once more."))
    done(client, made)  # a moment after its document is ingested
    at = f"/workspaces/{LOCAL_WORKSPACE}/jobs"
    page = client.get(at, params={"limit": 1}).json()
    assert page["items"][0]["id"] == made["job_id"]
    assert (
        client.get(at, params={"limit": 1, "after": page["next"]}).json()["items"][0]["id"] != made["job_id"]
    )
    again = client.post(f"{at}/{made['job_id']}/retry")
    assert (again.status_code, again.json()["replay_of"]) == (202, made["job_id"])
    for status in ("queued", "running", "success", "failed"):
        some = client.get(at, params={"status": status}).json()["items"]
        assert {each["status"] for each in some} <= {status}
        assert status != "success" or made["job_id"] in [each["id"] for each in some]
    problem(client.get(f"{at}/never"), 404, "ERR_JOB_UNKNOWN")
    for stage in client.get(f"{DOCUMENTS}/{made['document_id']}").json()["stages"][:2]:
        assert client.get(f"{at}/{stage['job_id']}").json()["id"] == made["job_id"]  # as events name it
    assert json.loads(client.post(f"{at}/{made['job_id']}/cancel").text) == {"cancelled": False}
    text = {"collection": "papers", "name": "once.txt", "content": "Once upon a time."}
    (once,) = client.post(f"{DOCUMENTS}/text", json=text).json()["items"]
    done(client, once)
    client.delete(f"{DOCUMENTS}/{once['document_id']}")
    problem(client.post(f"{at}/{once['job_id']}/retry"), 404, "ERR_DOCUMENT_UNKNOWN")


def test_a_full_workspace_takes_nothing_more(tmp_path: Path) -> None:
    """429 with when to come again, before a byte is kept; another user's requests do not count."""
    program = Program(tmp_path)
    limits = {"PENSTOCK_HTTP_QUOTA_DOCUMENTS": "1", "PENSTOCK_HTTP_REQUESTS_PER_MINUTE": "6"}
    with serving(program, env=limits) as served, served.client() as client:
        client.post(f"/workspaces/{LOCAL_WORKSPACE}/collections", json={"name": "papers"})
        sent(client, ("one.txt", b"One."))
        files = {"files": ("two.txt", b"Two.")}
        full = client.post(DOCUMENTS, data={"collection": "papers"}, files=files)
        problem(full, 429, "ERR_QUOTA_DOCUMENTS")
        assert int(full.headers["retry-after"]) > 0
        for _ in range(3):
            assert client.get("/me").status_code == 200
        often = client.get("/me")
        problem(often, 429, "ERR_RATE_LIMITED")
        assert 1 <= int(often.headers["retry-after"]) <= 10


@pytest.mark.parametrize(
    "value", ["NaN", "Infinity", "1e999", r'"\ud800"', "[" * 40 + "]" * 40, "[" * 300 + "]" * 300]
)
def test_metadata_that_could_not_be_told_again_is_refused(client: httpx.Client, value: str) -> None:
    """As a text's, as a file's, and as what a search is narrowed by: Python reads more than JSON is."""
    before = client.get(DOCUMENTS).json()["total"]
    as_json = {"Content-Type": "application/json"}
    text = f'{{"collection": "papers", "name": "n", "content": "w", "metadata": {{"a": {value}}}}}'
    problem(client.post(f"{DOCUMENTS}/text", content=text, headers=as_json), 422, "ERR_METADATA_INVALID")
    form = {"collection": "papers", "metadata": f'{{"a": {value}}}'}
    sent = client.post(DOCUMENTS, data=form, files={"files": ("n.txt", b"Words of it.")})
    problem(sent, 422, "ERR_METADATA_INVALID")
    search = f'{{"query": "words", "filters": {{"metadata": {{"a": {value}}}}}}}'
    at = f"/workspaces/{LOCAL_WORKSPACE}/search"
    problem(client.post(at, content=search, headers=as_json), 422, "ERR_REQUEST_INVALID")
    assert client.get(DOCUMENTS).json()["total"] == before


def test_of_many_who_delete_a_document_at_once_one_does(client: httpx.Client) -> None:
    """And nobody brings it back who moves it at the same moment."""
    (item,) = sent(client, ("wanted.md", b"# Wanted\n\nEverybody wants this at once.\n"))
    ended(client, item["document_id"])
    at = f"{DOCUMENTS}/{item['document_id']}"

    def ask(number: int) -> tuple[str, int]:
        if number % 2:
            return "delete", client.delete(at).status_code
        return "move", client.post(f"{at}/move", json={"collection": "others"}).status_code

    with ThreadPoolExecutor(8) as threads:
        codes = list(threads.map(ask, range(8)))

    assert [code for verb, code in codes if verb == "delete"].count(202) == 1
    assert {code for _, code in codes} <= {202, 404, 409}
    assert client.get(DOCUMENTS, params={"name": "wanted.md"}).json()["items"] == []


def test_of_many_who_change_what_they_saw_one_does(client: httpx.Client) -> None:
    """If-Match: the others are told that it was changed meanwhile."""
    (item,) = sent(client, ("seen.md", b"# Seen\n\nEverybody saw this.\n"))
    ended(client, item["document_id"])
    at = f"{DOCUMENTS}/{item['document_id']}"
    tag = client.get(at).headers["ETag"]

    def ask(number: int) -> int:
        headers = {"If-Match": tag}
        return client.post(f"{at}/move", json={"name": f"seen-{number}.md"}, headers=headers).status_code

    with ThreadPoolExecutor(6) as threads:
        assert sorted(threads.map(ask, range(6))) == [202, *[412] * 5]


def test_a_moved_document_stays_the_same(client: httpx.Client) -> None:
    """It keeps its id into another collection, where nothing of it is embedded again, and back."""
    (item,) = sent(client, ("walker.md", b"# Walker\n\nThe walker keeps her name wherever she is.\n"))
    document = item["document_id"]
    ended(client, document)
    at = f"{DOCUMENTS}/{document}"

    for collection in ("others", "papers"):
        told = client.post(f"{at}/move", json={"collection": collection}).json()
        said = ended(client, document)

        assert told["document_id"] == document
        assert (said["status"], said["collection"], said["chunks"]) == ("ingested", collection, 1)
        hits = client.post(
            f"/workspaces/{LOCAL_WORKSPACE}/search", json={"query": "who keeps her name?"}
        ).json()["hits"]
        assert [hit["collection"] for hit in hits if hit["document_id"] == document] == [collection]


def test_a_deleted_document_is_not_tried_again(client: httpx.Client) -> None:
    """Deleted and retried at the same moment it is gone for good, whoever came first."""
    kept = [sent(client, (f"gone{n}.pdf", b"%PDF-1.7 gone " + bytes([65 + n])))[0] for n in range(4)]
    for each in kept:
        assert ended(client, each["document_id"])["status"] == "error"

    def ask(number: int) -> int:
        at = f"{DOCUMENTS}/{kept[number // 4]['document_id']}"
        if number % 4 == 3:
            return client.delete(at).status_code
        if number % 4 == 2:
            return client.post(f"{DOCUMENTS}/retry", json={}).status_code
        return client.post(f"{at}/retry").status_code

    with ThreadPoolExecutor(16) as threads:
        codes = list(threads.map(ask, range(16)))

    assert set(codes[3::4]) == {202}
    assert set(codes) <= {202, 404, 409}
    assert client.get(DOCUMENTS, params={"name": "gone"}).json()["total"] == 0


def test_a_change_sent_again_under_its_key_is_answered_as_before(client: httpx.Client) -> None:
    """Tried again, renamed, moved, deleted: each once, though the document is another by then, or gone."""
    (item,) = sent(client, ("keyed.pdf", b"%PDF-1.7 keyed"))
    assert ended(client, item["document_id"])["status"] == "error"

    def twice(key: str, path: str, body: Any = None) -> Any:
        headers = {"Idempotency-Key": key}
        first = client.post(f"{DOCUMENTS}{path}", json=body, headers=headers)
        assert first.status_code == 202, first.text
        again = client.post(f"{DOCUMENTS}{path}", json=body, headers=headers)
        assert (again.status_code, again.json()) == (202, first.json())
        return first.json()

    at = f"/{item['document_id']}"
    job = twice("again", f"{at}/retry")["job_id"]
    ended(client, item["document_id"])
    assert twice("failed", "/retry", {"code": "ERR_PDF_INVALID"})["items"]
    ended(client, item["document_id"])
    runs = client.get(f"/workspaces/{LOCAL_WORKSPACE}/jobs").json()["items"]
    assert [each["replay_of"] for each in runs].count(job) == 1
    twice("named", f"{at}/move", {"name": "lock.pdf"})
    moved = twice("moved", f"{at}/move", {"collection": "others"})
    other = client.post(f"{DOCUMENTS}{at}/move", json={"name": "x.pdf"}, headers={"Idempotency-Key": "moved"})
    problem(other, 409, "ERR_IDEMPOTENCY_MISMATCH")
    twice("gone", "/delete", {"ids": [moved["document_id"]]})
    assert client.get(DOCUMENTS, params={"name": "lock.pdf"}).json()["total"] == 0


def test_a_name_may_say_what_it_is_written_in(client: httpx.Client) -> None:
    """In UTF-8 or in Latin letters, also beside a name for those who cannot read that."""
    for written, name in (
        ("filename*=UTF-8''na%C3%AFve.txt", "naïve.txt"),
        ("filename*=iso-8859-1'fr'caf%E9.txt", "café.txt"),
        ("filename=\"euro.txt\"; filename*=UTF-8''%E2%82%AC.txt", "€.txt"),
    ):
        body = form(file(written))
        headers = {"Content-Type": 'multipart/form-data; boundary="b"'}
        reply = client.post(DOCUMENTS, content=body, headers=headers)
        assert (reply.status_code, reply.json()["items"][0]["name"]) == (202, name)
        client.delete(f"{DOCUMENTS}/{reply.json()['items'][0]['document_id']}")


def test_a_download_is_measured_and_taken_up_again(client: httpx.Client) -> None:
    """How long it is, before it is sent; some of its bytes; and what lies behind its end is refused."""
    (item,) = sent(client, ("range.txt", b"0123456789"))
    at = f"{DOCUMENTS}/{item['document_id']}/content"
    ended(client, item["document_id"])
    head = client.head(at)
    assert (head.status_code, head.headers["content-length"], head.content) == (200, "10", b"")
    assert (head.headers["accept-ranges"], head.headers["etag"]) == ("bytes", client.get(at).headers["etag"])
    assert client.get(at).headers["content-length"] == "10"
    assert client.head(at, headers={"If-None-Match": head.headers["etag"]}).status_code == 304

    def some(wanted: str, **more: str) -> tuple[int, str | None, bytes]:
        reply = client.get(at, headers={"Range": wanted, **more})
        return reply.status_code, reply.headers.get("content-range"), reply.content

    assert some("bytes=2-4") == (206, "bytes 2-4/10", b"234")
    assert some("bytes=7-") == (206, "bytes 7-9/10", b"789")
    assert some("bytes=-3") == (206, "bytes 7-9/10", b"789")
    assert some("bytes=8-99") == (206, "bytes 8-9/10", b"89")
    assert some("bytes=2-4", **{"If-Range": head.headers["etag"]})[0] == 206
    for whole in ("bytes=4-2", "bytes=-", "bytes=0-1,3-4", "lines=1-2", "bytes=x-"):
        assert some(whole) == (200, None, b"0123456789")
    assert some("bytes=2-4", **{"If-Range": '"other"'}) == (200, None, b"0123456789")
    for behind in ("bytes=10-", "bytes=-0", "bytes=999999999999999999-"):
        assert some(behind)[:2] == (416, "bytes */10")
        problem(client.get(at, headers={"Range": behind}), 416, "ERR_RANGE_INVALID")


def test_a_file_before_its_collection_is_named_is_measured_by_it_too(client: httpx.Client) -> None:
    """The order of a form's parts changes nothing."""
    parts = ['name="files"; filename="five.txt"\r\n\r\nFives', 'name="collection"\r\n\r\nsmall']
    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    for order in (parts, parts[::-1]):
        heads = [f"--b\r\nContent-Disposition: form-data; {part}\r\n" for part in order]
        reply = client.post(DOCUMENTS, content="".join([*heads, "--b--\r\n"]).encode(), headers=headers)
        problem(reply, 413, "ERR_FILE_TOO_LARGE")

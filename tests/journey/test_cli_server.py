"""The command line and a server elsewhere: the same words, the same documents, and nothing of it here."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NotRequired, get_origin, get_type_hints

import pytest

from penstock.doors.answer_shapes import CitationFacts, HitFacts
from penstock.doors.cli.collection.shapes import CollectionFacts
from penstock.doors.cli.ingest.shapes import DocumentFacts
from tests.support.command_line import PATIENCE, Program, Ran
from tests.support.live import a_token, a_user
from tests.support.person import Person
from tests.support.served import Served, serving
from tests.support.tokens import ISSUER, SECRET
from tests.support.waiting import until

pytestmark = pytest.mark.xdist_group("client")
SIGNED_IN = {"PENSTOCK_AUTH_MODE": "jwt", "PENSTOCK_AUTH_SECRET": SECRET, "PENSTOCK_AUTH_ISSUER": ISSUER}
QUESTION = "What does a lost key cost?"


class Afar:
    """`penstock` on another machine: a folder of its own, the server's address and a token in a file."""

    def __init__(self, folder: Path, served: Served) -> None:
        self.program = Program(folder)
        self.served = served
        self.folder = folder
        self.token_file = folder / "token"
        self.token_file.write_text(a_token(a_user()) + "\n")
        (folder / "keys.md").write_text("# Keys\n\nA lost key costs forty crowns.\n")
        (folder / "broken.pdf").write_text("%PDF-1.7 no, not really")

    def __call__(self, *words: str | Path, stdin: str = "", **env: str) -> Ran:
        named = {"PENSTOCK_SERVER": self.served.address, "PENSTOCK_TOKEN_FILE": str(self.token_file)}
        return self.program(*words, stdin=stdin, env={**named, **env})

    def said(self, *words: str | Path, stdin: str = "") -> Any:
        return self(*words, "--json", stdin=stdin).said()


@pytest.fixture(scope="module")
def afar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Afar]:
    """With one document there."""
    program = Program(tmp_path_factory.mktemp("server"))
    limits = {"PENSTOCK_LIMITS_FILE_BYTES": "2000000"}
    with serving(program, "run", "--role=all", env=SIGNED_IN | limits) as served:
        afar = Afar(tmp_path_factory.mktemp("afar"), served)
        assert afar("collection", "create", "papers", "--description", "All of them").code == 0
        ran = afar("ingest", "submit", "--rag", "papers", "--path", "keys.md", "--meta", "floor=2", "--wait")
        assert ran.code == 0, ran.err + "".join(served.lines)
        yield afar
        assert not afar.program.data.exists(), "a store was made on this machine"


def test_documents_of_the_server_have_the_promised_names(afar: Afar) -> None:
    """--json is as the reference says; a name is left out only where a server does not tell it."""
    for words, shape, name in (
        (("collection", "list"), CollectionFacts, "collections"),
        (("ingest", "list"), DocumentFacts, "documents"),
        (("search", "key"), HitFacts, "hits"),
        (("ask", QUESTION), CitationFacts, "citations"),
    ):
        hints = get_type_hints(shape, include_extras=True)
        known = {key for key, kind in hints.items() if get_origin(kind) is not NotRequired}
        assert afar.said(*words)[name][0].keys() == known


def test_files_and_texts_are_handed_in_and_followed(afar: Afar) -> None:
    """With the ids of their jobs, how each ended, and the code that tells so."""
    words = ("ingest", "submit", "--rag", "papers", "--path", "*.pdf", "--path", "-", "--name", "note")
    plan = afar.said(*words, "--dry-run", stdin="The attic is closed.")
    assert [(item["kind"], item["job_id"]) for item in plan["items"]] == [("file", None), ("content", None)]

    ran = afar(*words, "--wait", "--json", stdin="The attic is closed.")
    handed = json.loads(ran.out)
    assert (ran.code, handed["wait"]["done"], handed["wait"]["failed"]) == (2, 1, 1)
    (failure,) = handed["wait"]["failures"]
    assert failure["error"]["code"] == "ERR_PDF_INVALID"
    assert "attic" in afar.said("search", "attic")["hits"][0]["spans"][0]["text"]

    job = handed["items"][0]["job_id"]
    record = afar.said("ingest", "status", "--job", job)
    assert (record["status"], record["error_code"], record["document_state"]) == (
        "failed",
        "ERR_PDF_INVALID",
        "error",
    )
    followed = afar("ingest", "status", "--job", job, "--follow")
    assert (followed.code, followed.lines[-1]) == (2, "failed document=error ERR_PDF_INVALID")
    (listed,) = afar("ingest", "list", "--state", "error").cells
    assert (listed[2], listed[6], listed[7]) == ("error", "ERR_PDF_INVALID", "broken.pdf")


def test_folders_are_read_here_and_sent_file_by_file(afar: Afar) -> None:
    """By the rules of this machine; what the server refuses is told and costs itself alone."""
    folder = afar.folder / "shelf"
    (folder / "deep" / ".git").mkdir(parents=True)
    for name in ("a.md", "deep/b.md", "deep/left.log", "deep/.git/c.md", "skipped.md"):
        (folder / name).write_text(f"The {name} of the shelf is about herons.")
    (folder / "empty.md").write_text("")
    (folder / ".gitignore").write_text("skipped.md\n")
    os.mkfifo(folder / "pipe")
    words = ("ingest", "submit", "--rag", "papers", "shelf", "--ignore", "*.log")
    plan = afar.said(*words, "--dry-run")
    assert plan["overlooked"] == {"total": 1, "named": [f"{folder}/pipe (special)"]}
    assert [Path(item["name"]).name for item in plan["items"]] == ["a.md", "b.md"]

    ran = afar(*words, "--wait", "--json")
    handed = json.loads(ran.out)
    assert (ran.code, handed["wait"]["done"], handed["refused"]) == (0, 2, []), ran.err
    assert "81 B of 81 B sent" in ran.err
    assert f"left out: {folder}/pipe (special)\n" in ran.err
    (folder / "large.md").write_bytes(b"x" * 3_000_000)
    ran = afar(*words)
    assert (ran.code, len(ran.lines)) == (1, 2)
    assert "large.md" in ran.err
    assert "ERR_FILE_TOO_LARGE" in ran.err
    shallow = afar.said(*words, "--depth", "0", "--dry-run")
    assert [Path(item["name"]).name for item in shallow["items"]] == ["a.md", "large.md"]
    long = afar.said("ingest", "submit", "--rag", "papers", "-", "--name", "long", stdin="herons " * 200_000)
    assert long["items"][0]["size"] == 1_400_000


def test_how_documents_are_to_be_treated_goes_along(afar: Afar) -> None:
    """As on this machine: how urgently, how strictly, and that the rest is built anew."""
    (afar.folder / "half.json").write_text('{"quay": "south"')
    words = ("ingest", "submit", "--rag", "papers", "half.json", "--priority", "low", "--skip-validation")
    with afar.served.client(afar.token_file.read_text().strip()) as client:
        at = f"/workspaces/{client.get('/workspaces').json()['items'][0]['id']}"
        (keys,) = client.get(f"{at}/documents", params={"name": "keys.md", "limit": 1}).json()["items"]

        def newest() -> int:
            versions = client.get(f"{at}/documents/{keys['id']}").json()["versions"]
            return max(int(each["id"]) for each in versions)

        before = newest()
        handed = afar.said(*words, "--text", "The quay is long.", "--reindex", "--wait")
        assert (handed["reindexing"], handed["wait"]["done"]) == (True, 2)
        jobs = [client.get(f"{at}/jobs/{item['job_id']}").json() for item in handed["items"]]
        assert [each["priority"] for each in (*jobs, *handed["items"])] == [1, 1, 1, 1]
        until("the others are built anew", lambda: newest() > before)
        until("they answer", lambda: not afar.said("collection", "show", "papers")["building"])
    for priority, why in (("soon", "is not 0 to 10"), ("high", "http.priority_max")):
        ran = afar(*words[:-1], "--json", "--priority", priority)
        assert (ran.code, ran.error["code"]) == (1, "ERR_PRIORITY_INVALID")
        assert why in ran.error["message"]


def test_what_is_deleted_while_somebody_waits_is_not_ingested(person: Person, tmp_path: Path) -> None:
    """Files of equal bytes are one document, and when that goes each of them has failed."""
    for name in ("one.md", "other.md"):
        (tmp_path / name).write_text("# Keys\n\nThis will not be kept.\n")
    there = {"PENSTOCK_SERVER": person.served.address, "PENSTOCK_TOKEN": person.token}
    words = ("ingest", "submit", "--rag", "papers", "one.md", "other.md", "--wait", "--json")
    with Program(tmp_path).start(*words, env=there) as waiting:
        until("it is there", lambda: bool(person.ask("GET", f"{person.at}/documents")["items"]))
        (document,) = person.ask("GET", f"{person.at}/documents")["items"]
        person.ask("DELETE", f"{person.at}/documents/{document['id']}")
        out, err = waiting.communicate(timeout=PATIENCE)

    handed = json.loads(out)
    assert waiting.returncode == 2, err
    assert {item["document_id"] for item in handed["items"]} == {document["id"]}
    assert [handed["wait"][count] for count in ("total", "done", "failed")] == [2, 0, 2]
    assert {each["error"]["code"] for each in handed["wait"]["failures"]} == {"ERR_SUPERSEDED"}


def test_collections_are_made_shown_and_deleted(afar: Afar) -> None:
    """By a recipe of one's own, with failures, and with everything in them."""
    made = afar.said("collection", "create", "small", "--chunk-tokens", "64", "--chunk-tokens-min", "8")
    assert (made["created"], made["recipe"]["chunk_tokens"]) == (True, 64)
    ran = afar("collection", "create", "small", "--chunk-tokens", "65", "--json")
    assert (ran.code, ran.error["code"]) == (1, "ERR_COLLECTION_EXISTS")
    handed = json.loads(
        afar("ingest", "submit", "--rag", "small", "broken.pdf", "keys.md", "--wait", "--json").out
    )
    shown = afar.said("collection", "show", "small")
    assert (shown["recipe"], shown["failures_by_code"]) == (made["recipe"], {"ERR_PDF_INVALID": 1})
    again = afar.said("ingest", "retry", "--failed", "--rag", "small", "--dry-run")
    assert [each["document_id"] for each in again["documents"]] == [handed["items"][0]["document_id"]]
    (tried,) = afar.said("ingest", "retry", "--failed", "--rag", "small")["documents"]
    assert tried["job_id"] not in (None, handed["items"][0]["job_id"])

    kept = handed["items"][1]["document_id"]
    assert afar.said("ingest", "delete", "--rag", "small", "--document", kept)["documents"][0]["job_id"]
    assert afar("ingest", "delete", "--rag", "small", "--document", kept).code == 1
    assert afar("collection", "delete", "small").code == 1
    assert afar.said("collection", "delete", "small", "--yes")["dry_run"] is False
    assert afar("collection", "show", "small").code == 1


def test_a_person_is_answered_as_here(afar: Afar) -> None:
    """The answer with its source a line, hits a line each, talk on stderr."""
    asked = afar("ask", QUESTION, "--rag", "papers", "--meta", "floor=2")
    assert asked.code == 0, asked.err
    assert "forty crowns" in asked.lines[0]
    assert asked.lines[-1].split("\t")[0] == "[1]"
    quoted = afar.said("ask", QUESTION, "--quote", "--rag", "papers")
    assert (quoted["kind"], quoted["model"]) == ("extractive", None)
    (hit, *_) = afar("search", "lost key", "--top", "60").cells
    assert (hit[0], hit[2], "forty crowns" in hit[7]) == ("1", "papers", True)
    ran = afar("ingest", "submit", "--rag", "papers", "--text", "Tea is at five.")
    assert "1 job submitted" in ran.err
    assert afar("ingest", "status", "--job", ran.lines[0], "--follow").code == 0


def test_who_has_several_workspaces_is_told_which(afar: Afar) -> None:
    """By id and name, so that one can be named at once."""
    token = a_token(a_user())
    with afar.served.client(token) as client:
        client.post("/workspaces", json={"name": "the second"})
        (first, second) = client.get("/workspaces").json()["items"]

    file = afar.folder / "another"
    file.write_text(token)
    ran = afar("collection", "list", "--json", PENSTOCK_TOKEN_FILE=str(file))

    assert (ran.code, ran.error["code"]) == (1, "ERR_WORKSPACE_UNNAMED")
    for each in (first, second):
        assert f"{each['id']} ({each['name']})" in ran.error["message"]
    ran = afar("collection", "list", "--json", "--workspace", second["id"], PENSTOCK_TOKEN_FILE=str(file))
    assert (ran.code, ran.said()["collections"]) == (0, [])


def test_what_was_called_off_is_left_alone_unless_it_is_named(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """Through a server as on its own machine."""
    program = Program(tmp_path_factory.mktemp("idle"))
    with serving(program) as served, served.client() as client:
        (workspace,) = client.get("/workspaces").json()["items"]
        at = f"/workspaces/{workspace['id']}"
        client.post(f"{at}/collections", json={"name": "papers"})
        text = {"collection": "papers", "name": "fair", "content": "The fair is called off."}
        (taken,) = client.post(f"{at}/documents/text", json=text).json()["items"]
        client.post(f"{at}/documents/{taken['document_id']}/cancel")
        retry = ("ingest", "retry", "--failed", "--json")
        for env in ({}, {"PENSTOCK_SERVER": served.address}):
            said = program(*retry, env=env).said()
            assert (said["documents"], said["skipped"]) == ([], [])
            named = program(*retry, "--code", "ERR_CANCELLED", "--dry-run", env=env).said()
            assert [each["document_id"] for each in named["documents"]] == [taken["document_id"]]


def test_a_server_that_is_not_reached_or_lets_nobody_in_is_said(afar: Afar) -> None:
    """With 4, a wrong request with 1; the token is never shown."""
    ran = afar("collection", "list", "--json", "--server", "http://127.0.0.1:9")
    assert (ran.code, ran.error["code"]) == (4, "ERR_SERVER_UNREACHABLE")
    ran = afar("collection", "list", "--json", "--token", "eyJhbGciOiJub25lIn0.e30.")
    assert (ran.code, ran.error["code"]) == (4, "ERR_TOKEN_INVALID")
    ran = afar("search", "key", "--workspace", "nowhere", "--json")
    assert (ran.code, ran.error["code"]) == (1, "ERR_WORKSPACE_UNKNOWN")
    ran = afar(
        "ingest", "submit", "--rag", "nowhere", "--text", "a", "--log-level", "debug", PENSTOCK_DEBUG="1"
    )
    assert ran.code == 1
    assert afar.token_file.read_text().strip() not in ran.out + ran.err

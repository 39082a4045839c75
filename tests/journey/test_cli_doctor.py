"""`penstock doctor`: what it finds out, and that it changes nothing."""

import json
import os
import socket
from typing import Any

import pytest

from penstock.doors.cli.collection.shapes import CollectionDetails
from penstock.doors.cli.doctor import Examined
from tests.support.command_line import Program
from tests.support.documents import deviations
from tests.support.endpoint import Reply, fake_endpoint


def verdicts(document: Any) -> dict[str, str]:
    """The verdict of each check; the worst one where there are several."""
    return {each["check"]: each["verdict"] for each in document["findings"]}


def test_a_new_set_up_is_healthy_and_stays_untouched(program: Program) -> None:
    """Nothing is wrong with a folder that is not there yet, and looking does not make it."""
    found = program.json("doctor")

    assert deviations(found, Examined) == []
    assert found["healthy"] is True
    assert {"python", "sqlite", "data", "disk", "database", "sandbox", "model"} <= set(verdicts(found))
    assert not program.data.exists()


def test_jobs_nobody_works_on_are_wrong(program: Program) -> None:
    """Waiting work without a worker is told with what to do, and the code says that something is wrong."""
    program("collection", "create", "notes")
    program("ingest", "submit", "--rag", "notes", "--text", "a note")

    ran = program("doctor")

    assert ran.code == 2
    (told,) = [cells for cells in ran.cells if cells[0] == "wrong"]
    assert told[1] == "workers"
    assert "penstock worker" in told[3]


def test_a_damaged_database_is_told(program: Program) -> None:
    """A file that is no database is wrong, with the way out of it."""
    program.data.mkdir()
    (program.data / "penstock.db").write_bytes(b"no database " * 1000)

    ran = program("doctor")

    assert ran.code == 2
    told = {cells[1]: cells for cells in ran.cells if cells[0] == "wrong"}
    assert "backup" in told["database"][3]
    assert (program.data / "penstock.db").read_bytes() == b"no database " * 1000


def test_a_newer_schema_is_left_alone(program: Program) -> None:
    """A database of a later program is told and not opened."""
    import sqlite3
    from contextlib import closing

    program.data.mkdir()
    with closing(sqlite3.connect(program.data / "penstock.db")) as db:
        db.execute("PRAGMA user_version = 9999")

    ran = program("doctor")

    assert ran.code == 2
    assert [cells[1] for cells in ran.cells if cells[0] == "wrong"] == ["schema"]


def test_a_configuration_that_cannot_be_read_ends_with_three(program: Program) -> None:
    """Every fault of the file is told, by its key."""
    file = program.folder / "penstock.yaml"
    file.write_text("collections: {a: {sources: [{pth: /x}]}}", encoding="utf-8")

    ran = program("doctor", "--config", file)

    assert ran.code == 3
    assert "collections.a.sources[1].pth" in ran.err


def test_a_named_file_that_is_not_there_is_worth_knowing(program: Program) -> None:
    """Defaults are in force then, which is seldom what was meant."""
    found = program.json("doctor", "--config", program.folder / "nope.yaml")

    assert verdicts(found)["configuration"] == "warning"
    assert "nope.yaml is not there" in program("queue", "status", "--config", "nope.yaml").err


def test_an_endpoint_that_does_not_answer_is_wrong(program: Program) -> None:
    """An address nobody listens at is told by name, without waiting for long."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: every connection is refused
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        ran = program("doctor", "--json", env={"PENSTOCK_ANSWERER": address, "PENSTOCK_ANSWERING_MODEL": "m"})

    assert ran.code == 2, ran.err
    told = {each["check"]: each for each in json.loads(ran.out)["findings"]}
    assert told["answerer"]["verdict"] == "wrong"
    assert address in told["answerer"]["sentence"]


def test_servers_are_looked_for_before_the_first_start(program: Program) -> None:
    """A vector store that is away and a port another program has are told while there is no data yet."""
    with socket.socket() as away, fake_endpoint(Reply(status=404, body={})) as other:
        away.bind(("127.0.0.1", 0))
        env = {
            "PENSTOCK_VECTORS": f"http://127.0.0.1:{away.getsockname()[1]}",
            "PENSTOCK_HTTP_PORT": other.url.removesuffix("/v1").rpartition(":")[2],
        }
        ran = program("doctor", "--json", env=env)

    assert ran.code == 2, ran.err
    told = verdicts(json.loads(ran.out))
    assert (told["vectors"], told["http"]) == ("wrong", "warning")
    assert not program.data.exists()


@pytest.mark.parametrize(
    ("root", "status", "verdict"),
    [
        ("", 401, "wrong"),
        ("", 200, "ok"),
        ("/v1", 500, "warning"),
        ("/v1/chat/completions", 404, "warning"),
    ],
)
def test_an_endpoint_is_asked_where_calls_go(program: Program, root: str, status: int, verdict: str) -> None:
    """However its URL is given, the key is shown at the place that will see it, and a refusal is told."""
    with fake_endpoint(Reply(status=status, body={"data": []})) as endpoint:
        env = {
            "PENSTOCK_ANSWERER": endpoint.url.removesuffix("/v1") + root,
            "PENSTOCK_ANSWERING_MODEL": "m",
            "PENSTOCK_ANSWERING_API_KEY": "sk-very-secret",
        }
        ran = program("doctor", "--json", env=env)

    assert verdicts(json.loads(ran.out))["answerer"] == verdict
    assert [(each.path, each.headers["authorization"]) for each in endpoint.requests] == [
        ("/v1/models", "Bearer sk-very-secret")
    ]
    assert "sk-very-secret" not in ran.out + ran.err


def test_sources_and_recipes_are_looked_at(program: Program) -> None:
    """A source that is not there and a recipe that differs are worth knowing."""
    program("collection", "create", "notes")
    file = program.folder / "penstock.yaml"
    file.write_text(
        "collections: {notes: {recipe: {chunk_tokens: 64}, sources: [{path: /no/such/folder}]}}",
        encoding="utf-8",
    )

    found = verdicts(program.json("doctor", "--config", file))

    assert (found["sources"], found["recipe"]) == ("warning", "warning")


def test_a_recipe_the_model_cannot_take_is_wrong(program: Program) -> None:
    """It is told before every document of the collection fails by it."""
    file = program.folder / "penstock.yaml"
    file.write_text("collections: {notes: {recipe: {chunk_tokens: 5000}}}", encoding="utf-8")

    told = program("doctor", "--config", file)
    listed = program("collection", "list", "--config", file, "--json")

    assert told.code == 2
    assert "collections.notes.recipe.chunk_tokens is 5000" in told.out
    assert (listed.code, listed.error["code"]) == (3, "ERR_CONFIGURATION")


def test_it_is_readable_on_a_narrow_terminal(program: Program) -> None:
    """Sentences are folded under themselves."""
    drawn = program.on_terminal("doctor", columns=60)

    assert drawn.code == 0
    assert max(map(len, drawn.out.splitlines())) <= 60


def test_what_nobody_takes_is_told(program: Program) -> None:
    """A link in an incoming folder, a file in that of no collection: how many, which, and what to do."""
    program("collection", "create", "notes")
    sources = program.data / "sources"
    for name in ("notes", "nots", "empty"):
        (sources / name / "incoming").mkdir(parents=True)
    assert verdicts(program.json("doctor"))["incoming"] == "ok"
    (sources / "notes" / "incoming" / "good.md").write_text("words", encoding="utf-8")
    (sources / "notes" / "incoming" / "link.md").symlink_to("/etc/hostname")
    os.mkfifo(sources / "notes" / "incoming" / "pipe")
    (sources / "nots" / "incoming" / "lost.md").write_text("words", encoding="utf-8")

    ran = program("doctor")
    shown = program.json("collection", "show", "notes")

    untaken, unwatched = (cells for cells in ran.cells if cells[1] == "incoming")
    assert (ran.code, untaken[0], unwatched[0]) == (0, "warning", "warning")
    assert "notes holds 2 things never taken" in untaken[2]
    assert "nots/incoming holds 1 file, such as lost.md, and there is no collection nots" in unwatched[2]
    assert "penstock collection create nots" in unwatched[3]
    assert (sources / "nots" / "incoming" / "lost.md").exists()
    assert deviations(shown, CollectionDetails) == []
    assert [source["untaken"] for source in shown["sources"]] == [2]
    assert "2 there never taken" in program.on_terminal("collection", "show", "notes", columns=80).out

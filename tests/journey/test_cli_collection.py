"""`penstock collection`: made, declared, looked at, deleted."""

import json

from penstock.doors.cli.collection.shapes import CollectionDetails, CollectionList, Deleted, Made
from penstock.model.errors import ErrorClass, ErrorReport
from penstock.wiring.store import Store
from tests.support.command_line import Program
from tests.support.documents import deviations
from tests.support.ingested import a_collection, failed, ingested

DAMAGED = ErrorReport(code="ERR_PDF_INVALID", message="it is no PDF", kind=ErrorClass.PERMANENT)


def filled(program: Program) -> None:
    """A collection with one searchable and one failed document."""
    good, bad = program.folder / "good.txt", program.folder / "bad.pdf"
    good.write_text("a good text", encoding="utf-8")
    bad.write_text("%PDF nothing", encoding="utf-8")

    async def fill(store: Store) -> None:
        await a_collection(store)
        await ingested(store, program.data, good, ["a good", "text"])
        await failed(store, bad, DAMAGED)

    program.in_store(fill)


def configured(program: Program, text: str) -> tuple[str, str]:
    """The words that name a configuration file of this text."""
    file = program.folder / "penstock.yaml"
    file.write_text(text, encoding="utf-8")
    return "--config", str(file)


def test_a_collection_is_made_once(program: Program) -> None:
    """Making it again with the same words changes nothing; with others it is refused."""
    first = program.json("collection", "create", "notes", "--description", "Notes")
    again = program.json("collection", "create", "notes", "--description", "Notes")
    other = program("collection", "create", "notes", "--chunk-tokens", "64", "--json")

    assert deviations(first, Made) == []
    assert (first["created"], again["created"]) == (True, False)
    assert (other.code, other.error["code"]) == (1, "ERR_COLLECTION_EXISTS")


def test_names_and_recipes_are_checked(program: Program) -> None:
    """A name no collection may have, and a recipe that cannot be cooked, are refused by their codes."""
    assert program("collection", "create", "low", "--json").error["code"] == "ERR_COLLECTION_INVALID"
    assert program("collection", "create", "a-b", "--json").error["code"] == "ERR_COLLECTION_INVALID"
    assert program("collection", "create", "a", "--overlap-tokens", "400").code != 0
    long = program("collection", "create", "a", "--chunk-tokens", "8192", "--json")
    assert (long.code, long.error["code"]) == (3, "ERR_CONFIGURATION")
    assert "takes 254 at most" in long.error["message"]
    assert not program.json("collection", "list")["collections"]


def test_a_dry_run_makes_nothing(program: Program) -> None:
    """What would be made is told with its recipe."""
    told = program.json("collection", "create", "notes", "--chunk-tokens", "64", "--dry-run")

    assert (told["created"], told["recipe"]["chunk_tokens"], told["dry_run"]) == (True, 64, True)
    assert not program.data.exists()
    program.begin()
    assert not program.json("collection", "list")["collections"]


def test_a_dry_run_refuses_what_the_command_would_refuse(program: Program) -> None:
    """A collection that is there with another recipe is not called unchanged."""
    program("collection", "create", "notes")

    same = program.json("collection", "create", "notes", "--dry-run")
    other = program("collection", "create", "notes", "--chunk-tokens", "64", "--dry-run", "--json")

    assert same["created"] is False
    assert (other.code, other.error["code"]) == (1, "ERR_COLLECTION_EXISTS")


def test_declared_collections_are_there(program: Program) -> None:
    """What the configuration names is made by the command that needs it, with its recipe."""
    words = configured(program, "collections: {handbook: {description: H, recipe: {chunk_tokens: 99}}}")

    (found,) = program.json("collection", "list", *words)["collections"]

    assert (found["name"], found["description"], found["declared"]) == ("handbook", "H", True)
    assert found["recipe"]["chunk_tokens"] == 99
    assert found["recipe_differences"] == []
    assert not program.data.exists(), "looking made something"


def test_another_recipe_is_told_and_never_applied_by_itself(program: Program) -> None:
    """A collection keeps the recipe it was made with until it is reindexed."""
    program("collection", "create", "handbook")
    words = configured(program, "collections: {handbook: {recipe: {chunk_tokens: 99}}}")

    shown = program.json("collection", "show", "handbook", *words)

    assert shown["recipe"]["chunk_tokens"] == 200
    assert shown["recipe_differences"] == ["chunk_tokens is 200, now 99"]
    assert "reindex to apply" in program.on_terminal("collection", "show", "handbook", *words).out


def test_a_list_counts_documents_chunks_and_bytes(program: Program) -> None:
    """States, chunks and size of every collection stand in a document, in lines and in a table."""
    filled(program)

    listed = program.json("collection", "list")
    ran, drawn = program("collection", "list"), program.on_terminal("collection", "list", columns=80)

    assert deviations(listed, CollectionList) == []
    (found,) = listed["collections"]
    assert (found["documents"]["ingested"], found["documents"]["error"], found["chunks"]) == (1, 1, 2)
    assert found["bytes"] == len("a good text")
    assert ran.cells == [["notes", "1", "0", "0", "1", "2", "11", ""]]
    assert drawn.out.splitlines()[0].split()[:2] == ["COLLECTION", "INGESTED"]
    assert max(map(len, drawn.out.splitlines())) <= 80


def test_show_names_failures_by_code_and_sources(program: Program) -> None:
    """Each failed document is there with its code and what to do; so are the folders documents come from."""
    filled(program)

    shown = program.json("collection", "show", "notes")

    assert deviations(shown, CollectionDetails) == []
    assert shown["failures_by_code"] == {"ERR_PDF_INVALID": 1}
    (failure,) = shown["failures"]
    assert (failure["name"], failure["error"]["message"]) == ("bad.pdf", "it is no PDF")
    assert failure["error"]["suggestions"]
    assert shown["sources"][0]["own"] is True
    assert shown["building_progress"] is None


def test_show_is_for_eyes_too(program: Program) -> None:
    """Piped, each fact has a line by its name, whatever it stands inside of; nothing is JSON."""
    filled(program)

    piped = program("collection", "show", "notes")
    drawn = program.on_terminal("collection", "show", "notes", columns=80)

    assert ["documents.ingested", "1"] in piped.cells
    assert ["failures.1.name", "bad.pdf"] in piped.cells
    assert ["failures_by_code.ERR_PDF_INVALID", "1"] in piped.cells
    assert ["sources.1.path", str(program.data / "sources" / "notes" / "incoming")] in piped.cells
    assert "{" not in piped.out + drawn.out
    assert max(map(len, drawn.out.splitlines())) <= 80


def test_an_unknown_collection_is_answered_with_those_there_are(program: Program) -> None:
    """Whoever mistypes a name sees the right one."""
    program("collection", "create", "handbook")

    error = program("collection", "show", "handbok", "--json").error

    assert error["code"] == "ERR_COLLECTION_UNKNOWN"
    assert "handbook" in error["message"]


def test_a_delete_wants_to_be_meant(program: Program) -> None:
    """A script must say --yes; then nothing of the collection is seen any more, and its purge is owed."""
    filled(program)

    asked, told = (
        program("collection", "delete", "notes"),
        program("collection", "delete", "notes", "--dry-run"),
    )
    done = program.json("collection", "delete", "notes", "--yes")

    assert (asked.code, told.code) == (1, 0)
    assert deviations(done, Deleted) == []
    assert (done["documents"], done["chunks"]) == (2, 2)
    assert program.json("collection", "list")["collections"] == []
    assert program.json("ingest", "list")["documents"] == []
    assert program("fsck").code == 0


def test_what_waits_for_a_deleted_collection_ends_with_its_reason(program: Program) -> None:
    """No worker is needed for it, a document's status says why, and a successor of the name stays empty."""
    paper = program.folder / "paper.txt"
    paper.write_text("some words", encoding="utf-8")
    program.json("collection", "create", "notes")
    (job,) = program("ingest", "submit", "--rag", "notes", "--path", str(paper)).out.split()

    program.json("collection", "delete", "notes", "--yes")
    program.json("collection", "create", "notes")

    told = program("ingest", "status", "--job", job, "--json")
    status = json.loads(told.out)
    assert (status["status"], status["error_code"]) == ("failed", "ERR_COLLECTION_UNKNOWN")
    assert status["error"] == "the collection was deleted"
    assert program.json("collection", "show", "notes")["documents"]["pending"] == 0

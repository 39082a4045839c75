"""`penstock fsck` on data that was damaged by hand: every flaw is found, mended, and gone afterwards."""

import os
from pathlib import Path

import pytest

from penstock.doors.cli.fsck import Checked
from penstock.model.diagnosis import MEANINGS, Flaw
from penstock.wiring.store import Store
from tests.support.command_line import Program
from tests.support.documents import deviations
from tests.support.ingested import a_collection, by_hand, claimed, ingested

MENDED_BY_A_JOB = {"version_chunks", "chunk_vectors", "document_versionless"}
TEXTS = ("the first part", "the second part", "the third part")


@pytest.fixture
def data(program: Program) -> Path:
    """A data folder with one searchable document and one that waits."""
    one, two = program.folder / "one.txt", program.folder / "two.txt"
    one.write_text("the first part the second part the third part", encoding="utf-8")
    two.write_text("something else", encoding="utf-8")

    async def fill(store: Store) -> None:
        await a_collection(store)
        await ingested(store, program.data, one, TEXTS)
        await claimed(store, two)

    program.in_store(fill)
    return program.data


def flaws(program: Program, *words: str, code: int = 2) -> list[str]:
    """What fsck finds, by kind; its code is what it should be."""
    import json

    ran = program("fsck", "--json", *words)
    assert ran.code == code, ran.err
    found = json.loads(ran.out)
    assert deviations(found, Checked) == []
    assert found["clean"] is (code == 0)
    return sorted(each["flaw"] for each in found["flaws"])


def test_sound_data_is_clean(program: Program, data: Path) -> None:
    """A document that is searchable and one that waits for its job are no flaws, however deep one looks."""
    assert flaws(program, code=0) == []
    assert flaws(program, "--deep", code=0) == []


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("DELETE FROM chunks WHERE ordinal = 1", ["version_chunks", "words"]),
        ("UPDATE chunks SET ordinal = 7 WHERE ordinal = 1", ["version_chunks"]),
        ("DELETE FROM embeddings WHERE embedding_id = 1", ["chunk_vectors"]),
        ("UPDATE embeddings SET vector = x'00' WHERE embedding_id = 1", ["chunk_vectors"]),
        ("UPDATE versions SET state = 'gone'", ["document_versionless", "version_unpurged"]),
        ("UPDATE documents SET hidden_at = updated_at WHERE state = 'ingested'", ["document_unpurged"]),
        ("DELETE FROM words_1_docsize WHERE id = 1", ["words"]),
        (
            "INSERT INTO generations (collection_id, recipe_json, created_at) "
            "VALUES (1, '{}', '2026-01-01T00:00:00.000000Z')",
            ["generation_unpurged"],
        ),
    ],
)
def test_what_disagrees_is_found_and_mended(
    program: Program, data: Path, damage: str, found: list[str]
) -> None:
    """Each kind of damage is told by its name; after the repair the database agrees with itself again."""
    by_hand(data, damage)
    told = set(flaws(program))

    assert set(found) <= told
    mended = flaws(program, "--repair", code=0)
    assert set(mended) == told
    assert flaws(program, code=0) == []
    assert len(program.rows()) == (3 if told & MENDED_BY_A_JOB else 2)


def test_what_a_failure_left_half_built_is_told_until_somebody_owes_its_purge(
    program: Program, data: Path
) -> None:
    """A version with chunks that no job is at work on is told, unless its purge is owed."""
    by_hand(
        data,
        "UPDATE documents SET state = 'error' WHERE state = 'ingested'",
        "UPDATE versions SET state = 'building'",
    )

    assert flaws(program) == ["version_unfinished"]
    assert flaws(program, "--repair", code=0) == ["version_unfinished"]
    assert flaws(program, code=0) == []


def test_a_document_without_a_job_gets_one(program: Program, data: Path) -> None:
    """A waiting document whose job was removed is submitted again, once."""
    by_hand(
        data,
        "DELETE FROM unified_queue WHERE finished_at IS NULL",
        "UPDATE documents SET state = 'pending', error_code = NULL WHERE state <> 'ingested'",
    )

    assert flaws(program) == ["document_waiting"]
    assert flaws(program, "--repair", code=0) == ["document_waiting"]
    assert flaws(program, code=0) == []
    assert [row[1] for row in program.rows()] == ["done", "pending"]


def test_a_step_whose_job_has_ended_is_ended(program: Program, data: Path) -> None:
    """An unfinished step without a job is told and ended, and its document says so."""
    by_hand(data, "UPDATE stages SET finished_at = NULL, state = 'running' WHERE kind = 'ingest'")

    assert "stage_lost" in flaws(program)
    flaws(program, "--repair", code=0)
    assert flaws(program, code=0) == []


def test_bytes_that_are_gone_are_taken_from_the_file(program: Program, data: Path) -> None:
    """Missing and damaged bytes are captured again from the file that still holds them."""
    (blob,) = [path for path in (data / "blobs").rglob("*") if path.is_file()]
    blob.unlink()
    assert flaws(program) == ["blob_missing"]
    assert flaws(program, "--repair", code=0) == ["blob_missing"]

    blob.chmod(0o600)
    blob.write_bytes(b"something else")
    assert flaws(program, code=0) == []
    assert flaws(program, "--deep") == ["blob_damaged"]
    assert flaws(program, "--deep", "--repair", code=0) == ["blob_damaged"]
    assert flaws(program, "--deep", code=0) == []


def test_bytes_nobody_can_give_back_are_told(program: Program, data: Path) -> None:
    """When the file is gone too, the flaw stays and the person is told what to do."""
    (blob,) = [path for path in (data / "blobs").rglob("*") if path.is_file()]
    blob.unlink()
    (program.folder / "one.txt").unlink()

    ran = program("fsck", "--repair")

    assert ran.code == 2
    assert ran.cells[0][:1] == ["blob_missing"]
    assert "not mended" in ran.err


def test_bytes_nothing_refers_to_go_after_an_hour(program: Program, data: Path) -> None:
    """Young bytes may be about to be used and are left alone; old ones are told and removed."""
    from penstock.engines.disk import DiskBlobs

    async def put(store: Store) -> str:
        return (await DiskBlobs(data / "blobs").put_bytes(b"left over")).hash

    digest = program.in_store(put)
    place = next(path for path in (data / "blobs").rglob("*") if digest.endswith(path.name))
    assert flaws(program, code=0) == []

    os.utime(place, (1_000_000_000, 1_000_000_000))
    assert flaws(program) == ["blob_unused"]
    assert flaws(program, "--repair", code=0) == ["blob_unused"]
    assert not place.exists()


def test_half_written_files_are_swept(program: Program, data: Path) -> None:
    """What a dead writer left is told, and removed by the repair."""
    folder = data / "blobs" / "unfinished"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "0123456789abcdef.part").write_bytes(b"half")

    assert flaws(program) == ["unfinished_files"]
    assert flaws(program, "--repair", code=0) == ["unfinished_files"]
    assert flaws(program, code=0) == []


def test_words_are_compared_with_their_text(program: Program, data: Path) -> None:
    """A deep look finds words that are not those of the text, and the repair makes them anew."""
    by_hand(
        data,
        "INSERT INTO words_1 (words_1, rowid, lead, text, grams) "
        "SELECT 'delete', chunk_id, lead, text, grams FROM chunks WHERE ordinal = 2",
        "INSERT INTO words_1 (rowid, lead, text, grams) "
        "SELECT chunk_id, lead, 'another text', grams FROM chunks WHERE ordinal = 2",
    )

    assert flaws(program, code=0) == []
    assert flaws(program, "--deep") == ["words"]
    assert flaws(program, "--deep", "--repair", code=0) == ["words"]
    assert flaws(program, "--deep", code=0) == []


NO_RECIPE = "UPDATE generations SET recipe_json = '{'"


@pytest.mark.parametrize(
    ("damage", "words", "code", "told"),
    [
        ("UPDATE chunks SET headings_json = '{'", ("search", "first part"), 0, ""),
        ("UPDATE documents SET metadata_json = '{'", ("ingest", "list"), 0, ""),
        (NO_RECIPE, ("collection", "list"), 0, ""),
        (NO_RECIPE, ("collection", "show", "notes"), 0, ""),
        (NO_RECIPE, ("doctor",), 2, "Mend it: penstock fsck --repair."),
        (NO_RECIPE, ("search", "first part"), 2, "to mend it: penstock fsck --repair"),
    ],
)
def test_a_command_that_meets_damage_says_what_to_do(
    program: Program, data: Path, damage: str, words: tuple[str, ...], code: int, told: str
) -> None:
    """One row of nonsense ends no command with a fault nobody expected."""
    by_hand(data, damage)

    ran = program(*words)

    assert (ran.code, "ERR_UNEXPECTED" in ran.err) == (code, False), ran.err
    assert told in ran.out + ran.err


def test_an_empty_folder_is_refused(program: Program) -> None:
    """Checking what is not there makes nothing and says so."""
    ran = program("fsck")

    assert ran.code == 1
    assert "there is no data in" in ran.err
    assert not program.data.exists()


def test_every_flaw_has_a_meaning() -> None:
    """What can be told can be explained."""
    assert set(MEANINGS) == set(Flaw)


def test_a_repair_that_reached_its_limit_is_not_called_clean(program: Program, data: Path) -> None:
    """Who asks for one flaw at a time is told to come again, until there is none."""
    by_hand(data, "DELETE FROM embeddings")

    seen = program("fsck", "--limit", "1")
    first = program("fsck", "--repair", "--limit", "1")
    second = program("fsck", "--repair", "--limit", "1")

    assert "and perhaps more" in seen.err
    assert (first.code, second.code) == (2, 0)
    assert "run it again" in first.err

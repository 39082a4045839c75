"""Moving files that are ours: nothing overwritten, nothing lost, and once more is no harm."""

# ruff: noqa: ASYNC240 -- a test's own loop may be held up by a file of its own.

import asyncio
import errno
import json
import os
from hashlib import sha256
from pathlib import Path

import pytest

from penstock.engines.disk import DiskMover, moving
from penstock.model.errors import Exhausted, Refused
from penstock.model.files import BlobHash
from tests.support.trees import plant

mover = DiskMover()


def hash_of(text: str) -> BlobHash:
    return BlobHash(sha256(text.encode()).hexdigest())


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


@pytest.fixture
def source(tmp_path: Path) -> Path:
    plant(tmp_path / "incoming", {"a.pdf": "one"})
    (tmp_path / "processed").mkdir()
    return tmp_path / "incoming" / "a.pdf"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "processed"


@pytest.fixture(params=["same file system", "another file system", "no links"])
def links(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """How the system answers when a file is to be linked to its new name."""
    link = os.link

    def refuse(one: Path, other: Path, **named: bool) -> None:
        if request.param == "no links":
            raise OSError(errno.EPERM, "no links")
        if Path(one).parent != Path(other).parent:
            raise OSError(errno.EXDEV, "another file system")
        link(one, other, **named)

    if request.param != "same file system":
        monkeypatch.setattr(os, "link", refuse)


@pytest.mark.usefixtures("links")
async def test_a_file_is_moved_with_its_time(source: Path, target: Path) -> None:
    """M1: it is in one place before and in the other after, also where links are refused."""
    os.utime(source, ns=(5_000_000_000, 5_000_000_000))

    assert (await mover.move(source, target, "a.pdf", digest=hash_of("one"))).path == target / "a.pdf"

    assert texts(target) == {"a.pdf": "one"}
    assert (target / "a.pdf").stat().st_mtime_ns == 5_000_000_000
    assert not source.exists()


@pytest.mark.usefixtures("links")
async def test_another_file_of_the_name_is_never_overwritten(source: Path, target: Path) -> None:
    """M1: the next free number is taken."""
    plant(target, {"a.pdf": "other", "a (2).pdf": "another"})

    assert (await mover.move(source, target, "a.pdf", digest=hash_of("one"))).path.name == "a (3).pdf"
    assert texts(target) == {"a.pdf": "other", "a (2).pdf": "another", "a (3).pdf": "one"}


@pytest.mark.usefixtures("links")
async def test_the_same_bytes_are_there_already(source: Path, target: Path) -> None:
    """M1: then the source only goes."""
    plant(target, {"a.pdf": "other", "a (2).pdf": "one"})

    assert (await mover.move(source, target, "a.pdf", digest=hash_of("one"))).path.name == "a (2).pdf"
    assert not source.exists()
    assert len(texts(target)) == 2


async def test_a_move_may_be_repeated(source: Path, target: Path) -> None:
    """M2: after it happened, and after a death between the new name and the old one's going."""
    os.link(source, target / "a.pdf")

    found = [await mover.move(source, target, "a.pdf", digest=hash_of("one")) for _ in range(3)]

    assert {moved.path for moved in found} == {target / "a.pdf"}
    assert [moved.earlier for moved in found] == [False, True, True]
    assert texts(target) == {"a.pdf": "one"}
    assert not source.exists()


async def test_a_source_that_was_replaced_stays(source: Path, target: Path) -> None:
    """M1: other bytes than were captured are another document that nobody has read yet."""
    source.write_text("two")

    with pytest.raises(Refused, match="other bytes") as refused:
        await mover.move(source, target, "a.pdf", digest=hash_of("one"))

    assert refused.value.code == "ERR_FILE_CHANGING"
    assert (source.read_text(), texts(target)) == ("two", {})


@pytest.mark.usefixtures("links")
@pytest.mark.parametrize("there", [{}, {"a.pdf": "one"}], ids=["new", "known"])
async def test_what_comes_by_the_name_while_it_is_moved_stays(
    source: Path, target: Path, there: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """M2: a file saved over the old name after the bytes were compared was read by nobody: not lost."""
    plant(target, there)
    at = "_hash" if there else "sync_folder"
    does = getattr(moving, at)

    def save_meanwhile(path: Path) -> object:
        done = does(path)
        if path != source.parent:
            plant(source.parent, {"new": "two"})
            (source.parent / "new").rename(source)
        return done

    monkeypatch.setattr(moving, at, save_meanwhile)

    await mover.move(source, target, "a.pdf", digest=hash_of("one"))

    assert texts(target) == {"a.pdf": "one"}
    assert texts(source.parent) == {"a.pdf": "two"}


async def test_others_of_the_name_are_read_only_if_they_are_as_long(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M1: a name that comes every day costs no reading of all that came before."""
    plant(target, {"a.pdf": "other", "a (2).pdf": "another", "a (3).pdf": "two"})
    read: list[str] = []
    hashing = moving._hash

    def counted(path: Path) -> str:
        read.append(path.name)
        return hashing(path)

    monkeypatch.setattr(moving, "_hash", counted)

    assert (await mover.move(source, target, "a.pdf", digest=hash_of("one"))).path.name == "a (4).pdf"
    assert read == ["a (3).pdf"]


async def test_a_source_that_is_gone_is_told(tmp_path: Path, target: Path) -> None:
    """M2: success needs the bytes to be there."""
    plant(target, {"a.pdf": "other"})

    with pytest.raises(Refused) as refused:
        await mover.move(tmp_path / "incoming" / "a.pdf", target, "a.pdf", digest=hash_of("one"))

    assert refused.value.code == "ERR_FILE_NOT_FOUND"


async def test_many_movers_of_one_name_lose_nothing(tmp_path: Path, target: Path) -> None:
    """M1: twenty files with other bytes and one name, at once."""
    words = [f"text {number}" for number in range(20)]
    plant(tmp_path, {f"in{number}/a.pdf": word for number, word in enumerate(words)})

    moved = await asyncio.gather(
        *(
            mover.move(tmp_path / f"in{number}" / "a.pdf", target, "a.pdf", digest=hash_of(word))
            for number, word in enumerate(words)
        )
    )

    assert [each.path.read_text() for each in moved] == words
    assert len(texts(target)) == 20


@pytest.mark.parametrize("name", ["", ".", "..", "a/b.pdf", "a\0b"])
async def test_a_name_that_is_none_is_refused(source: Path, target: Path, name: str) -> None:
    """M1: a name leads nowhere but into the folder."""
    with pytest.raises(Refused) as refused:
        await mover.move(source, target, name, digest=hash_of("one"))

    assert refused.value.code == "ERR_PATH_INVALID"
    assert source.exists()


@pytest.mark.parametrize("name", ["ä" * 120 + ".pdf", "x" * 255, ".hidden" + "y" * 248])
async def test_a_long_name_leaves_room_for_what_comes_beside(source: Path, target: Path, name: str) -> None:
    """M1: a number and a sidecar's ending still fit; the file's own ending stays."""
    plant(target, {})
    moved = (await mover.move(source, target, name, digest=hash_of("one"))).path
    beside = await mover.write_beside(moved, ".error.json", {"status": "failed"})

    assert moved.suffix == Path(name).suffix or len(Path(name).suffix) > 20
    assert beside.exists()


async def test_a_folder_full_of_the_name_is_told(
    source: Path, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """M1: the search for a free name ends."""
    monkeypatch.setattr("penstock.engines.disk.moving.SAME_NAME_MAX", 3)
    plant(target, {"a.pdf": "x", "a (2).pdf": "y", "a (3).pdf": "z"})

    with pytest.raises(Exhausted, match="3 other files"):
        await mover.move(source, target, "a.pdf", digest=hash_of("one"))

    assert source.exists()


async def test_a_link_is_not_moved(tmp_path: Path, target: Path) -> None:
    """M1: a link in a folder of ours would bring in what it points to."""
    plant(tmp_path, {"secret": "one"})
    link = tmp_path / "link.pdf"
    link.symlink_to(tmp_path / "secret")

    with pytest.raises(Refused) as refused:
        await mover.move(link, target, "a.pdf", digest=hash_of("one"))

    assert refused.value.code == "ERR_FILE_NOT_REGULAR"


async def test_a_record_is_written_beside(target: Path) -> None:
    """M2: readable JSON, replaced as a whole when it is written again, unless it is to be kept."""
    for number, keep in enumerate((False, False, True)):
        record = {"name": "Größe", "n": number}
        path = await mover.write_beside(target / "a.pdf", ".meta.json", record, keep=keep)

    assert path == target / "a.pdf.meta.json"
    assert json.loads(path.read_text(encoding="utf-8")) == {"name": "Größe", "n": 1}
    assert "Größe" in path.read_text(encoding="utf-8")
    assert list(texts(target)) == ["a.pdf.meta.json"]
    long = await mover.write_beside(target / f"{'n' * 250}.pdf", ".error.json", {})
    assert long.name.endswith(".pdf.error.json")


async def test_a_record_written_meanwhile_stays(target: Path) -> None:
    """M2: who moved a file first and writes its record last leaves that of a job that ended since it came."""
    beside, came = target / "a.pdf", "2025-01-10T20:15:30.000Z"
    told = {"job_id": "message", "completed_at": "2025-01-10T20:15:31.000Z"}
    await mover.write_beside(beside, ".meta.json", told)
    path = await mover.write_beside(beside, ".meta.json", {"job_id": "found"}, since=came)
    assert json.loads(path.read_text(encoding="utf-8")) == told

    await mover.drop_beside(beside, ".error.json")
    await mover.drop_beside(beside, ".meta.json")
    assert not path.exists()
    for before in ({"failed_at": "2025-01-10T20:15:29.000Z"}, {"completed_at": None}, ["torn"]):
        path.write_text(json.dumps(before), encoding="utf-8")
        await mover.write_beside(beside, ".meta.json", {"job_id": "found"}, since=came)
        assert json.loads(path.read_text(encoding="utf-8")) == {"job_id": "found"}


async def test_half_written_files_are_swept_and_others_left(target: Path) -> None:
    """M2: only names of our own making."""
    plant(target, {".a.pdf.0123456789abcdef.part": "half", "movie.part": "a download", "a.pdf": "x"})

    assert await mover.sweep(target) == 1
    assert list(texts(target)) == ["a.pdf", "movie.part"]
    assert await mover.sweep(target / "gone") == 0

"""Blobs: captured whole, named by their bytes, mended and removed."""

# ruff: noqa: ASYNC110, ASYNC240 -- a test's own loop may be held up by a file of its own.

import asyncio
import os
import socket
import time
from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path

import pytest

from penstock.model.errors import Broken, Exhausted, Fault, Refused
from penstock.model.files import Blob, BlobHash, blob_hash
from penstock.ports.blobs import Blobs
from tests.contract.blob_engines import BLOB_ENGINES, BlobEngine
from tests.support.nobody import as_nobody

LIMIT = 10_000_000
TEXT = b"water under control"


@pytest.fixture(params=sorted(BLOB_ENGINES))
def engine(request: pytest.FixtureRequest) -> BlobEngine:
    return BLOB_ENGINES[request.param]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept" / "blobs"


@pytest.fixture
def blobs(engine: BlobEngine, folder: Path) -> Blobs:
    return engine.open(folder)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.txt"
    path.write_bytes(TEXT)
    return path


def hash_of(data: bytes) -> BlobHash:
    return blob_hash(sha256(data).hexdigest())


async def listed(blobs: Blobs) -> list[Blob]:
    return [blob async for blob in blobs.all()]


async def bytes_of(blobs: Blobs, digest: BlobHash) -> bytes:
    with await blobs.open(digest) as file:
        return file.read()


async def refusal(blobs: Blobs, path: Path, limit: int = LIMIT, beneath: Path | None = None) -> Fault:
    with pytest.raises(Fault) as refused:
        await blobs.put_file(path, limit=limit, beneath=beneath)
    return refused.value


async def arriving(*pieces: bytes | Exception) -> AsyncIterator[bytes]:
    for piece in pieces:
        if isinstance(piece, Exception):
            raise piece
        yield piece


async def test_a_file_is_kept_under_its_hash(engine: BlobEngine, folder: Path, source: Path) -> None:
    """B1: a store opened anew gives the bytes back by path and by handle."""
    blob = await engine.open(folder).put_file(source, limit=LIMIT)
    source.unlink()

    again = engine.open(folder)
    assert blob == Blob(hash=hash_of(TEXT), size=len(TEXT))
    assert await bytes_of(again, blob.hash) == TEXT
    async with again.path_of(blob.hash) as path:
        assert path.read_bytes() == TEXT
    assert await again.verify(blob.hash) == blob


@pytest.mark.parametrize("size", [0, 1, (1 << 20) - 1, 1 << 20, (3 << 20) + 7])
async def test_every_way_in_keeps_the_same_blob(blobs: Blobs, tmp_path: Path, size: int) -> None:
    """B1, B3: file, bytes and stream of the same bytes are one blob, whatever the size."""
    data = bytes(number % 251 for number in range(1000)) * (size // 1000 + 1)
    data = data[:size]
    path = tmp_path / "some.bin"
    path.write_bytes(data)

    kept = [
        await blobs.put_file(path, limit=LIMIT),
        await blobs.put_bytes(data),
        await blobs.put_stream(arriving(data[: size // 3], b"", data[size // 3 :]), limit=LIMIT),
    ]

    assert kept == [Blob(hash=hash_of(data), size=size)] * 3
    assert await listed(blobs) == kept[:1]


async def test_many_writers_of_the_same_bytes_make_one_blob(
    engine: BlobEngine, blobs: Blobs, folder: Path, source: Path
) -> None:
    """B3: at once, from several stores, and nothing half-written stays."""
    stores = [blobs, engine.open(folder), engine.open(folder)]

    kept = await asyncio.gather(*(stores[n % 3].put_file(source, limit=LIMIT) for n in range(30)))

    assert set(kept) == {Blob(hash=hash_of(TEXT), size=len(TEXT))}
    assert len(engine.holds(folder)) == 1


async def test_all_blobs_come_in_order(blobs: Blobs) -> None:
    """B1: the list holds every blob once, by hash."""
    kept = [await blobs.put_bytes(bytes([number])) for number in range(50)]

    assert await listed(blobs) == sorted(kept, key=lambda blob: blob.hash)


async def test_an_empty_store_has_nothing(blobs: Blobs) -> None:
    """B1: before the first put there is nothing to list, sweep or remove."""
    assert await listed(blobs) == []
    assert await blobs.sweep() == 0
    assert await blobs.remove(hash_of(TEXT)) is False


async def test_a_file_that_is_being_written_is_not_captured(
    engine: BlobEngine, blobs: Blobs, folder: Path, tmp_path: Path
) -> None:
    """B4: bytes that come while it is read make it wait for another time."""
    path = tmp_path / "growing.log"
    path.write_bytes(bytes(64 << 20))
    reading = asyncio.create_task(blobs.put_file(path, limit=1 << 30))

    with path.open("r+b", buffering=0) as file:
        while not reading.done():
            file.seek(0)
            file.write(b"x")
            await asyncio.sleep(0)

    fault = reading.exception()
    assert isinstance(fault, Exhausted)
    assert fault.code == "ERR_FILE_CHANGING"
    assert engine.holds(folder) == []


async def test_what_is_no_ordinary_file_is_refused_at_once(
    blobs: Blobs, tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """B5: folders, links, pipes, sockets and devices; a pipe nobody writes to holds nobody up."""
    link, pipe, plug = tmp_path / "link", tmp_path / "pipe", tmp_path / "plug"
    link.symlink_to(source)
    os.mkfifo(pipe)
    monkeypatch.chdir(tmp_path)  # a socket's path may be short only
    with socket.socket(socket.AF_UNIX) as end:
        end.bind("plug")

        for path in (tmp_path, link, pipe, plug, Path("/dev/null")):
            fault = await refusal(blobs, path)
            assert (type(fault), fault.code) == (Refused, "ERR_FILE_NOT_REGULAR"), path


@pytest.mark.parametrize("name", ["gone.txt", "source.txt/inner.txt", "no/such/folder.txt"])
async def test_a_missing_file_is_refused(blobs: Blobs, source: Path, name: str) -> None:
    """B5: nothing there, or a file where a folder should be."""
    fault = await refusal(blobs, source.parent / name)

    assert (type(fault), fault.code) == (Refused, "ERR_FILE_NOT_FOUND")
    assert name in fault.message


@pytest.mark.parametrize("name", ["a\0b", "n" * 300])
async def test_a_path_no_system_has_is_refused(blobs: Blobs, tmp_path: Path, name: str) -> None:
    """B5: a NUL or an endless name is the caller's mistake, not the disk's."""
    assert (await refusal(blobs, tmp_path / name)).code == "ERR_PATH_INVALID"


async def test_a_file_that_may_not_be_read_is_refused(blobs: Blobs, source: Path) -> None:
    """B5: permission is told as such."""
    source.chmod(0)
    with as_nobody():
        fault = await refusal(blobs, source)

    assert (type(fault), fault.code) == (Refused, "ERR_FILE_UNREADABLE")


async def test_the_limit_is_the_last_allowed_size(blobs: Blobs, source: Path) -> None:
    """B5: one byte more is refused, with both numbers."""
    await blobs.put_file(source, limit=len(TEXT))

    fault = await refusal(blobs, source, limit=len(TEXT) - 1)

    assert fault.code == "ERR_FILE_TOO_LARGE"
    assert str(len(TEXT)) in fault.message
    assert str(len(TEXT) - 1) in fault.message


async def test_a_path_may_be_held_to_a_folder(blobs: Blobs, tmp_path: Path) -> None:
    """B5: no link and no `..` leads out of the folder the file must lie in."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "in").mkdir(parents=True)
    outside.mkdir()
    for place in (root / "in" / "a.txt", outside / "a.txt"):
        place.write_bytes(TEXT)
    (root / "out").symlink_to(outside)

    await blobs.put_file(root / "in" / "a.txt", limit=LIMIT, beneath=root)

    for path in (outside / "a.txt", root / ".." / "outside" / "a.txt", root):
        assert (await refusal(blobs, path, beneath=root)).code == "ERR_SOURCE_FORBIDDEN"
    # Opening a link as a folder is told by systems as either.
    assert (await refusal(blobs, root / "out" / "a.txt", beneath=root)).code in {
        "ERR_FILE_NOT_FOUND",
        "ERR_FILE_NOT_REGULAR",
    }


async def test_a_stream_over_its_limit_leaves_nothing(engine: BlobEngine, blobs: Blobs, folder: Path) -> None:
    """B6: the last byte too many ends it."""
    with pytest.raises(Refused) as refused:
        await blobs.put_stream(arriving(b"12345", b"67890", b"1"), limit=10)

    assert refused.value.code == "ERR_FILE_TOO_LARGE"
    assert engine.holds(folder) == []


async def test_a_stream_that_breaks_leaves_nothing(engine: BlobEngine, blobs: Blobs, folder: Path) -> None:
    """B6: the source's own error reaches the caller."""
    with pytest.raises(ConnectionError, match="torn"):
        await blobs.put_stream(arriving(b"12345", ConnectionError("torn")), limit=10)

    assert engine.holds(folder) == []


async def test_a_cancelled_put_leaves_nothing(
    engine: BlobEngine, blobs: Blobs, folder: Path, tmp_path: Path
) -> None:
    """B6: when the caller stops waiting, the unfinished bytes are gone."""
    path = tmp_path / "long.bin"
    path.write_bytes(bytes(200 << 20))

    async def never() -> AsyncIterator[bytes]:
        yield b"some"
        await asyncio.Event().wait()

    for put in (blobs.put_file(path, limit=1 << 30), blobs.put_stream(never(), limit=10)):
        task = asyncio.ensure_future(put)
        while not engine.holds(folder):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert engine.holds(folder) == []


async def test_a_missing_blob_is_told_by_every_way_to_read_it(blobs: Blobs) -> None:
    """B7: path, handle and check all name it."""
    gone = hash_of(b"never put")

    for reading in (blobs.open(gone), blobs.verify(gone), blobs.path_of(gone).__aenter__()):
        with pytest.raises(Broken) as broken:
            await reading
        assert broken.value.code == "ERR_BLOB_MISSING"
        assert gone in broken.value.message


@pytest.mark.parametrize("spoiled", [b"", TEXT[:-1], TEXT.upper(), TEXT + b"!"])
async def test_a_damaged_blob_is_found_and_mended(
    engine: BlobEngine, blobs: Blobs, folder: Path, source: Path, spoiled: bytes
) -> None:
    """B7: cut off, longer or changed in place; putting the bytes again makes it whole."""
    blob = await blobs.put_bytes(TEXT)
    engine.spoil(folder, blob.hash, spoiled)

    with pytest.raises(Broken) as broken:
        await blobs.verify(blob.hash)
    assert broken.value.code == "ERR_BLOB_DAMAGED"

    assert await blobs.put_file(source, limit=LIMIT) == blob
    assert await blobs.verify(blob.hash) == blob


@pytest.mark.parametrize("text", ["", "../../etc/passwd", "A" * 64, "a" * 63, "a" * 64 + "\n"])
async def test_a_hash_that_is_none_never_becomes_a_path(blobs: Blobs, text: str) -> None:
    """B7: whatever the caller's table holds."""
    with pytest.raises(Broken, match="is not the SHA-256"):
        await blobs.open(BlobHash(text))


async def test_a_removed_blob_is_gone_once(engine: BlobEngine, blobs: Blobs, folder: Path) -> None:
    """B8: the first removal says so, the second finds nothing, and it can be put again."""
    blob = await blobs.put_bytes(TEXT)
    other = await blobs.put_bytes(b"other")

    assert [await blobs.remove(blob.hash), await blobs.remove(blob.hash)] == [True, False]
    assert await listed(blobs) == [other]
    assert await blobs.put_bytes(TEXT) == blob
    assert len(engine.holds(folder)) == 2


async def test_a_blob_put_again_is_young(blobs: Blobs, source: Path) -> None:
    """B8: a cleaner that decided before the second put does not take the bytes away."""
    blob = await blobs.put_bytes(TEXT)
    decided = time.time() + 0.01
    while time.time() <= decided:
        await asyncio.sleep(0.005)
    await blobs.put_file(source, limit=LIMIT)

    assert await blobs.remove(blob.hash, before=decided) is False
    assert await bytes_of(blobs, blob.hash) == TEXT
    assert await blobs.remove(blob.hash, before=time.time() + 60) is True


async def test_putting_and_removing_at_once_never_loses_a_later_put(blobs: Blobs) -> None:
    """B8: whatever the order, a put that ends after the removals began leaves its bytes."""
    for round_number in range(20):
        data = b"%d" % round_number
        blob = await blobs.put_bytes(data)
        started = time.time()
        puts = [blobs.put_bytes(data) for _ in range(4)]
        removes = [blobs.remove(blob.hash, before=started) for _ in range(4)]
        await asyncio.gather(*puts, *removes)

        assert await bytes_of(blobs, blob.hash) == data


async def test_an_open_blob_outlives_its_removal(blobs: Blobs) -> None:
    """B9: a reader in the middle is not disturbed."""
    blob = await blobs.put_bytes(TEXT)

    with await blobs.open(blob.hash) as file:
        first = file.read(5)
        await blobs.remove(blob.hash)
        assert first + file.read() == TEXT


async def test_what_is_claimed_is_not_removed(engine: BlobEngine, folder: Path) -> None:
    """B10: put anew, put again or verified; it can be removed once nobody claims it."""
    mine, theirs = engine.open(folder), engine.open(folder)
    known = await mine.put_bytes(b"known")

    async with mine.claiming():
        new = await mine.put_stream(arriving(TEXT), limit=LIMIT)
        await mine.verify(known.hash)
        assert [await theirs.remove(each.hash) for each in (new, known)] == [False, False]
        async with mine.claiming():
            await theirs.put_bytes(TEXT)
        assert await theirs.remove(new.hash) is False

    assert await bytes_of(theirs, new.hash) == TEXT
    assert [await theirs.remove(each.hash) for each in (new, known)] == [True, True]


async def test_whether_it_is_needed_is_asked_when_nobody_can_claim_it(blobs: Blobs) -> None:
    """B10: what is needed stays; what is put while the question is asked stays too, and can be claimed."""
    blob = await blobs.put_bytes(TEXT)

    async def needed() -> bool:
        return True

    async def put_meanwhile() -> bool:
        async with blobs.claiming():
            assert await blobs.put_bytes(TEXT) == blob
        return False

    assert await blobs.remove(blob.hash, unless=needed) is False
    assert await blobs.remove(blob.hash, unless=put_meanwhile) is False
    assert await blobs.verify(blob.hash) == blob
    assert await blobs.remove(blob.hash) is True


async def test_a_claim_of_what_is_gone_says_so(blobs: Blobs) -> None:
    """B7, B10: nothing can be claimed that is not there."""
    async with blobs.claiming():
        with pytest.raises(Broken) as told:
            await blobs.verify(hash_of(TEXT))
    assert told.value.code == "ERR_BLOB_MISSING"

"""The producer: a folder is looked over, and each file is enqueued once per path and content."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from hashlib import sha256
from pathlib import Path

import pytest

from penstock.intake.producer import Produced, Producer
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_WORKSPACE, BlobId
from penstock.model.chunks import text_key
from penstock.model.errors import Refused
from penstock.model.files import FoundFile, mark_of
from penstock.model.jobs import Job
from penstock.model.options import Origin, options_of
from penstock.model.priorities import ranks_of
from penstock.ports.database import Transaction
from penstock.ports.desk import Wanted
from penstock.settings import load
from penstock.wiring.producing import a_producer
from penstock.wiring.store import Store, open_store
from tests.support.cataloguing import MODEL, new_chunks, new_document, vector_of

LONG_AGO = 1_700_000_000.0


def put(path: Path, text: str = "hello", at: float = LONG_AGO) -> Path:
    """A file that nobody is writing any more."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    os.utime(path, (at, at))
    return path


def looked_at(path: Path) -> tuple[FoundFile, BlobId]:
    """A file as a walk would find it, and its bytes."""
    about = path.stat()
    file = FoundFile(path=str(path), size=about.st_size, mtime_ns=about.st_mtime_ns, inode=about.st_ino)
    return file, BlobId(sha256(path.read_bytes()).hexdigest())


class Bench:
    """A store, a folder, and producers that look it over."""

    def __init__(self, store: Store, top: Path) -> None:
        self.store, self.folder, self._data = store, top / "drop", top / "data"
        self.folder.mkdir()

    def producer(self, **flags: str) -> AbstractAsyncContextManager[Producer]:
        """As the settings describe it; without a limit unless one is given."""
        given = {"scan_dir": str(self.folder), "collection": "notes", "rate_limit_per_sec": "0"} | flags
        keys = {f"producer.{name}": value for name, value in given.items()}
        return a_producer(load(None, {"PENSTOCK_DATA": str(self._data)}, keys), self.store)

    async def scan(self, **flags: str) -> Produced:
        """One pass of a producer that remembers nothing."""
        async with self.producer(**flags) as producer:
            return await producer.scan()

    async def jobs(self) -> dict[str, Job]:
        """The jobs there are, by the files' paths below the folder."""
        found = await self.store.desk.jobs(Wanted(limit=1000))
        paths = [Path(json.loads(job.payload_json)["file_path"]) for job in found]
        assert len(set(paths)) == len(paths)
        return {str(path.relative_to(self.folder)): job for path, job in zip(paths, found, strict=True)}

    async def ingest(self, path: Path) -> None:
        """The file is in the catalogue with its bytes of now, and no job is left of it."""
        file, blob = looked_at(path)

        def work(tx: Transaction) -> None:
            shelf = tx.shelves.find(LOCAL_WORKSPACE, "notes")
            assert shelf is not None
            document = tx.documents.admit(new_document(shelf.id, str(path), LOCAL_TENANT))
            version = tx.documents.begin(document.id, shelf.generation, blob, file.size)
            tx.kept.keep_vectors(MODEL, [(text_key("hello"), vector_of("hello"))])
            tx.documents.add_chunks(version.id, MODEL, new_chunks(["hello"]))
            tx.documents.publish(version.id, chunks=1)
            tx.kept.note_file(document.id, mark=mark_of(file), root=str(self.folder))

        await self.store.write(work)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    settings = load(None, {"PENSTOCK_DATA": str(tmp_path / "data")}, {})
    async with open_store(settings) as store:
        await store.write(lambda tx: tx.shelves.declare(LOCAL_WORKSPACE, "notes", recipe_json="{}"))
        yield Bench(store, tmp_path)


async def test_files_become_jobs_of_the_collection(bench: Bench) -> None:
    """Globs choose, endings make urgent, and the user's folder is named as the root."""
    for name in ("a.txt", "deep/er/b.PDF", "c.tmp", ".hidden/d.txt", "e.log", "~$f.docx"):
        put(bench.folder / name)

    done = await bench.scan(exclude_globs="**/.*,**/.*/**,**/*.log", high_priority_exts="pdf")

    jobs = await bench.jobs()
    assert {name: job.priority for name, job in jobs.items()} == {"a.txt": 5, "deep/er/b.PDF": 9}
    assert (done.found, done.enqueued) == (2, 2)
    options = options_of(jobs["a.txt"].metadata_json)
    assert (options.origin, options.root) == (Origin.SCANNED, str(bench.folder))
    documents = await bench.store.catalogue.documents(LOCAL_WORKSPACE)
    assert sorted(document.name for document in documents) == ["a.txt", "b.PDF"]


async def test_only_what_the_globs_include_is_taken(bench: Bench) -> None:
    """The globs alone decide, about hidden files too."""
    for name in ("a.txt", "b.md", "x/.keep.md"):
        put(bench.folder / name)

    await bench.scan(include_globs="**/*.md", exclude_globs="")

    assert set(await bench.jobs()) == {"b.md", "x/.keep.md"}


async def test_a_second_pass_and_a_second_producer_enqueue_nothing(bench: Bench) -> None:
    """Once per path and content: the jobs are found again by their ids, whatever became of them."""
    for number in range(20):
        put(bench.folder / f"{number}.txt", str(number))
    async with bench.producer() as first, bench.producer() as second:
        made = await asyncio.gather(first.scan(), second.scan())
        jobs = await bench.jobs()
        again = [await first.scan(), await second.scan(), await bench.scan()]

    assert sum(each.enqueued for each in made) == 20
    assert [each.enqueued for each in again] == [0, 0, 0]
    assert [each.known for each in again] == [20, 20, 20]
    assert await bench.jobs() == jobs


async def test_a_file_that_failed_is_not_enqueued_again(bench: Bench) -> None:
    """Not as it is; once it was changed, or touched by someone who wants it tried again, it is."""
    path = put(bench.folder / "a.txt")
    await bench.scan()
    (job,) = (await bench.jobs()).values()
    await bench.store.desk.cancel([job.id])

    assert (await bench.scan()).enqueued == 0
    put(path, at=LONG_AGO + 60)
    assert (await bench.scan()).enqueued == 1


async def test_what_is_ingested_is_passed_by(bench: Bench) -> None:
    """Unchanged by its looks; merely touched, by its bytes; changed in either way, enqueued."""
    same, touched, changed, grown = (put(bench.folder / f"{name}.txt") for name in "abcd")
    for path in (same, touched, changed, grown):
        await bench.ingest(path)
    put(touched, at=LONG_AGO + 60)
    put(changed, "HELLO", at=LONG_AGO + 60)
    put(grown, "hello again", at=LONG_AGO + 60)

    done = await bench.scan()

    assert set(await bench.jobs()) == {"c.txt", "d.txt"}
    assert (done.enqueued, done.known) == (2, 2)


async def test_a_touched_file_is_read_once(bench: Bench) -> None:
    """A producer remembers what it compared; the disk is not read again on every pass."""
    path = put(bench.folder / "a.txt")
    await bench.ingest(path)
    put(path, at=LONG_AGO + 60)
    async with bench.producer() as producer:
        await producer.scan()
        os.utime(path, ns=(1, path.stat().st_mtime_ns))
        await producer.scan()

    assert path.stat().st_atime_ns == 1


async def test_bytes_that_come_back_are_enqueued_again(bench: Bench) -> None:
    """First one content, then another, then the first once more: that is a change as well."""
    path = put(bench.folder / "a.txt", "one", at=LONG_AGO)
    made = [await bench.scan()]
    put(path, "two", at=LONG_AGO + 60)
    made.append(await bench.scan())
    put(path, "one", at=LONG_AGO + 120)
    made.append(await bench.scan())

    assert [each.enqueued for each in made] == [1, 1, 1]


async def test_a_file_that_is_being_written_waits_for_the_next_pass(bench: Bench) -> None:
    """It was changed a moment ago; who knows whether it is complete."""
    put(bench.folder / "a.txt", at=time.time() + 0.5)

    done = await bench.scan()

    assert (done.unsettled, done.enqueued) == (1, 0)


async def test_files_without_a_home_are_left_out(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    """A default collection that is not there costs a warning, not the producer."""
    put(bench.folder / "a.txt")
    put(bench.folder / "b.txt")

    done = await bench.scan(collection="nowhere")

    assert (done.homeless, done.enqueued) == (2, 0)
    assert caplog.text.count("there is no collection 'nowhere'") == 1


async def test_a_folder_that_is_not_there_ends_no_producer(bench: Bench) -> None:
    """It may be mounted later: each pass says so, and the next one tries again."""
    bench.folder.rmdir()
    async with bench.producer() as producer:
        with pytest.raises(Refused, match="is no folder"):
            await producer.scan()
        running = asyncio.create_task(producer.run(interval=0.01))
        await asyncio.wait({running}, timeout=0.1)
        assert not running.done()
        put(bench.folder / "a.txt")
        async with asyncio.timeout(30):
            while not await bench.jobs():  # noqa: ASYNC110  # the producer tells nobody
                await asyncio.sleep(0.01)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_a_producer_keeps_its_rate(bench: Bench) -> None:
    """Twenty files at forty a second take half a second, one after another."""
    for number in range(20):
        put(bench.folder / f"{number}.txt")
    began = time.monotonic()

    assert (await bench.scan(rate_limit_per_sec="40")).enqueued == 20

    assert time.monotonic() - began >= 19 / 40 - 0.02


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        (["high", "normal", "low"], [9, 5, 1]),
        (["high", "low"], [9, 1]),
        (["urgent", "bulk"], [9, 1]),
        (["a", "b", "c", "d", "e"], [9, 7, 5, 3, 1]),
        (["low", "high"], [9, 1]),
        (["urgent", "high", "low"], [9, 5, 1]),
        (["only"], [5]),
        (["low"], [1]),
    ],
)
def test_priorities_keep_the_order_they_were_written_in(names: list[str], numbers: list[int]) -> None:
    """Documented names have documented numbers; others are spread between high and low."""
    ranks: Mapping[str, int] = ranks_of(names)

    assert [ranks[name] for name in names] == numbers

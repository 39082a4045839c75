"""Bad requests, damaged files, full disks: a clear error with its code, nothing half-written or lost."""

import asyncio
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.sqlite import SqliteStore, open_sqlite
from penstock.model.errors import Broken, Exhausted, Fault, Refused, Unavailable
from penstock.model.jobs import JobId, NewJob, WorkerId
from penstock.model.outcomes import DONE
from penstock.model.payloads import Content, File, item_type_named
from penstock.model.rules import Rules
from penstock.ports.codec import payload_from
from penstock.ports.database import Transaction
from tests.support.clock import FakeClock
from tests.support.command_line import PATIENCE, Program, Ran
from tests.support.jobs import a_job, a_job_about, a_note

WORKER = WorkerId("w1")
SUBMIT = ("queue", "submit", "--type", "file", "--payload", '{"file_path": "/documents/late.txt"}')
LARGE = 1 << 20


async def opened(folder: Path, rules: Rules | None = None) -> SqliteStore:
    return await open_sqlite(folder, rules=rules or Rules(), clock=FakeClock(), busy_seconds=2.0)


async def fill(folder: Path, count: int = 30) -> list[JobId]:
    """Jobs accepted while all was well."""
    store = await opened(folder)
    receipts = await store.queue.submit([a_job(metadata={"note": "x" * 200}) for _ in range(count)])
    await store.close()
    return [receipt.job_id for receipt in receipts]


def ids(folder: Path) -> list[str]:
    """What plain sqlite3 finds in a file that must be whole."""
    with closing(sqlite3.connect(folder / "penstock.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [row[0] for row in db.execute("SELECT queue_id FROM unified_queue ORDER BY rowid")]


async def drained(folder: Path) -> list[JobId]:
    """Everything that can be claimed and done, by a new start."""
    store = await opened(folder)
    leases = await store.queue.claim(WORKER, 10_000)
    assert await store.queue.settle([(lease, DONE) for lease in leases]) == [True] * len(leases)
    await store.close()
    return [lease.job_id for lease in leases]


async def refused_open(folder: Path) -> Fault:
    """The fault of an open that must fail."""
    with pytest.raises(Fault) as caught:
        await opened(folder)
    assert len(caught.value.message) > 20
    return caught.value


def told(ran: Ran) -> str:
    """The code in the one line of error; nothing may stand on stdout."""
    errors = [line for line in ran.err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, ran.err
    assert "Traceback" not in ran.err
    assert ran.out == ""
    return errors[0].rpartition("(")[2].removesuffix(")")


# Requests ------------------------------------------------------------------------------------------

BAD_VALUES: list[tuple[Callable[[], object], str]] = [
    (lambda: item_type_named("poem"), "ERR_ITEM_TYPE_UNKNOWN"),
    (lambda: item_type_named("File"), "ERR_ITEM_TYPE_UNKNOWN"),
    (lambda: payload_from(item_type_named("file"), {}), "ERR_PAYLOAD_INVALID"),
    (lambda: payload_from(item_type_named("file"), {"file_path": 7}), "ERR_PAYLOAD_INVALID"),
    (lambda: payload_from(item_type_named("file"), {"file_path": "/a", "x": 1}), "ERR_PAYLOAD_INVALID"),
    (lambda: payload_from(item_type_named("file"), {"file_path": "/nul\0byte"}), "ERR_PATH_INVALID"),
    (lambda: payload_from(item_type_named("rename"), {"old_path": "/a"}), "ERR_PAYLOAD_INVALID"),
    (lambda: File(file_path="/nul\0byte"), "ERR_PATH_INVALID"),
    (lambda: File(file_path="/nul\0"), "ERR_PATH_INVALID"),
    (lambda: File(file_path="relative"), "ERR_PATH_INVALID"),
    (lambda: File(file_path="/a/../b"), "ERR_PATH_INVALID"),
    (lambda: File(file_path="/" + "x" * 5000), "ERR_PATH_INVALID"),
    (lambda: File(file_path="/\udcff"), "ERR_PATH_INVALID"),
    (lambda: a_job(priority=11), "ERR_PRIORITY_INVALID"),
    (lambda: a_job(priority=-1), "ERR_PRIORITY_INVALID"),
    (lambda: a_job(tenant=""), "ERR_TENANT_INVALID"),
    (lambda: a_job(collection="new\nline"), "ERR_COLLECTION_INVALID"),
    (lambda: a_job(id=JobId("no spaces")), "ERR_JOB_ID_INVALID"),
]


@pytest.mark.parametrize(("make", "code"), BAD_VALUES)
def test_an_illegal_value_cannot_be_made(make: Callable[[], object], code: str) -> None:
    """What is wrong is told where it is made, with its code, before anything could be stored."""
    with pytest.raises(Refused) as caught:
        make()

    assert caught.value.code == code


BAD_SUBMITS: list[tuple[Callable[[], list[NewJob]], str]] = [
    (lambda: [a_job(metadata={"k": "x" * LARGE})], "ERR_METADATA_TOO_LARGE"),
    (lambda: [a_job(metadata={"k": object()})], "ERR_METADATA_INVALID"),
    (lambda: [a_job(metadata={"k": "\udcff"})], "ERR_METADATA_INVALID"),
    (lambda: [a_note("x" * (LARGE + 1))], "ERR_PAYLOAD_TOO_LARGE"),
    (lambda: [a_job() for _ in range(101)], "ERR_BULK_TOO_LARGE"),
    (lambda: [a_job(id=JobId("same")), a_job(id=JobId("same"))], "ERR_JOB_ID_TAKEN"),
]


@pytest.mark.parametrize(("make", "code"), BAD_SUBMITS, ids=[code for _, code in BAD_SUBMITS])
async def test_a_refused_submit_leaves_nothing(
    tmp_path: Path, make: Callable[[], list[NewJob]], code: str
) -> None:
    """One bad job among good ones: none of them is stored, and the queue goes on as before."""
    accepted = await fill(tmp_path, 3)
    store = await opened(tmp_path, Rules(bulk_max=100))

    with pytest.raises(Refused) as caught:
        await store.queue.submit([a_job(), *make(), a_job()])
    (after,) = await store.queue.submit([a_job()])
    await store.close()

    assert caught.value.code == code
    assert ids(tmp_path) == [*accepted, after.job_id]
    assert await drained(tmp_path) == [*accepted, after.job_id]


async def test_a_refused_submit_inside_a_transaction_leaves_nothing(tmp_path: Path) -> None:
    """What the same function wrote before is gone with it, and a neighbour's write is not."""
    store = await opened(tmp_path)
    good = a_job()

    def half(transaction: Transaction) -> None:
        transaction.submit([a_job()])
        transaction.submit([a_job(metadata={"k": "x" * LARGE})])

    results = await asyncio.gather(
        store.write(half), store.write(lambda transaction: transaction.submit([good])), return_exceptions=True
    )
    await store.close()

    assert isinstance(results[0], Refused)
    assert ids(tmp_path) == [good.id]


async def test_metadata_up_to_the_limit_is_kept_whole(tmp_path: Path) -> None:
    """The limit refuses nothing that fits, and what fits comes back byte for byte."""
    fits = {"k": "x" * (Rules().metadata_bytes_max - len('{"k":""}'))}
    store = await opened(tmp_path)

    await store.queue.submit([a_job(metadata=fits)])
    with pytest.raises(Refused):
        await store.queue.submit([a_job(metadata={"k": fits["k"] + "x"})])
    (lease,) = await store.queue.claim(WORKER, 10)
    await store.close()

    assert json.loads(lease.metadata_json) == fits


async def test_a_large_text_is_one_job_and_comes_back_whole(tmp_path: Path) -> None:
    """Nearly a megabyte of text, of any characters, survives."""
    text = 'zero \0 quote " line \n Grüße 世界 🌍 ' * 20_000
    store = await opened(tmp_path)

    await store.queue.submit([a_job_about(Content(content=text))])
    (lease,) = await store.queue.claim(WORKER, 10)
    await store.close()

    assert isinstance(lease.payload, Content)
    assert lease.payload.content == text


def test_one_bad_line_of_many_stores_none(program: Program) -> None:
    """A stream is accepted whole: the bad line is named, and the good ones before it are not stored."""
    program.submit(a_job())
    lines = [f'{{"file_path": "/stream/{number}"}}' for number in range(50)] + ['{"file_path": "/a\\u0000b"}']

    ran = program("queue", "submit", "--type", "file", "-", stdin="\n".join(lines))

    assert (ran.code, told(ran)) == (1, "ERR_PATH_INVALID")
    assert "line 51" in ran.err
    assert len(program.rows()) == 1


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("{torn", "ERR_PAYLOAD_INVALID"),
        ("null", "ERR_PAYLOAD_INVALID"),
        ('{"file_path": "/a", "file_path": 7}', "ERR_PAYLOAD_INVALID"),
        ('{"payload": {"file_path": "/a"}, "type": "poem"}', "ERR_ITEM_TYPE_UNKNOWN"),
        ('{"payload": {"file_path": "/a"}, "priority": 5.5}', "ERR_PAYLOAD_INVALID"),
        ('{"payload": {"file_path": "/a"}, "owner": "me"}', "ERR_PAYLOAD_INVALID"),
        ('{"file_path": ' + "[" * 50_000 + "]" * 50_000 + "}", "ERR_PAYLOAD_INVALID"),
    ],
    ids=lambda value: value[:60],
)
def test_a_bad_line_ends_with_1(program: Program, line: str, code: str) -> None:
    """Whatever is wrong with it, the program says so in one line, and stores nothing."""
    program.submit(a_job())

    ran = program("queue", "submit", "--type", "file", "-", stdin=line)

    assert (ran.code, told(ran)) == (1, code)
    assert len(program.rows()) == 1


# Files ---------------------------------------------------------------------------------------------


def garbage_header(path: Path) -> None:
    path.write_bytes(b"not a database! " * 8 + path.read_bytes()[128:])


def garbage_everywhere(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(path.stat().st_size))


def a_text_file(path: Path) -> None:
    path.write_text("this is my shopping list\n" * 40)


def half_of_it(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def less_than_a_page(path: Path) -> None:
    os.truncate(path, 1000)


@pytest.mark.parametrize(
    "damage", [garbage_header, garbage_everywhere, a_text_file, half_of_it, less_than_a_page]
)
async def test_a_damaged_file_is_told_and_left_as_it_is(
    program: Program, damage: Callable[[Path], None]
) -> None:
    """Nothing is written over the evidence, and a restored backup brings every job back."""
    accepted = await fill(program.data)
    path = program.data / "penstock.db"
    backup = path.read_bytes()
    damage(path)
    before = path.read_bytes()

    fault = await refused_open(program.data)
    ran = program(*SUBMIT)

    assert isinstance(fault, Broken)
    assert fault.code == "ERR_STORE_CORRUPT"
    assert str(path) in fault.message
    assert (ran.code, told(ran)) == (2, "ERR_STORE_CORRUPT")
    assert path.read_bytes() == before
    path.write_bytes(backup)
    assert await drained(program.data) == accepted


async def test_a_damaged_page_never_means_more_than_its_code(tmp_path: Path) -> None:
    """Whichever page is garbage, each verb works or says that the file is damaged; nothing else happens."""
    accepted = await fill(tmp_path / "good", 200)
    path = tmp_path / "good" / "penstock.db"
    pages = path.stat().st_size // 4096
    draw = random.Random(7)
    complaints = 0

    for page in range(1, pages, 6):
        folder = tmp_path / f"page-{page}"
        shutil.copytree(tmp_path / "good", folder)
        with (folder / "penstock.db").open("r+b") as file:
            file.seek(page * 4096)
            file.write(draw.randbytes(4096))
        complaints += await complaints_about(folder)

    assert complaints > 0
    assert await drained(tmp_path / "good") == accepted


async def complaints_about(folder: Path) -> int:
    """How many of the usual verbs refuse to work on a folder; all with the one code."""
    faults: list[Fault] = []
    try:
        store = await opened(folder)
    except Broken:
        return 1
    verbs: list[Callable[[], Awaitable[object]]] = [
        lambda: store.queue.submit([a_job()]),
        lambda: store.queue.claim(WORKER, 1000),
        lambda: store.queue.beat(WORKER, concurrency=1),
        lambda: store.queue.rescue(),
        lambda: store.queue.promote(),
        lambda: store.desk.counts(),
    ]
    for verb in verbs:
        try:
            await verb()
        except Fault as fault:
            faults.append(fault)
    await store.close()
    assert {fault.code for fault in faults} <= {"ERR_STORE_CORRUPT"}
    return len(faults)


async def test_a_directory_where_the_file_should_be(program: Program) -> None:
    """It is told as something that cannot be opened, left alone, and the way is free once it is gone."""
    place = program.data / "penstock.db"
    (place / "mine").mkdir(parents=True)

    fault = await refused_open(program.data)
    ran = program(*SUBMIT)

    assert isinstance(fault, Unavailable)
    assert fault.code == "ERR_STORE_READ_ONLY"
    assert (ran.code, told(ran)) == (4, "ERR_STORE_READ_ONLY")
    assert os.listdir(place) == ["mine"]
    shutil.rmtree(place)
    assert program(*SUBMIT).code == 0


async def test_a_file_where_the_run_folder_should_be(program: Program) -> None:
    """The folder for locks and bells is part of the data folder, and its absence is told as such."""
    program.data.mkdir()
    (program.data / "run").write_text("in the way")

    fault = await refused_open(program.data)
    ran = program(*SUBMIT)

    assert fault.code == "ERR_STORE_READ_ONLY"
    assert (ran.code, told(ran)) == (4, "ERR_STORE_READ_ONLY")
    assert os.listdir(program.data) == ["run"]


@pytest.fixture
def unwritable(tmp_path: Path) -> Iterator[Path]:
    """A data folder that cannot be made: its parent is read-only, or for root, who may all, a file."""
    parent = tmp_path / "parent"
    if os.geteuid() == 0:
        parent.write_text("a file")
        yield parent / "data"
    else:
        parent.mkdir(mode=0o555)
        yield parent / "data"
        parent.chmod(0o755)


async def test_a_folder_that_cannot_be_written(program: Program, unwritable: Path) -> None:
    """A read-only place is told with the folder's name and what to do."""
    fault = await refused_open(unwritable)
    ran = program(*SUBMIT, "--data", unwritable)

    assert isinstance(fault, Unavailable)
    assert fault.code == "ERR_STORE_READ_ONLY"
    assert str(unwritable) in fault.message
    assert fault.suggestions
    assert (ran.code, told(ran)) == (4, "ERR_STORE_READ_ONLY")


def test_too_few_descriptors_are_no_fault_of_the_folder(program: Program) -> None:
    """Whoever runs into the limit of open files is told of that, and not to look at the folder's owner."""
    ran = limited(program, 20, *SUBMIT, what="NOFILE")

    assert (ran.code, told(ran)) == (4, "ERR_EXHAUSTED")
    assert "Too many open files" in ran.err


async def test_a_database_of_a_newer_version_is_left_untouched(program: Program) -> None:
    """It is refused without a change, and serves the version that made it as before."""
    accepted = await fill(program.data)
    path = program.data / "penstock.db"
    ours = stamp(path, 99)
    before = path.read_bytes()

    fault = await refused_open(program.data)
    ran = program(*SUBMIT)

    assert isinstance(fault, Refused)
    assert fault.code == "ERR_STORE_TOO_NEW"
    assert "99" in fault.message
    assert (ran.code, told(ran)) == (1, "ERR_STORE_TOO_NEW")
    assert path.read_bytes() == before
    stamp(path, ours)
    assert await drained(program.data) == accepted


async def test_a_dump_that_lost_its_number_is_left_untouched(program: Program) -> None:
    """Also another program's table of the same name: it is told what to do, and with the number it serves."""
    accepted = await fill(program.data)
    path = program.data / "penstock.db"
    ours = stamp(path, 0)
    before = path.read_bytes()

    ran = program(*SUBMIT)

    assert (ran.code, told(ran)) == (1, "ERR_STORE_FOREIGN")
    assert path.read_bytes() == before
    stamp(path, ours)
    assert await drained(program.data) == accepted


def stamp(path: Path, version: int) -> int:
    """Set the number of the schema; what it was."""
    with closing(sqlite3.connect(path)) as db:
        (before,) = db.execute("PRAGMA user_version").fetchone()
        db.execute(f"PRAGMA user_version = {version}")
    return int(before)


# Disks ---------------------------------------------------------------------------------------------

FILLER = """
import asyncio, json, resource, sys
from pathlib import Path
from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.errors import Fault
from penstock.model.jobs import NewJob
from penstock.model.payloads import File
from penstock.model.rules import Rules

def some(number):
    return [NewJob(tenant="acme", collection="notes", payload=File(file_path=f"/{number}/{n}"),
                   metadata={"note": "x" * 2000}) for n in range(10)]

async def main(folder, limit):
    said = {"accepted": [], "refused": [], "codes": []}
    store = await open_sqlite(folder, rules=Rules(), clock=SystemClock())
    _, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    for number in range(200):
        jobs = some(number)
        try:
            await store.queue.submit(jobs)
            said["accepted"] += [job.id for job in jobs]
        except Fault as fault:
            said["refused"] += [job.id for job in jobs]
            said["codes"].append(fault.code)
            if len(said["codes"]) == 5:
                break
    said["readable"] = (await store.desk.counts()).ready
    resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    jobs = some("after")
    await store.queue.submit(jobs)
    said["accepted"] += [job.id for job in jobs]
    await store.close()
    print(json.dumps(said))

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
"""

LIMITED = """
import os, resource, sys
limit = int(sys.argv[2])
resource.setrlimit(getattr(resource, f"RLIMIT_{sys.argv[1]}"), (limit, limit))
os.execv(sys.executable, [sys.executable, "-m", "penstock", *sys.argv[3:]])
"""


async def test_a_process_that_may_not_grow_its_files_refuses_and_recovers(tmp_path: Path) -> None:
    """What was accepted is there, what was refused is not, and with room again the same process goes on."""
    before = await fill(tmp_path)

    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FILLER, str(tmp_path), "900000", stdout=subprocess.PIPE
    )
    async with asyncio.timeout(PATIENCE):
        out, _ = await child.communicate()

    assert child.returncode == 0
    said: dict[str, Any] = json.loads(out)
    assert said["codes"] == ["ERR_DISK_FULL"] * 5
    assert len(said["accepted"]) > 10
    assert said["readable"] == len(before) + len(said["accepted"]) - 10
    assert ids(tmp_path) == [*before, *said["accepted"]]
    assert await drained(tmp_path) == [*before, *said["accepted"]]


@pytest.mark.parametrize("limit", [0, 4096, 60_000, 150_000])
def test_a_first_start_on_a_full_disk_leaves_nothing_in_the_way(program: Program, limit: int) -> None:
    """Wherever the making of the database stops, it is told, and the next start with room makes it whole."""
    ran = limited(program, limit, *SUBMIT)

    assert (ran.code, told(ran)) == (4, "ERR_DISK_FULL")
    again = program(*SUBMIT)
    assert again.code == 0, again.err
    assert ids(program.data) == again.lines


async def test_the_program_says_that_the_disk_is_full(program: Program) -> None:
    """A bulk submit that does not fit is refused whole with exit 4, and everything from before stays."""
    accepted = await fill(program.data)
    size = (program.data / "penstock.db").stat().st_size
    lines = "\n".join(f'{{"file_path": "/bulk/{number}"}}' for number in range(3000))

    ran = limited(program, size + 50_000, "queue", "submit", "--type", "file", "-", stdin=lines)

    assert (ran.code, told(ran)) == (4, "ERR_DISK_FULL")
    assert ids(program.data) == accepted
    assert len(program("queue", "submit", "--type", "file", "-", stdin=lines).lines) == 3000
    assert len(await drained(program.data)) == len(accepted) + 3000


def limited(program: Program, limit: int, *words: str, what: str = "FSIZE", stdin: str = "") -> Ran:
    """The program where no file may be larger than that, or where it has no more of something else."""
    ran = subprocess.run(
        [sys.executable, "-c", LIMITED, what, str(limit), *words],
        cwd=program.folder,
        env=program.environment(),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return Ran(code=ran.returncode, out=ran.stdout, err=ran.stderr)


async def bound_pages(store: SqliteStore, more: int) -> None:
    """Let the database grow by so many pages and no further."""

    def work(db: sqlite3.Connection) -> None:
        (used,) = db.execute("PRAGMA page_count").fetchone()
        db.execute(f"PRAGMA max_page_count = {used + more}")

    await store.change(work)


async def test_a_database_that_is_full_refuses_and_goes_on(tmp_path: Path) -> None:
    """Submits are refused whole while reads still work; with room again the same store takes them."""
    accepted = await fill(tmp_path)
    store = await opened(tmp_path)
    await bound_pages(store, 2)
    large = [a_job(metadata={"note": "x" * 3000}) for _ in range(20)]

    with pytest.raises(Exhausted) as caught:
        await store.queue.submit(large)
    counts = await store.desk.counts()
    await bound_pages(store, 10_000)
    receipts = await store.queue.submit(large)
    await store.close()

    assert caught.value.code == "ERR_DISK_FULL"
    assert caught.value.suggestions
    assert counts.ready == len(accepted)
    assert [receipt.job_id for receipt in receipts] == [job.id for job in large]
    assert await drained(tmp_path) == [*accepted, *(job.id for job in large)]


async def test_a_result_is_not_lost_to_a_full_database(tmp_path: Path) -> None:
    """A settle that found no room is refused with its code, keeps its lease, and succeeds later."""
    accepted = await fill(tmp_path)
    store = await opened(tmp_path)
    leases = await store.queue.claim(WORKER, len(accepted))
    await bound_pages(store, 0)

    async def settled_one_by_one() -> list[object]:
        ends = [store.queue.settle([(lease, DONE)]) for lease in leases]
        return list(await asyncio.gather(*ends, return_exceptions=True))

    first = await settled_one_by_one()
    await bound_pages(store, 10_000)
    second = await settled_one_by_one()
    await store.close()

    assert all(result == [True] or isinstance(result, Exhausted) for result in first)
    # Whoever was told of a full disk settles now; whoever had settled cannot do it twice.
    assert [result == [True] for result in second] == [result != [True] for result in first]
    with closing(sqlite3.connect(tmp_path / "penstock.db")) as db:
        assert db.execute("SELECT DISTINCT status FROM unified_queue").fetchall() == [("done",)]
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


async def test_some_fit_and_some_do_not_and_each_is_told_its_own(tmp_path: Path) -> None:
    """Callers that share a commit on a nearly full disk: exactly those told "accepted" are there."""
    before = await fill(tmp_path)
    store = await opened(tmp_path)
    await bound_pages(store, 6)
    jobs = [a_job(metadata={"note": "x" * 2000}) for _ in range(40)]

    results = await asyncio.gather(*(store.queue.submit([job]) for job in jobs), return_exceptions=True)
    await store.close()

    accepted = [job.id for job, result in zip(jobs, results, strict=True) if isinstance(result, list)]
    assert 0 < len(accepted) < len(jobs)
    assert {result.code for result in results if isinstance(result, Fault)} == {"ERR_DISK_FULL"}
    assert sorted(ids(tmp_path)) == sorted([*before, *accepted])


def test_an_id_that_could_not_be_printed_is_told_and_submits_only_once(program: Program) -> None:
    """The job is stored before its id is printed; saying the same id again finds it and makes no second."""
    words = [*SUBMIT, "--id", "mine"]
    with open("/dev/full", "w") as full:
        ran = subprocess.run(
            program.command(*words),
            cwd=program.folder,
            env=program.environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    assert ran.returncode == 2
    assert "No space left on device" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ids(program.data) == ["mine"]
    again = program(*words)
    assert (again.code, again.out) == (0, "mine\n")
    assert ids(program.data) == ["mine"]

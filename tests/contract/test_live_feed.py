"""The feed: whoever commits, those who send events on hear of it, and read what is each user's own."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

from penstock.model.accounts import Workspace
from penstock.model.catalogue import LOCAL_TENANT, LOCAL_USER, LOCAL_WORKSPACE, StageKind
from penstock.model.conversations import ConversationId, MessageDelta
from penstock.model.events import CollectionRemoved, DocumentStatusUpdated
from penstock.model.feed import Bounds, JobProgress
from penstock.model.jobs import Progress
from penstock.model.outcomes import DONE
from penstock.ports.database import Transaction
from tests.contract.engines import Home, Store
from tests.contract.steps import claim_one
from tests.support.cataloguing import declared, new_document
from tests.support.clock import FakeClock
from tests.support.jobs import a_job
from tests.support.stalls import Machine

NEEDS_DATABASE = True

ANN, BO = "ann", "bo"
OWNER = "one"
COMMITTER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
for line in sys.stdin:
    with db:
        db.execute("INSERT INTO event_feed VALUES (?, '', 'document.status_updated', '{}')", (sys.argv[2],))
    print("committed", flush=True)
"""


def moved(tx: Transaction, user: str, times: int = 1) -> int:
    event = DocumentStatusUpdated(workspace_id="w", document_id="d", status="parsed")
    return [tx.append_event(user, event) for _ in range(times)][-1]


def append(user: str, times: int = 1) -> Callable[[Transaction], int]:
    return lambda tx: moved(tx, user, times)


async def still(store: Store) -> None:
    """Until nothing is new."""
    while await store.feed.changes(0.05):
        pass


async def test_a_commit_of_this_process_is_heard_at_once(store: Store) -> None:
    """S1: whoever waits is woken by it; nothing new is False after the time."""
    await still(store)
    waiting = asyncio.create_task(store.feed.changes(20.0))
    await asyncio.sleep(0)

    await store.write(append(ANN))

    assert await waiting
    assert not await store.feed.changes(0.02)


async def test_a_commit_between_two_waits_is_not_missed(home: Home, store: Store) -> None:
    """S1: also one of another process, made while nobody waited."""
    other = await home.open()
    await still(store)

    await other.write(append(ANN))

    assert await store.feed.changes(0.0)


async def test_a_commit_of_another_process_is_heard_soon(home: Home, store: Store, machine: Machine) -> None:
    """S1: raw SQL of a foreign program is heard like any other; half of the time within a few looks."""
    await still(store)
    words = ["-c", COMMITTER, str(home.folder / "penstock.db"), LOCAL_WORKSPACE]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *words, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin is not None
    assert process.stdout is not None
    delays = []
    for _ in range(9):
        waiting = asyncio.create_task(store.feed.changes(20.0))
        await asyncio.sleep(0)
        process.stdin.write(b"\n")
        await process.stdout.readline()
        committed = time.monotonic()
        assert await waiting
        heard = time.monotonic()
        delays.append(heard - committed - machine.lost(committed, heard))
    process.stdin.close()
    await process.wait()

    assert (await store.feed.bounds([LOCAL_USER]))[LOCAL_USER].last == 9
    assert sorted(delays)[4] < 0.25


async def test_pages_tell_those_who_moved_on(store: Store) -> None:
    """S2, S7: each with his own next events; who has nothing new is left out."""
    await store.write(append(ANN, 5))
    await store.write(append(BO, 3))

    pages = {page.user: page for page in await store.feed.pages({ANN: 2, BO: 3, "cy": 0})}

    assert set(pages) == {ANN}
    assert [event.seq for event in pages[ANN].events] == [3, 4, 5]
    assert {event.user for event in pages[ANN].events} == {ANN}
    assert pages[ANN].last == 5


async def test_pages_are_bounded_and_those_named_first_come_first(store: Store) -> None:
    """S2: so many events each, so many in all."""
    for user in (ANN, BO):
        await store.write(append(user, 5))

    pages = await store.feed.pages({BO: 1, ANN: 0}, limit=2, in_all=3)

    assert [(page.user, page.last, [event.seq for event in page.events]) for page in pages] == [
        (BO, 5, [2, 3]),
        (ANN, 5, [1]),
    ]


async def test_of_a_removed_workspace_no_words_are_told(store: Store) -> None:
    """S10: from the removal on, without a worker; numbers and ids stay, and other workspaces keep theirs."""
    await store.write(lambda tx: tx.accounts.sign_in(ANN))
    hers, other = [await store.write(partial(_opened, name)) for name in ("Cellar", "Attic")]
    for where in (hers, other):
        talk = await store.write(partial(_talk, where))
        await store.write(partial(_asked, where, talk))
    (before,) = await store.feed.pages({ANN: 0})
    await store.write(
        lambda tx: tx.append_event(ANN, CollectionRemoved(workspace_id=other.id, collection="wines"))
    )
    assert await store.write(lambda tx: tx.accounts.remove(ANN, hers.id))

    (page,) = await store.feed.pages({ANN: 0})

    assert [each.seq for each in page.events] == list(range(1, page.last + 1))
    assert page.follows(0)
    there = [each for each in page.events if hers.id in each.payload_json]
    assert [each.type for each in there][-1] == "workspace.removed"
    assert len(there) > 5
    for word in ("Cellar", "Casks", "How many", "oaken"):
        assert word in str(before.events)
        assert word not in str(there)
    elsewhere = [each for each in page.events if other.id in each.payload_json]
    assert elsewhere[:-1] == [each for each in before.events if other.id in each.payload_json]
    assert "wines" in elsewhere[-1].payload_json


def _opened(name: str, tx: Transaction) -> Workspace:
    return tx.accounts.open(ANN, name)


def _talk(where: Workspace, tx: Transaction) -> ConversationId:
    talk = tx.conversations.open(where.id, title="Casks").id
    tx.conversations.rename(where.id, talk, "Casks of oak")
    return talk


def _asked(where: Workspace, talk: ConversationId, tx: Transaction) -> None:
    tx.conversations.post(where.id, talk, "How many oaken ones?", owner=OWNER)


async def test_what_was_forgotten_is_told(store: Store, clock: FakeClock) -> None:
    """S3, S4: the next event does not follow; the bounds say from where on it would."""
    await store.write(append(ANN, 3))
    clock.advance(100.0)
    await store.write(append(ANN, 2))
    await store.forget_events(clock.now() - 50.0)

    (page,) = await store.feed.pages({ANN: 1})

    assert not page.follows(1)
    assert (await store.feed.pages({ANN: 3}))[0].follows(3)
    assert await store.feed.bounds([ANN, BO]) == {
        ANN: Bounds(oldest=4, last=5, at=clock.now()),
        BO: Bounds(oldest=1, last=0),
    }


async def test_numbers_go_on_where_nothing_is_kept(store: Store, clock: FakeClock) -> None:
    """S4: the last number stays known."""
    await store.write(append(ANN, 3))
    await store.forget_events(clock.now() + 1.0)

    assert (await store.feed.bounds([ANN]))[ANN] == Bounds(oldest=4, last=3, at=clock.now())
    (page,) = await store.feed.pages({ANN: 2})
    assert not page.follows(2)
    assert await store.feed.pages({ANN: 3}) == []


async def test_a_number_is_known_by_its_time(store: Store, clock: FakeClock) -> None:
    """S9: while its event is kept; of the last one also after that."""
    await store.write(append(ANN, 2))
    clock.advance(100.0)
    await store.write(append(ANN, 1))
    first, last = clock.now() - 100.0, clock.now()
    assert [await store.feed.stamp(ANN, seq) for seq in (0, 1, 3, 4)] == [None, first, last, None]
    assert await store.feed.stamp(BO, 1) is None
    await store.forget_events(clock.now() + 1.0)
    assert [await store.feed.stamp(ANN, seq) for seq in (1, 3)] == [None, last]


async def test_a_snapshot_names_what_has_not_ended(store: Store) -> None:
    """S5, S7: unfinished documents and answers of one user, with his last number."""
    user = "11111111-1111-4111-8111-111111111111"

    def work(tx: Transaction) -> Workspace:
        tx.accounts.sign_in(user)
        theirs = tx.accounts.open(user, "theirs")
        shelf = tx.shelves.declare(LOCAL_WORKSPACE, "notes", recipe_json="{}")
        tx.documents.admit(new_document(shelf.id, "/a", LOCAL_TENANT))
        for workspace in (LOCAL_WORKSPACE, theirs.id):
            talk = tx.conversations.open(workspace)
            posted = tx.conversations.post(workspace, talk.id, "Who?", owner="o")
            tx.conversations.take(posted.answer.id, "o")
        return theirs

    theirs = await store.write(work)

    ours = await store.feed.snapshot(LOCAL_USER)
    foreign = await store.feed.snapshot(user)
    assert [(each.name, each.status, each.collection) for each in ours.documents] == [
        ("a", "pending", "notes")
    ]
    assert [each.workspace_id for each in ours.answers] == [LOCAL_WORKSPACE]
    assert ours.answers[0].status == "running"
    assert ours.seq == (await store.feed.bounds([LOCAL_USER]))[LOCAL_USER].last
    assert foreign.documents == ()
    assert [each.workspace_id for each in foreign.answers] == [theirs.id]


async def test_words_of_an_answer_are_underway(store: Store) -> None:
    """S6: what it says so far, for its user alone."""

    def work(tx: Transaction) -> str:
        talk = tx.conversations.open(LOCAL_WORKSPACE)
        posted = tx.conversations.post(LOCAL_WORKSPACE, talk.id, "Who?", owner="o")
        assert tx.conversations.take(posted.answer.id, "o") is not None
        return posted.answer.id

    answer = await store.write(work)
    await store.transcript.renew("o", {answer: "It is"})  # type: ignore[dict-item]

    (underway,) = await store.feed.underway([LOCAL_USER, ANN])
    assert underway.user == LOCAL_USER
    assert [(each.message_id, each.content) for each in underway.answers] == [(answer, "It is")]
    assert await store.feed.underway([ANN]) == []


async def test_progress_of_a_running_stage_is_underway(store: Store) -> None:
    """S6: how far it is, under the id its events have; nothing once it has ended."""
    job = a_job(tenant=LOCAL_TENANT)

    def work(tx: Transaction) -> str:
        document = tx.documents.admit(
            new_document(declared(tx, tenant=LOCAL_TENANT).id, tenant=LOCAL_TENANT), job=job.id
        )
        tx.submit([job])
        return document.id

    document = await store.write(work)
    lease = await claim_one(store.queue)
    stage = await store.write(lambda tx: tx.stages.begin(lease, document, StageKind.PARSE))  # type: ignore[arg-type]
    await store.queue.progress(lease, Progress(done=3, total=10))

    (underway,) = await store.feed.underway([LOCAL_USER])
    assert underway.progress == (
        JobProgress(
            job_id=stage,
            job_type="parse",
            document_id=document,
            workspace_id=LOCAL_WORKSPACE,
            done=3,
            total=10,
        ),
    )
    await store.queue.settle([(lease, DONE)])
    assert await store.feed.underway([LOCAL_USER]) == []


async def test_whispered_words_reach_other_processes_and_not_oneself(home: Home, store: Store) -> None:
    """S8: those who hear, at once; whoever does not hear costs nothing."""
    other = await home.open()
    mine: list[tuple[str, MessageDelta]] = []
    theirs: asyncio.Queue[tuple[str, MessageDelta]] = asyncio.Queue()
    words = MessageDelta(workspace_id="w", conversation_id="c", message_id="m", start=3, text="Änn ✓")
    store.feed.whisper(ANN, words)
    store.feed.hear(lambda user, delta: mine.append((user, delta)))
    other.feed.hear(lambda user, delta: theirs.put_nowait((user, delta)))

    store.feed.whisper(ANN, words)
    async with asyncio.timeout(20):
        assert await theirs.get() == (ANN, words)
    await other.close()
    store.feed.whisper(ANN, words)
    assert mine == []
    assert theirs.empty()

"""The client and the running program: documents sent, followed, asked about, over a line that breaks."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from penstock.client import Delta, Event, Passing, Penstock, PenstockError, Resync
from penstock.client.values import Message
from tests.support.command_line import PATIENCE, Program
from tests.support.cutting import a_cutter
from tests.support.live import a_token, a_user
from tests.support.served import Served, serving
from tests.support.tokens import ISSUER, SECRET

pytestmark = pytest.mark.xdist_group("client")
SIGNED_IN = {"PENSTOCK_AUTH_MODE": "jwt", "PENSTOCK_AUTH_SECRET": SECRET, "PENSTOCK_AUTH_ISSUER": ISSUER}
KEYS = "# Keys\n\nA lost key costs forty crowns.\n"


@pytest.fixture(scope="module")
def served(installed: Program) -> Iterator[Served]:
    with serving(installed, "run", "--role=all", env=SIGNED_IN) as process:
        yield process


@pytest.fixture
def user() -> str:
    return a_user()


@pytest.fixture
async def p(served: Served, user: str) -> AsyncIterator[Penstock]:
    async with asyncio.timeout(PATIENCE), Penstock(served.address, token=a_token(user)) as p:
        await p.create_collection("papers", description="All of them")
        yield p


async def pieces(*texts: str) -> AsyncIterator[bytes]:
    for text in texts:
        yield text.encode()


FAILED = """
WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
INSERT INTO documents (document_id, workspace_id, tenant_id, collection_id, source, identity, name, state,
  error_code, error_message, created_at, updated_at)
SELECT lower(hex(randomblob(16))), d.workspace_id, d.tenant_id, d.collection_id, 'upload',
  printf('!%06d', n), 'old', 'error', 'ERR_PDF_INVALID', 'no', d.created_at, d.updated_at
FROM numbers, documents d WHERE d.document_id = ?
"""


async def test_failed_documents_are_tried_again_a_thousand_a_request(
    p: Penstock, served: Served, installed: Program, user: str
) -> None:
    """A request looks at so many and no more; those whose jobs are forgotten keep nobody from the others."""
    (taken,) = await p.upload(("broken.pdf", b"%PDF-1.7 no, not really"), collection="papers")
    (broken,) = await p.wait(str(taken.document_id))
    with closing(sqlite3.connect(installed.data / "penstock.db", timeout=PATIENCE)) as db, db:
        db.execute(FAILED, (2_000, broken.id))
    (workspace,) = await p.workspaces()
    at = f"/workspaces/{workspace.id}/documents/retry"
    asked = {"code": "ERR_PDF_INVALID"}

    with served.client(a_token(user)) as raw:
        first = raw.post(at, json=asked).json()
        second = raw.post(at, json={**asked, "after": first["next"]}).json()
        gone = raw.post(at, json={**asked, "after": "never"})
    again = await p.retry_failed(code="ERR_PDF_INVALID")

    assert (first["items"], second["items"]) == ([], [])
    assert len({first["next"], second["next"], None}) == 3
    assert (gone.status_code, gone.json()["code"]) == (404, "ERR_DOCUMENT_UNKNOWN")
    assert [each.document_id for each in again] == [broken.id]
    assert await p.retry_failed(code="ERR_OTHER") == []
    await p.wait(broken.id)


async def test_files_are_sent_and_followed_to_their_end(p: Penstock, tmp_path: Path) -> None:
    """By path, as bytes, as a stream and as text; a broken one ends with its reason, no state is left out."""
    (tmp_path / 'Schlüssel; "neu".md').write_text(KEYS)

    taken = await p.upload(
        tmp_path / 'Schlüssel; "neu".md',
        ("bikes.txt", b"Bicycles stand behind the house."),
        ("tea.txt", pieces("Tea ", "is at five.")),
        ("broken.pdf", b"%PDF-1.7 no, not really"),
        collection="papers",
        metadata={"floor": 2},
    )
    taken.append(await p.submit_text("The attic is closed.", collection="papers", name="attic"))
    ids = [str(each.document_id) for each in taken]
    states: dict[str, list[str]] = {each: [] for each in ids}
    async for document in p.follow(*ids):
        states[document.id].append(document.status)

    assert [states[each][-1] for each in ids] == ["ingested", "ingested", "ingested", "error", "ingested"]
    whole = ["pending", "parsed", "ingested"]
    assert all(each == whole[-len(each) :] for each in states.values() if each[-1] == "ingested")
    keys, *_, broken, _ = await p.wait(*ids)
    assert (keys.name, keys.metadata["floor"]) == ('Schlüssel; "neu".md', 2)
    assert broken.error is not None
    assert (broken.error.code, bool(broken.error.suggestions)) == ("ERR_PDF_INVALID", True)
    assert {each.id async for each in p.documents(collection="papers")} == set(ids)
    assert [each.id async for each in p.documents(status="error")] == [broken.id]
    assert (await p.collection("papers")).documents["ingested"] == 4
    assert taken[0].job_id is not None
    while (job := await p.job(taken[0].job_id)).status == "running":
        pass  # it ends a moment after its document is ingested
    assert job.status == "success"


async def test_a_document_that_is_deleted_ends_for_who_waits(p: Penstock) -> None:
    """While it is followed or before: the others are waited for all the same."""
    gone, stays = await p.upload(("gone.txt", b"It goes."), ("stays.txt", b"It stays."), collection="papers")
    names = [str(each.document_id) for each in (gone, stays)]
    waiting = asyncio.create_task(p.wait(*names))
    await p.delete_document(names[0])

    assert [each.status for each in await waiting] in (["deleted", "ingested"], ["ingested", "ingested"])
    again = await p.wait(*names)
    assert [(each.id, each.status) for each in again] == [(names[0], "deleted"), (names[1], "ingested")]


async def test_who_waits_in_a_workspace_that_is_removed_hears_of_its_end(
    p: Penstock, served: Served, user: str
) -> None:
    """Its documents were seen before, so they are deleted; what never was there is a mistake."""
    workspace = await p.create_workspace("Short-lived")
    there = p.workspace(workspace.id)
    await there.create_collection("papers")
    text = "\n\n".join(f"Paragraph {number} of many. {'It goes on. ' * 40}" for number in range(3_000))
    (taken,) = await there.upload(("long.txt", text.encode()), collection="papers")
    seen = []

    async with aclosing(there.follow(str(taken.document_id))) as documents:
        async for document in documents:
            seen.append(document.status)
            if len(seen) == 1:
                with served.client(a_token(user)) as raw:
                    raw.delete(f"/workspaces/{workspace.id}").raise_for_status()

    assert seen[-1] == "deleted"
    with pytest.raises(PenstockError, match="workspace"):
        await p.workspace("11111111-1111-4111-8111-111111111111").wait(str(taken.document_id))


async def test_a_text_that_is_too_long_is_told_for_what_it_is(p: Penstock) -> None:
    """The answer is read although the text was still on its way, and nothing is sent a second time."""
    for length in (2_200_000, 5_000_000):
        with pytest.raises(PenstockError) as caught:
            await p.submit_text("a" * length, collection="papers", name="long")
        assert (caught.value.code, caught.value.status) == ("ERR_BODY_TOO_LARGE", 413)


async def test_questions_are_answered_and_answers_stream(p: Penstock) -> None:
    """A search, a question, and a conversation whose words come once and in order."""
    sent = await p.submit_text(KEYS, collection="papers", name="keys")
    await p.wait(str(sent.document_id))

    found = await p.search("lost key", collections=["papers"], top_k=3)
    assert (found.found, found.hits[0].document_id) == (True, sent.document_id)
    answer = await p.ask("What does a lost key cost?")
    assert (answer.kind, answer.citations[0].document_id) == ("extractive", sent.document_id)

    talk = await p.create_conversation(title="Keys", collections=["papers"])
    told = [each async for each in p.stream(talk.id, "What does a lost key cost?")]
    last = told[-1]
    assert isinstance(last, Message)
    assert (last.status, "forty crowns" in last.content) == ("done", True)
    written = 0
    for each in told[:-1]:
        assert isinstance(each, Delta)
        assert each.start == written
        written += len(each.text)
    posted = await p.post(talk.id, "And bicycles?")
    assert posted.answer.status == "done"
    assert [each.role for each in await p.messages(talk.id)] == ["user", "ai", "user", "ai"]
    assert [each.id async for each in p.conversations()] == [talk.id]


@pytest.mark.parametrize("loss", ["request", "reply"])
async def test_an_upload_over_a_broken_line_is_one_document(
    p: Penstock, served: Served, user: str, loss: str
) -> None:
    """The connection breaks in the middle of the file, or before the answer; it is sent again, and once."""
    content = f"{loss}\n".encode() * 100_000
    async with a_cutter(served.port) as cutter, Penstock(cutter.address, token=a_token(user)) as shaky:
        await shaky.collections()
        if loss == "request":
            cutter.requests_to_break, cutter.broken_after = 2, 300_000
        else:
            cutter.replies_to_lose = 2
        (taken,) = await shaky.upload(("large.txt", content), collection="papers")
        assert cutter.cuts == 2
        await shaky.wait(str(taken.document_id))

    assert [each.id async for each in p.documents()] == [taken.document_id]
    assert len((await p.document(str(taken.document_id))).stages) == 2


async def test_a_stream_that_was_begun_is_not_sent_again(p: Penstock, served: Served, user: str) -> None:
    """It cannot be read twice: the caller is told, and nothing was taken in."""
    async with a_cutter(served.port) as cutter, Penstock(cutter.address, token=a_token(user)) as shaky:
        cutter.requests_to_break, cutter.broken_after = 1, 300_000
        await shaky.collections()
        with pytest.raises(PenstockError, match="ERR_SERVER_UNREACHABLE"):
            await shaky.upload(("large.txt", pieces(*["word " * 20_000] * 10)), collection="papers")

    assert [each async for each in p.documents()] == []


async def test_a_subscription_survives_twenty_cuts(
    p: Penstock, served: Served, installed: Program, user: str
) -> None:
    """What it gives is the committed log, each event once and in order."""
    seen: list[int] = []
    news = asyncio.Event()

    async def read(shaky: Penstock) -> None:
        async for happened in shaky.subscribe(since=0):
            assert isinstance(happened, Event)
            seen.append(happened.seq)
            news.set()

    async with (
        a_cutter(served.port) as cutter,
        Penstock(cutter.address, token=a_token(user)) as shaky,
        asyncio.TaskGroup() as tasks,
    ):
        reading = tasks.create_task(read(shaky))
        sent = []
        for number in range(20):
            news.clear()
            sent.append(await p.submit_text(f"Note {number}.", collection="papers", name=f"note {number}"))
            await news.wait()
            cutter.cut()
        await p.wait(*(str(each.document_id) for each in sent))
        committed = log_of(installed, user)
        while len(seen) < len(committed):
            news.clear()
            await news.wait()
        reading.cancel()

    assert cutter.cuts > 20
    assert seen == committed


async def test_a_subscription_cut_before_its_first_event_misses_none(
    p: Penstock, served: Served, user: str
) -> None:
    """Where it began is known once it is entered, so what happens while the line is down is told after it."""
    async with (
        a_cutter(served.port) as cutter,
        Penstock(cutter.address, token=a_token(user)) as shaky,
        shaky.subscribe() as events,
    ):
        cutter.cut()
        taken = await p.submit_text("While nobody listened.", collection="papers", name="missed")
        happened = await anext(events)

    assert isinstance(happened, Event)
    assert (happened.type, happened.payload["document"]["id"]) == ("document.created", taken.document_id)


def log_of(program: Program, user: str) -> list[int]:
    with closing(sqlite3.connect(program.data / "penstock.db")) as db:
        rows = db.execute("SELECT seq FROM events WHERE user_id = ? ORDER BY seq", (user,)).fetchall()
    return [row[0] for row in rows]


async def test_a_subscription_from_the_future_is_told_to_read_again(p: Penstock) -> None:
    """And goes on behind what it was told; what passes comes only where it is asked for."""
    async with p.subscribe(since=1_000_000, passing=True) as events:
        told = await anext(events)
        assert isinstance(told, Resync)
        assert (told.reason, told.seq, events.seq) == ("future", 1, 1)
        await p.submit_text("News.", collection="papers", name="news")
        happened = await anext(events)
        while isinstance(happened, Passing):
            happened = await anext(events)
        assert isinstance(happened, Event)
        assert (happened.seq, happened.type) == (2, "document.created")


async def test_a_token_that_is_over_is_renewed_or_told(served: Served, user: str) -> None:
    """By requests and by subscriptions, also while one is open; without a way to get another it ends."""
    renewed = asyncio.Event()

    async def refresh() -> str:
        renewed.set()
        return a_token(user)

    over, soon_over = a_token(user, seconds=-60.0), a_token(user, seconds=-7.0)  # ten seconds are forgiven
    async with Penstock(served.address, token=over, refresh=refresh) as p:
        assert (await p.me()).user_id == user
        assert renewed.is_set()
        await p.create_collection("papers")
    renewed.clear()
    async with Penstock(served.address, token=soon_over, refresh=refresh) as p, p.subscribe() as events:
        await events.ready()
        hearing = asyncio.create_task(anext(events))
        await asyncio.wait_for(renewed.wait(), PATIENCE)
        await p.submit_text("Heard.", collection="papers", name="heard")
        assert isinstance(await asyncio.wait_for(hearing, PATIENCE), Event)
    async with Penstock(served.address, token=over) as p:
        with pytest.raises(PenstockError) as told:
            await p.me()
        assert (told.value.status, told.value.code) == (401, "ERR_TOKEN_EXPIRED")
        assert told.value.suggestions
        with pytest.raises(PenstockError) as told:
            await anext(p.subscribe())
        assert (told.value.status, told.value.code) == (401, "ERR_TOKEN_EXPIRED")


async def test_what_is_refused_is_told_in_the_servers_words(p: Penstock) -> None:
    """With status, code, message and what to do; another workspace's things are not there."""
    with pytest.raises(PenstockError) as told:
        await p.upload(("a.txt", b"A."), collection="nowhere")
    assert (told.value.status, told.value.code) == (404, "ERR_COLLECTION_UNKNOWN")
    other = await p.create_workspace("Other")
    with pytest.raises(PenstockError, match="ERR_COLLECTION_UNKNOWN"):
        await p.workspace(other.id).collection("papers")
    assert [each.name for each in await p.workspaces()] == ["Personal", "Other"]
    with pytest.raises(FileNotFoundError):
        await p.upload(Path("not-there.txt"), collection="papers")


async def test_nobody_there_is_told_soon() -> None:
    """After a few attempts, by requests and by subscriptions alike."""
    async with asyncio.timeout(PATIENCE), Penstock("http://127.0.0.1:9") as p:
        with pytest.raises(PenstockError, match="ERR_SERVER_UNREACHABLE"):
            await p.me()
        with pytest.raises(PenstockError, match="ERR_SERVER_UNREACHABLE"):
            await anext(p.subscribe(patience=0.5))

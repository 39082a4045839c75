"""What waits for one connection: bounded, put together, and in order."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from penstock.doors.live import listener as bounds
from penstock.doors.live.frames import TOGETHER_BYTES_MAX, Frame, Passing, Run, frame_of, passing_frame
from penstock.doors.live.hub import open_hub
from penstock.doors.live.listener import Bookmark, Ended, Ending, Listener
from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.catalogue import LOCAL_USER, LOCAL_WORKSPACE, StageKind
from penstock.model.conversations import MessageDelta, MessageId
from penstock.model.errors import Unavailable
from penstock.model.events import DocumentStatusUpdated, LoggedEvent
from penstock.model.feed import JobProgress, Page
from penstock.model.jobs import Progress
from penstock.model.rules import Rules
from penstock.ports.database import Transaction
from tests.support.cataloguing import admitted, claimed_job

ENDING = Ending(4000, "ERR_TEST")


async def nothing(listener: Listener) -> list[Frame]:
    raise AssertionError("a live listener reads nothing")


def a_listener() -> Listener:
    listener = Listener("ann", Bookmark(0), None, nothing)
    listener.live, listener.seq, listener.taken = True, 0, 0
    return listener


def event(seq: int, text: str = "{}") -> Frame:
    return frame_of(LoggedEvent(user="ann", seq=seq, ts=0.0, type="t", payload_json=text))


def words(start: int, text: str, message: str = "m") -> MessageDelta:
    return MessageDelta(workspace_id="w", conversation_id="c", message_id=message, start=start, text=text)


def progress(done: int, job: str = "j") -> JobProgress:
    return JobProgress(job_id=job, job_type="parse", document_id="d", workspace_id="w", done=done, total=9)


def show(listener: Listener, *values: Passing) -> None:
    for value in values:
        listener.show(value, passing_frame(value))


async def payloads(listener: Listener) -> list[dict[str, object]]:
    return [json.loads(frame.text)["payload"] for frame in await listener.take()]


async def test_what_passes_is_put_together_while_it_waits() -> None:
    """Of progress the last counts; words that follow one another are one piece, others are left out."""
    listener = a_listener()

    show(listener, words(0, "It "), progress(1), words(3, "is "), progress(5), words(9, "lost"))

    told = await payloads(listener)
    assert [each.get("text", each.get("done")) for each in told] == ["It is ", 5]


async def test_what_passes_gives_way() -> None:
    """So many different things wait; the next is left out, and events are not."""
    listener = a_listener()

    show(listener, *(progress(1, f"job-{at}") for at in range(bounds.PASSING_MAX + 10)))
    listener.put(event(1), 1)

    told = await listener.take()
    assert len(told) == bounds.PASSING_MAX + 1
    assert told[-1].seq == 1


async def test_events_that_do_not_fit_are_left_to_the_log() -> None:
    """By count and by size; from the last one taken on, they are read again."""
    for many, text in ((bounds.FRAMES_MAX + 1, "{}"), (3, json.dumps("x" * (bounds.CHARACTERS_MAX // 2)))):
        listener = a_listener()
        listener.put(event(1), 1)
        await listener.take()

        for seq in range(2, many + 2):
            listener.put(event(seq, text), seq)

        assert (listener.live, listener.seq, listener.taken) == (False, 1, 1)


async def test_an_event_is_given_once() -> None:
    """Numbers it has, or that wait for it, are passed over."""
    listener = a_listener()

    for seq in (1, 2, 2, 1, 3):
        listener.put(event(seq), seq)

    assert [frame.seq for frame in await listener.take()] == [1, 2, 3]


async def test_a_frame_is_pushed_only_where_nothing_waits_before_it() -> None:
    """A sleeping reader gets it on the spot; one that is busy, or cannot be written to, finds it waiting."""
    listener, pushed = a_listener(), []
    room = True

    def push(frame: bytes) -> bool:
        pushed.append(frame)
        return room

    listener.push = push
    listener.put(event(1), 1)  # nobody sleeps yet
    assert [frame.seq for frame in await listener.take()] == [1]
    taking = asyncio.create_task(listener.take())
    await asyncio.sleep(0)
    listener.put(event(2), 2)
    room = False
    listener.put(event(3), 3)
    listener.put(event(4), 4)

    assert [frame.seq for frame in await taking] == [3, 4]
    assert pushed == [event(2).wire, event(3).wire]
    assert listener.taken == 4


async def test_a_run_of_events_is_written_together_where_nothing_waits() -> None:
    """Once for a reader that sleeps and has all before it; one by one where it has some, or it is long."""
    listener, pushed = a_listener(), []

    def push(frame: bytes) -> bool:
        pushed.append(frame)
        return True

    def run(first: int, last: int, text: str = "{}") -> Run:
        return Run(first, last, [event(seq, text) for seq in range(first, last + 1)])

    listener.push = push
    taking = asyncio.create_task(listener.take())
    await asyncio.sleep(0)
    for each in (run(1, 3), run(2, 4), run(5, 6, json.dumps("x" * TOGETHER_BYTES_MAX))):
        listener.put_run(each)

    assert pushed[0] == b"".join(event(seq).wire for seq in (1, 2, 3))
    assert pushed[1] == event(4).wire
    assert len(pushed) == 4
    assert (listener.seq, listener.taken, taking.cancel()) == (6, 6, True)


async def test_a_long_frame_has_the_head_of_its_length() -> None:
    """The three forms of RFC 6455."""
    for text, head in (
        ("x" * 125, b"\x81\x7d"),
        ("x" * 126, b"\x81\x7e\x00\x7e"),
        ("é" * 40_000, b"\x81\x7f"),
    ):
        wire = Frame(text).wire
        assert wire.startswith(head)
        assert wire.endswith(text.encode())


async def test_an_end_wakes_whoever_sleeps_and_cuts_off_whoever_sends() -> None:
    """What was told first counts."""
    sleeping, busy, cut = a_listener(), a_listener(), asyncio.Event()
    busy.give_up = cut.set
    busy.put(event(1), 1)
    await busy.take()
    taking = asyncio.create_task(sleeping.take())
    await asyncio.sleep(0)

    for listener in (sleeping, busy):
        listener.end(ENDING)
        listener.end(Ending(1000, ""))

    (ended,) = await asyncio.gather(taking, return_exceptions=True)
    assert isinstance(ended, Ended)
    assert ended.ending == ENDING
    assert cut.is_set()
    assert busy.ending == ENDING


async def told_next(listener: Listener) -> list[object]:
    """The next of what passes; events are passed over."""
    async with asyncio.timeout(30):
        while True:
            told = await payloads(listener)
            if passed := [
                each.get("text", each.get("done")) for each in told if {"text", "done"} & set(each)
            ]:
                return passed


async def test_what_is_underway_is_told_once_to_its_user(tmp_path: Path) -> None:
    """Progress when it moves, words of an answer that were not shown here already."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock(), synchronous="normal")
    document, _ = await admitted(store)
    lease = await claimed_job(store.queue)
    await store.write(lambda tx: tx.stages.begin(lease, document.id, StageKind.PARSE))

    def ask(tx: Transaction) -> MessageId:
        talk = tx.conversations.open(LOCAL_WORKSPACE)
        answer = tx.conversations.post(LOCAL_WORKSPACE, talk.id, "Who?", owner="o").answer.id
        assert tx.conversations.take(answer, "o") is not None
        return answer

    answer = await store.write(ask)
    async with open_hub(store.feed, store.clock) as hub:
        with hub.listening(LOCAL_USER) as listener, hub.listening("bo") as foreign:
            await listener.take()
            await foreign.take()
            await store.queue.progress(lease, Progress(done=3, total=9))
            assert await told_next(listener) == [3]
            await hub.shower(LOCAL_USER)(words(0, "It is ", answer))
            assert await told_next(listener) == ["It is "]
            await store.transcript.renew("o", {answer: "It is Ann."})
            assert await told_next(listener) == ["Ann."]
            await store.queue.progress(lease, Progress(done=4, total=9))
            assert await told_next(listener) == [4]
            waiting = asyncio.create_task(foreign.take())
            await asyncio.sleep(0)
            assert not waiting.done()
            waiting.cancel()
        assert hub.count == 0
    await store.close()


async def test_an_event_that_could_not_be_read_is_told_when_it_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store that is away for a moment loses nothing, also where nothing is committed after it."""
    store = await open_sqlite(tmp_path, rules=Rules(), clock=SystemClock(), synchronous="normal")
    read, refusals = store.feed.pages, 2

    async def pages(positions: Mapping[str, int], *, limit: int = 100, in_all: int = 5_000) -> list[Page]:
        nonlocal refusals
        found = await read(positions, limit=limit, in_all=in_all)
        if found and refusals:
            refusals -= 1
            raise Unavailable("the store is away", code="ERR_STORE_BUSY")
        return found

    monkeypatch.setattr(store.feed, "pages", pages)
    moved = DocumentStatusUpdated(workspace_id="w", document_id="d", status="parsed")
    async with open_hub(store.feed, store.clock) as hub:
        with hub.listening("ann") as listener:
            await listener.take()
            await store.write(lambda tx: tx.append_event("ann", moved))
            async with asyncio.timeout(30):
                assert [frame.seq for frame in await listener.take()] == [1]
    assert refusals == 0
    await store.close()

"""An older copy of the data is put back under a server: who saw what came after it is told to read anew."""

import asyncio
import shutil
from pathlib import Path

import pytest

from penstock.engines.sqlite import open_sqlite
from penstock.engines.system.clock import SystemClock
from penstock.model.events import DocumentStatusUpdated
from penstock.model.rules import Rules
from tests.support.live import Message, a_token, a_user, heard, live_server

pytestmark = pytest.mark.xdist_group("live")
DATABASE = "penstock.db"


async def commit(folder: Path, user: str, status: str, times: int) -> None:
    """So many events, each with a time of its own."""
    store = await open_sqlite(folder, rules=Rules(), clock=SystemClock(), synchronous="normal")
    moved = DocumentStatusUpdated(workspace_id="w", document_id="d", status=status)
    for _ in range(times):
        await store.write(lambda tx: tx.append_event(user, moved))
    await store.close()


async def told(folder: Path, user: str, *bookmarks: object) -> list[list[Message]]:
    """What a client that comes with each of these is told, until it has all there is."""
    heard_by: list[list[Message]] = []
    with live_server(folder) as server:
        for since in bookmarks:
            messages: list[Message] = []
            async with server.connect(token=a_token(user), since=since) as socket:
                while not messages or messages[-1]["type"] != "ready":
                    messages.append(await heard(socket))
            heard_by.append(messages)
        await asyncio.to_thread(server.stop)
    return heard_by


def put_back(copy: Path, folder: Path, *, in_place: bool) -> None:
    """The copy as the data of a stopped server: as files of its own, or written into those there."""
    for beside in folder.glob(f"{DATABASE}-*"):
        beside.unlink()
    if in_place:
        with (folder / DATABASE).open("r+b") as file:
            file.write((copy / DATABASE).read_bytes())
            file.truncate()
    else:
        shutil.rmtree(folder)
        shutil.copytree(copy, folder)


async def lived_on(tmp_path: Path, user: str, *, in_place: bool) -> tuple[Path, list[Message]]:
    """Five events, a copy, three more that a client saw, the copy put back, and five others instead."""
    folder, copy = tmp_path / "data", tmp_path / "copy"
    await commit(folder, user, "parsed", 5)
    shutil.copytree(folder, copy)
    await commit(folder, user, "ingested", 3)
    ((*seen, _),) = await told(folder, user, 0)
    assert [each["seq"] for each in seen] == list(range(1, 9))
    put_back(copy, folder, in_place=in_place)
    await commit(folder, user, "error", 5)
    return folder, seen


async def test_numbers_are_not_given_again(tmp_path: Path) -> None:
    """Also who comes with a mere number, and after more events than were lost, is told where things stand."""
    user = a_user()
    folder, seen = await lived_on(tmp_path, user, in_place=False)

    for resync, ready in await told(folder, user, 8, f"8@{seen[7]['ts']}", 3):
        assert resync["type"] == "resync"
        assert resync["payload"]["seq"] == ready["payload"]["seq"] > 8
        assert resync["payload"]["ts"] == ready["payload"]["ts"] is not None

    mark = f"{ready['payload']['seq']}@{ready['payload']['ts']}"
    await commit(folder, user, "ingested", 2)
    ((*events, ready),) = await told(folder, user, mark)
    assert [each["payload"]["status"] for each in events] == ["ingested", "ingested"]
    assert ready["payload"] == {"seq": events[-1]["seq"], "ts": events[-1]["ts"]}


async def test_an_event_is_known_again_by_its_time(tmp_path: Path) -> None:
    """Where the file does not give it away, the time of the client's last event does."""
    user = a_user()
    folder, seen = await lived_on(tmp_path, user, in_place=True)

    marks = (f"8@{seen[7]['ts']}", f"3@{seen[2]['ts']}", 8)
    (resync, _), (*events, _), (*rest, _) = await told(folder, user, *marks)
    assert (resync["type"], resync["payload"]["reason"]) == ("resync", "replaced")
    assert resync["payload"]["seq"] == 10
    assert [each["seq"] for each in events] == list(range(4, 11))
    assert [each["payload"]["status"] for each in events] == ["parsed"] * 2 + ["error"] * 5
    assert [each["seq"] for each in rest] == [9, 10]  # a mere number cannot tell

"""Watching a folder with real files: what is told, when, and what cannot be missed."""

# ruff: noqa: ASYNC110, ASYNC240 -- a test's own loop may be held up by a file of its own.

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.disk import DiskWatcher, Pace
from penstock.engines.disk.dirt import PLACES_MAX, Dirt
from penstock.engines.disk.inotify import Inotify, Lost, Notice
from penstock.engines.disk.mounts import kind_of
from penstock.model.errors import Refused
from penstock.model.files import Appeared, Away, Back, Change, FoundFile, Modified, Moved, Selection, Vanished
from penstock.model.ignoring import RULES_MAX
from tests.support.clock import FakeClock
from tests.support.trees import plant

FAST = Pace(quiet=0.15, poll=0.05, rescan=600)
PATIENCE = 30.0


class Ear:
    """Listens to a watch and collects what it tells, as short words."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.heard: list[str] = []
        self._news = asyncio.Event()

    async def listen(self, changes: AsyncIterator[tuple[Change, ...]]) -> None:
        async for told in changes:
            self.heard += [self._word(change) for change in told]
            self._news.set()

    async def hears(self, *words: str) -> None:
        """Wait until these were told, in whatever order, and nothing else; then forget them."""
        async with asyncio.timeout(PATIENCE):
            while len(self.heard) < len(words):
                self._news.clear()
                await self._news.wait()
        heard, self.heard = self.heard, []
        assert sorted(heard) == sorted(words)

    def _word(self, change: Change) -> str:
        match change:
            case Appeared(file=file):
                return f"+{self._name(file.path)}"
            case Modified(file=file):
                return f"*{self._name(file.path)}"
            case Moved(old=old, file=file):
                return f"{self._name(old)}>{self._name(file.path)}"
            case Vanished(path=path):
                return f"-{self._name(path)}"
            case Away():
                return "away"
            case Back():
                return "back"

    def _name(self, path: str) -> str:
        return Path(path).relative_to(self._root).as_posix()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "watched"
    root.mkdir()
    return root


@pytest.fixture(params=["news", "polling"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """With the kernel's news, and where it has none left to give."""
    if request.param == "polling":

        def refuse(self: Inotify, folder: str) -> None:
            raise OSError(errno.ENOSPC, "no watches left")

        monkeypatch.setattr(Inotify, "add", refuse)
    return str(request.param)


@asynccontextmanager
async def watching(
    root: Path, *known: FoundFile, selection: Selection | None = None, pace: Pace = FAST
) -> AsyncIterator[Ear]:
    ear = Ear(root)
    async with aclosing(DiskWatcher(pace=pace).watch(root, selection or Selection(), known)) as changes:
        task = asyncio.create_task(ear.listen(changes))
        try:
            yield ear
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
    assert ear.heard == []


def seen(path: Path) -> FoundFile:
    about = path.stat()
    return FoundFile(path=str(path), size=about.st_size, mtime_ns=about.st_mtime_ns, inode=about.st_ino)


@pytest.mark.usefixtures("way")
async def test_a_life_of_files_is_told(root: Path) -> None:
    """W1: made, changed, moved, removed, in folders that come and go."""
    async with watching(root) as ear:
        plant(root, {"a.txt": "1", "d/b.txt": "2"})
        await ear.hears("+a.txt", "+d/b.txt")
        plant(root, {"a.txt": "changed"})
        await ear.hears("*a.txt")
        (root / "a.txt").rename(root / "d" / "c.txt")
        await ear.hears("a.txt>d/c.txt")
        (root / "d").rename(root / "e")
        await ear.hears("d/b.txt>e/b.txt", "d/c.txt>e/c.txt")
        plant(root, {"e/new.txt": "3"})
        await ear.hears("+e/new.txt")
        shutil.rmtree(root / "e")
        await ear.hears("-e/b.txt", "-e/c.txt", "-e/new.txt")


@pytest.mark.usefixtures("way")
async def test_what_changed_while_nobody_watched_is_told_first(root: Path) -> None:
    """W2: by comparison with what the caller knows."""
    plant(root, {"same.txt": "1", "changed.txt": "2", "moved.txt": "3", "gone.txt": "4"})
    known = [seen(path) for path in sorted(root.iterdir())]
    plant(root, {"changed.txt": "other", "new.txt": "5"})
    (root / "gone.txt").unlink()
    (root / "moved.txt").rename(root / "there.txt")

    async with watching(root, *known) as ear:
        await ear.hears("*changed.txt", "+new.txt", "-gone.txt", "moved.txt>there.txt")


@pytest.mark.usefixtures("way")
async def test_a_file_in_the_making_waits(root: Path) -> None:
    """W1: before the quiet time has passed nothing is told; then it is told once, with all its bytes."""
    clock = FakeClock()
    told: list[Change] = []

    async def listen() -> None:
        async with aclosing(DiskWatcher(clock, FAST).watch(root, Selection(), ())) as changes:
            async for some in changes:
                told.extend(some)

    listening = asyncio.create_task(listen())
    with (root / "slow.txt").open("wb", buffering=0) as file:
        for _ in range(20):
            file.write(b"piece")
            await asyncio.sleep(0.01)
    assert told == []

    async with asyncio.timeout(PATIENCE):
        while not told:
            clock.advance(FAST.quiet)
            await asyncio.sleep(0.05)
    listening.cancel()
    await asyncio.gather(listening, return_exceptions=True)
    assert told == [Appeared(file=seen(root / "slow.txt"))]


def by_rename(root: Path, text: str) -> None:
    (root / "tmpq3x9").write_text(text)
    (root / "tmpq3x9").rename(root / "a.txt")


def by_vim(root: Path, text: str) -> None:
    (root / "4913").touch()
    (root / "4913").unlink()
    (root / ".a.txt.swp").touch()
    (root / "a.txt").rename(root / "a.txt~")
    (root / "a.txt").write_text(text)
    (root / "a.txt~").unlink()
    (root / ".a.txt.swp").unlink()


def by_removing(root: Path, text: str) -> None:
    (root / "a.txt").unlink()
    (root / "a.txt").write_text(text)


def by_part(root: Path, text: str) -> None:
    (root / "a.txt.part").write_text(text)
    (root / "a.txt.part").rename(root / "a.txt")


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("save", [by_rename, by_vim, by_removing, by_part])
async def test_every_way_to_save_is_one_modification(root: Path, save: Callable[[Path, str], None]) -> None:
    """W1: whatever names an editor goes through on the way."""
    plant(root, {"a.txt": "first"})

    async with watching(root, seen(root / "a.txt")) as ear:
        save(root, "second and longer")
        await ear.hears("*a.txt")


async def test_a_file_told_under_its_first_name_that_replaces_another(root: Path) -> None:
    """W1: the target was modified and the source is gone; it is no move onto a known path."""
    plant(root, {"a.txt": "old", "b.txt": "newer"})

    async with watching(root, seen(root / "a.txt"), seen(root / "b.txt")) as ear:
        (root / "b.txt").rename(root / "a.txt")
        await ear.hears("*a.txt", "-b.txt")


@pytest.mark.usefixtures("way")
async def test_rules_hold_and_follow_their_files(root: Path) -> None:
    """W1: unfinished, hidden and ignored files are not told; a rule that changes is obeyed."""
    plant(root, {".gitignore": "*.log\n", "a.log": "1", "b.txt": "2", "x.tmp": "", ".hidden": ""})

    async with watching(root, selection=Selection(ignore_patterns=("skip/",))) as ear:
        await ear.hears("+b.txt")
        plant(root, {"skip/c.txt": "", "y.part": "", "c.log": "", "d.txt": ""})
        await ear.hears("+d.txt")
        plant(root, {".gitignore": "b.txt\n"})
        await ear.hears("+a.log", "+c.log", "-b.txt")


async def test_lost_news_lose_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """W3: when the kernel dropped news, everything is compared again."""
    real = Inotify.read
    dropped: list[object] = []

    def read(self: Inotify) -> Iterable[object]:
        found = real(self)
        if found and not dropped:
            dropped.append(found)
            raise Lost
        return found

    monkeypatch.setattr(Inotify, "read", read)
    async with watching(root) as ear:
        plant(root, {"start.txt": ""})
        await ear.hears("+start.txt")
        dropped.clear()
        plant(root, {"d/e/deep.txt": "", "a.txt": ""})
        await ear.hears("+d/e/deep.txt", "+a.txt")
    assert dropped


def read_all(news: Inotify) -> None:
    while news.read():
        pass


async def test_a_real_overflow_is_noticed(tmp_path: Path) -> None:
    """W3: more events than the kernel keeps are told as lost."""
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    news = Inotify()
    try:
        news.add(str(tmp_path))
        one, other = tmp_path / "one", tmp_path / "other"
        for path in (one, other):
            path.touch()
        # Alike neighbours are joined by the kernel, so two files take turns.
        for number in range(limit + 10):
            os.utime((one, other)[number % 2])
        with pytest.raises(Lost):
            read_all(news)
    finally:
        news.close()


@pytest.mark.usefixtures("way")
async def test_the_folder_itself_may_go_and_come_back(root: Path) -> None:
    """W4: its going tells no file as gone; when it is back, all is compared again."""
    plant(root, {"a.txt": "1", "b.txt": "2"})
    known = [seen(path) for path in sorted(root.iterdir())]

    async with watching(root, *known) as ear:
        root.rename(root.parent / "elsewhere")
        await ear.hears("away")
        (root.parent / "elsewhere" / "a.txt").unlink()
        (root.parent / "elsewhere").rename(root)
        await ear.hears("back", "-a.txt")
        plant(root, {"c.txt": "3"})
        await ear.hears("+c.txt")


@pytest.mark.usefixtures("way")
async def test_a_folder_empty_from_the_start_is_awaited(root: Path) -> None:
    """W4: a disk that is not mounted yet leaves an empty place; its files are not gone."""
    plant(root, {"a.txt": "1", "d/b.txt": "2"})
    known = [seen(root / "a.txt"), seen(root / "d/b.txt")]
    disk = root.rename(root.with_name("disk"))
    root.mkdir()

    async with watching(root, *known) as ear:
        await ear.hears("away")
        root.rmdir()
        (disk / "a.txt").unlink()
        disk.rename(root)
        await ear.hears("back", "-a.txt")


@pytest.mark.usefixtures("way")
async def test_what_cannot_be_looked_at_is_not_gone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """W5: a folder nobody can read for a while keeps its files; what changed there is told afterwards."""
    plant(root, {"a.txt": "1", "d/b.txt": "2", "d/e/c.txt": "3"})
    opened, shut = os.open, {"d": 0}

    def refusing(path: str, *rest: Any, **more: Any) -> int:
        if path in shut:
            shut["d"] += 1
            raise OSError(errno.EIO, "input/output error")
        return opened(path, *rest, **more)

    async with watching(root) as ear:
        await ear.hears("+a.txt", "+d/b.txt", "+d/e/c.txt")
        monkeypatch.setattr(os, "open", refusing)
        plant(root, {"x.txt": "4"})
        (root / "d").touch()
        (root / "d/b.txt").touch()
        await ear.hears("+x.txt")
        async with asyncio.timeout(PATIENCE):
            while shut["d"] < 20:
                await asyncio.sleep(0.02)
        (root / "d/b.txt").unlink()
        monkeypatch.undo()
        await ear.hears("-d/b.txt")


@pytest.mark.usefixtures("way")
async def test_what_nobody_will_take_is_told_once(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    """W5: a name that is no text, or a pipe, lies there for ever; whoever put it there can read why."""
    async with watching(root) as ear:
        (root / os.fsdecode(b"caf\xe9.txt")).write_text("1")
        os.mkfifo(root / "pipe.txt")
        plant(root, {"a.txt": "2"})
        await ear.hears("+a.txt")
        (root / os.fsdecode(b"caf\xe9.txt")).write_text("12")
        plant(root, {".gitignore": "x"})  # looked at as a whole
        plant(root, {"b.txt": "3"})
        await ear.hears("+b.txt")

    assert sorted(record.getMessage() for record in caplog.records) == [
        f"{root}/caf\\xe9.txt is passed over: name_not_text",
        f"{root}/pipe.txt is passed over: special",
    ]


@pytest.mark.usefixtures("way")
async def test_an_ignore_file_nobody_can_use_deletes_nothing(root: Path) -> None:
    """W5: it closes its folder for new files and leaves those that are known."""
    plant(root, {"a.txt": "1", "d/b.txt": "2"})
    async with watching(root) as ear:
        await ear.hears("+a.txt", "+d/b.txt")
        plant(root, {"d/.gitignore": "x\n" * (RULES_MAX + 1), "d/new.txt": "3", "z.txt": "4"})
        await ear.hears("+z.txt")
        (root / "d/b.txt").unlink()
        plant(root, {"y.txt": "5"})
        await ear.hears("+y.txt")
        (root / "d/.gitignore").unlink()
        await ear.hears("+d/new.txt", "-d/b.txt")


async def test_a_folder_replaced_by_another_is_watched_in_its_place(root: Path) -> None:
    """W4: also when it happens between two looks."""
    plant(root, {"a.txt": "1"})
    plant(root.parent / "next", {"b.txt": "2"})

    async with watching(root, seen(root / "a.txt")) as ear:
        root.rename(root.parent / "old")
        (root.parent / "next").rename(root)
        async with asyncio.timeout(PATIENCE):
            while len([word for word in ear.heard if word[0] in "+-"]) < 2:
                await asyncio.sleep(0.01)
        assert {"+b.txt", "-a.txt"} <= set(ear.heard)
        ear.heard.clear()
        plant(root, {"c.txt": "3"})
        await ear.hears("+c.txt")


async def test_a_folder_that_is_not_there_yet_is_awaited(root: Path) -> None:
    """W4: it may be made after the watch began."""
    root.rmdir()

    async with watching(root) as ear:
        await ear.hears("away")
        plant(root, {"a.txt": ""})
        await ear.hears("back", "+a.txt")


async def test_many_files_at_once_are_all_told(root: Path) -> None:
    """W3: more places than are remembered one by one."""
    names = [f"{number % 50}/{number:05}.txt" for number in range(3000)]
    async with watching(root) as ear:
        plant(root, dict.fromkeys(names, "x"))
        await ear.hears(*(f"+{name}" for name in names))


async def test_more_files_than_the_limit_end_the_watch(root: Path) -> None:
    """F4: with the limit in the message."""
    plant(root, dict.fromkeys(("a.txt", "b.txt", "c.txt"), ""))

    with pytest.raises(Refused, match="more than 2 files"):
        async with aclosing(DiskWatcher(pace=FAST).watch(root, Selection(files_max=2), ())) as changes:
            await anext(changes)


@pytest.mark.usefixtures("way")
async def test_leaving_lets_go_of_everything(root: Path) -> None:
    """F5: no descriptor stays open."""
    plant(root, {"d/a.txt": ""})
    before = len(os.listdir("/proc/self/fd"))
    async with watching(root) as ear:
        await ear.hears("+d/a.txt")

    assert len(os.listdir("/proc/self/fd")) == before


def test_the_kind_of_file_system_is_that_of_the_nearest_mount() -> None:
    """W3: a share inside a local disk is polled, a local disk inside it is not."""
    lines = [
        "1 0 8:1 / / rw - ext4 /dev/a rw",
        "2 1 0:5 / /mnt/my\\040share rw shared:1 - nfs4 host:/x rw",
        "3 2 8:2 / /mnt/my\\040share/disk rw - xfs /dev/b rw",
        "nonsense",
    ]

    assert kind_of("/mnt/my share/a", lines) == "nfs4"
    assert kind_of("/mnt/my share/disk/a", lines) == "xfs"
    assert kind_of("/mnt/my shared", lines) == "ext4"


async def test_a_storm_of_names_is_not_remembered_name_by_name() -> None:
    """Beyond a bound everything is looked at, and what is remembered does not grow any further."""
    dirt = Dirt()
    dirt.take()

    for number in range(3 * PLACES_MAX):
        dirt.mark(Notice("/folder", f"{number}.tmp", is_folder=False))
        assert len(dirt.names) <= PLACES_MAX

    assert dirt.take() == (True, set(), set())
    assert dirt.take() == (False, set(), set())

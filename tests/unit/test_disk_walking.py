"""Walking a folder: what is told, what is left out, and what must not end it."""

# ruff: noqa: ASYNC240 -- a test's own loop may be held up by a file of its own.

import asyncio
import os
import socket
import threading
from contextlib import aclosing
from pathlib import Path

import pytest

from penstock.engines.disk import DiskFinder
from penstock.engines.disk import walking as walking_module
from penstock.model.errors import Refused
from penstock.model.files import Overlooked, Oversight, Selection
from tests.support.nobody import as_nobody, let_in
from tests.support.trees import found, gather, plant


async def oversights(root: Path, selection: Selection | None = None) -> list[tuple[str, Oversight]]:
    _, overlooked = await gather(DiskFinder().walk(root, selection or Selection()), root)
    return [(entry.path.removeprefix(f"{root}/"), entry.why) for entry in overlooked]


async def test_files_are_told_once_in_order_with_their_facts(tmp_path: Path) -> None:
    """F1: sorted by the parts of the path, with size, time and inode as the system gives them."""
    plant(tmp_path, {"b.txt": "1", "a/z.txt": "22", "a/b/c.txt": "333", "a-b/x.txt": "", "ä.txt": "4"})

    (portion,) = [portion async for portion in DiskFinder().walk(tmp_path, Selection())]

    names = [Path(file.path).relative_to(tmp_path).as_posix() for file in portion.files]
    assert names == ["a/b/c.txt", "a/z.txt", "a-b/x.txt", "b.txt", "ä.txt"]
    for file in portion.files:
        about = os.stat(file.path)
        assert (file.size, file.mtime_ns, file.inode) == (about.st_size, about.st_mtime_ns, about.st_ino)


async def test_many_files_come_in_portions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F1: portions join to the whole without a gap or a double."""
    monkeypatch.setattr(walking_module, "PORTION", 7)
    plant(tmp_path, {f"{number % 5}/{number:03}.txt": "" for number in range(100)})

    sizes = [len(portion.files) async for portion in DiskFinder().walk(tmp_path, Selection())]

    assert sizes == [7] * 14 + [2]
    assert await found(tmp_path) == sorted(f"{number % 5}/{number:03}.txt" for number in range(100))


@pytest.mark.parametrize(
    ("patterns", "expected"),
    [
        (("*.py",), ["a.py", "src/b.py", "src/deep/c.py"]),
        (("src/*.py",), ["src/b.py"]),
        (("src/**/*.py",), ["src/b.py", "src/deep/c.py"]),
        (("/*.py",), ["a.py"]),
        (("deep/*",), ["src/deep/c.py", "src/deep/d.md"]),
        (("src/",), ["src/b.py", "src/deep/c.py", "src/deep/d.md"]),
        (("**",), ["a.py", "src/b.py", "src/deep/c.py", "src/deep/d.md"]),
        (("?.md", "[ab].py"), ["a.py", "src/b.py", "src/deep/d.md"]),
        (("nothing",), []),
    ],
)
async def test_patterns_choose(tmp_path: Path, patterns: tuple[str, ...], expected: list[str]) -> None:
    """F1: globs on names, on paths and their tails, and pinned to the root."""
    plant(tmp_path, {"a.py": "", "src/b.py": "", "src/deep/c.py": "", "src/deep/d.md": ""})

    assert await found(tmp_path, Selection(patterns=patterns)) == expected


@pytest.mark.parametrize(
    ("ignored", "expected"),
    [
        (("*.pyc", "__pycache__/*"), ["a.py", "x/a.py"]),
        (("x/",), ["__pycache__/a.pyc", "__pycache__/b", "a.py"]),
        (("/a.py",), ["__pycache__/a.pyc", "__pycache__/b", "x/__pycache__/c.pyc", "x/a.py"]),
        (("!a.py", "#b"), ["__pycache__/a.pyc", "__pycache__/b", "a.py", "x/__pycache__/c.pyc", "x/a.py"]),
        (("**",), []),
    ],
)
async def test_ignore_patterns_leave_out(
    tmp_path: Path, ignored: tuple[str, ...], expected: list[str]
) -> None:
    """F1: the contract's own globs at any depth; a request's globs know no negation and no comment."""
    plant(tmp_path, dict.fromkeys(("a.py", "__pycache__/a.pyc", "__pycache__/b", "x/a.py"), ""))
    plant(tmp_path, {"x/__pycache__/c.pyc": ""})

    assert await found(tmp_path, Selection(ignore_patterns=ignored)) == expected


async def test_ignore_files_count_at_every_level(tmp_path: Path) -> None:
    """F1: nearer files overrule farther ones, and ours has the last word in its folder."""
    plant(
        tmp_path,
        {
            ".gitignore": "*.log\nbuild/\n/top.txt\n",
            "a/.gitignore": "!keep.log\n",
            "a/.penstockignore": "*.md\n",
            "b/.gitignore": "*.txt\n",
            "b/.penstockignore": "!kept.txt\n",
            **dict.fromkeys(("x.log", "top.txt", "a/keep.log", "a/top.txt", "a/y.log", "a/n.md"), ""),
            **dict.fromkeys(("b/no.txt", "b/kept.txt", "b/n.md", "build/x.txt", "a/build/x.txt"), ""),
        },
    )

    assert await found(tmp_path) == ["a/keep.log", "a/top.txt", "b/kept.txt", "b/n.md"]


@pytest.mark.parametrize(
    ("selection", "expected"),
    [
        (Selection(recursive=False), ["0.txt"]),
        (Selection(recursive_depth=0), ["0.txt"]),
        (Selection(recursive_depth=1), ["0.txt", "a/1.txt"]),
        (Selection(), ["0.txt", "a/1.txt", "a/b/2.txt"]),
    ],
)
async def test_depth_is_counted_from_the_root(
    tmp_path: Path, selection: Selection, expected: list[str]
) -> None:
    """F1: 0 is the folder's own files."""
    plant(tmp_path, {"0.txt": "", "a/1.txt": "", "a/b/2.txt": ""})

    assert await found(tmp_path, selection) == expected


async def test_hidden_and_unfinished_files_are_left_out(tmp_path: Path) -> None:
    """F1: hidden ones come when asked for; version control and editors' leavings never do."""
    chaff = (".git/config", ".hg/x", "CVS/Root", "a.swp", "b~", "c.tmp", "d.part", "4913", "~$e.docx")
    plant(tmp_path, dict.fromkeys(("a.txt", ".env", ".config/x.txt", *chaff), ""))

    assert await found(tmp_path) == ["a.txt"]
    assert await found(tmp_path, Selection(hidden=True)) == [".config/x.txt", ".env", "a.txt"]


async def test_no_link_is_followed(tmp_path: Path) -> None:
    """F2: neither to files nor to folders, and a loop is only a link."""
    root = plant(tmp_path / "root", {"a/real.txt": ""})
    plant(tmp_path / "outside", {"secret.txt": ""})
    (root / "file").symlink_to(tmp_path / "outside" / "secret.txt")
    (root / "folder").symlink_to(tmp_path / "outside")
    (root / "a" / "loop").symlink_to(root)
    (root / "dangling").symlink_to("nowhere")
    (root / ".gitignore").symlink_to(tmp_path / "outside" / "rules")
    (tmp_path / "outside" / "rules").write_text("*")

    assert await found(root) == ["a/real.txt"]
    assert await oversights(root) == []


async def test_special_files_are_told_as_overlooked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F2: a pipe or a socket is never opened."""
    plant(tmp_path, {"a.txt": ""})
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as plug:
        plug.bind("plug")

        assert sorted(await oversights(tmp_path)) == [("pipe", "special"), ("plug", "special")]
    assert await found(tmp_path) == ["a.txt"]


async def test_a_folder_that_may_not_be_read_is_told_and_passed(tmp_path: Path) -> None:
    """F3: the files around it are found."""
    plant(tmp_path, {"a.txt": "", "locked/b.txt": "", "z.txt": ""})
    let_in(tmp_path)
    (tmp_path / "locked").chmod(0)

    with as_nobody():
        files, told = await found(tmp_path), await oversights(tmp_path)
    (tmp_path / "locked").chmod(0o755)

    assert files == ["a.txt", "z.txt"]
    assert told == [("locked", Oversight.UNREADABLE)]


async def test_a_name_that_is_no_text_is_told_and_passed(tmp_path: Path) -> None:
    """F3: a file, and whatever lies in a folder of such a name."""
    plant(tmp_path, {"a.txt": "", "z.txt": ""})
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/b\xff.txt"))).touch()
    plant(Path(os.fsdecode(os.fsencode(tmp_path) + b"/c\xfe")), {"inner.txt": ""})

    assert await found(tmp_path) == ["a.txt", "z.txt"]
    assert await oversights(tmp_path) == [
        ("b\\xff.txt", Oversight.NAME_NOT_TEXT),
        ("c\\xfe/inner.txt", Oversight.NAME_NOT_TEXT),
    ]


async def test_a_path_too_long_for_a_job_is_told_and_passed(tmp_path: Path) -> None:
    """F3: no job could name it."""
    plant(tmp_path, {"a.txt": ""})
    folder = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=folder)
        inner = os.open("d" * 250, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(os.open("deep.txt", os.O_CREAT | os.O_WRONLY, dir_fd=folder))
    os.close(folder)

    assert await found(tmp_path) == ["a.txt"]
    assert [why for _, why in await oversights(tmp_path)] == [Oversight.PATH_TOO_LONG]


async def test_the_deepest_folders_there_can_be_are_told(tmp_path: Path) -> None:
    """F3: beyond the greatest depth something may be missing, and is said to be."""
    plant(tmp_path, {"/".join("d" * 70) + "/x.txt": ""})

    assert await oversights(tmp_path) == [("/".join("d" * 65), Oversight.TOO_DEEP)]


@pytest.mark.parametrize("content", [b"*.x\n" * 300_000, b"\n" * 20_000])
async def test_an_ignore_file_that_cannot_be_trusted_closes_its_folder(
    tmp_path: Path, content: bytes
) -> None:
    """F3: rather nothing of the folder than what somebody meant to keep out."""
    plant(tmp_path, {"a/.gitignore": content, "a/secret.txt": "", "b.txt": ""})

    assert await found(tmp_path) == ["b.txt"]
    assert await oversights(tmp_path) == [("a", Oversight.IGNORE_FILE)]


async def test_oversights_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F3: a folder full of pipes does not fill the memory with complaints."""
    monkeypatch.setattr(walking_module, "OVERLOOKED_MAX", 3)
    for number in range(10):
        os.mkfifo(tmp_path / f"pipe{number}")

    assert len(await oversights(tmp_path)) == 3


async def test_files_that_come_and_go_meanwhile_end_nothing(tmp_path: Path) -> None:
    """F3: what stays is told, whatever else is made, removed and replaced during the walk."""
    stay = {f"{number % 10}/stay{number:03}.txt": "" for number in range(300)}
    plant(tmp_path, stay)
    halt = threading.Event()

    def churn() -> None:
        number = 0
        while not halt.is_set():
            number = (number + 1) % 50
            folder = tmp_path / f"{number % 10}" / "brief"
            folder.mkdir(exist_ok=True)
            (folder / "x.txt").touch()
            (folder / "x.txt").unlink()
            folder.rmdir()
            folder.symlink_to("/etc")
            folder.unlink()

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(20):
            files = [name for name in await found(tmp_path) if "brief" not in name]
            assert files == sorted(stay)
    finally:
        halt.set()
        thread.join()


async def test_more_files_than_the_limit_are_refused(tmp_path: Path) -> None:
    """F4: the limit itself is fine; folders and unwanted files do not count."""
    plant(tmp_path, {f"{number}/{number}.txt": "" for number in range(5)} | {"x.pdf": "", "y.pdf": ""})
    five = Selection(patterns=("*.txt",), files_max=5)

    assert len(await found(tmp_path, five)) == 5
    with pytest.raises(Refused, match="more than 4 files") as refused:
        await found(tmp_path, Selection(patterns=("*.txt",), files_max=4))
    assert refused.value.code == "ERR_FOLDER_TOO_LARGE"


async def test_a_root_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    """F3: missing, a file, or a link; the message says which."""
    plant(tmp_path, {"real/a.txt": ""})
    (tmp_path / "link").symlink_to("real")

    for name, words in (("gone", "is no folder"), ("real/a.txt", "is no folder"), ("link", "symbolic link")):
        with pytest.raises(Refused, match=words) as refused:
            await found(tmp_path / name)
        assert refused.value.code == "ERR_FOLDER_NOT_FOUND"


async def test_leaving_early_lets_go_of_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F5: after the first portion the walk is left, and no descriptor stays open."""
    monkeypatch.setattr(walking_module, "PORTION", 2)
    plant(tmp_path, {f"a/b/c/{number}.txt": "" for number in range(20)})
    before = len(os.listdir("/proc/self/fd"))

    portions = DiskFinder().walk(tmp_path, Selection())
    async with aclosing(portions):
        await anext(portions)

    assert len(os.listdir("/proc/self/fd")) == before


async def test_a_cancelled_walk_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F5: the thread notices that nobody waits, between two names."""
    plant(tmp_path, {f"{number}.txt": "" for number in range(50)})
    reached, go = threading.Event(), threading.Event()
    looked: list[str] = []

    def slow(self: walking_module.Walk, folder: int, name: str, path: bytes) -> None:
        looked.append(name)
        reached.set()
        go.wait(timeout=30)

    monkeypatch.setattr(walking_module.Walk, "_look", slow)
    walk = asyncio.create_task(found(tmp_path))
    await asyncio.to_thread(reached.wait, 30)
    walk.cancel()
    await asyncio.sleep(0)
    go.set()

    with pytest.raises(asyncio.CancelledError):
        await walk
    assert len(looked) == 1


def test_oversights_can_be_printed() -> None:
    """F3: a path of any bytes is told as text."""
    told = walking_module.overlooked(Path("/r"), b"\xff\n", Oversight.SPECIAL)

    assert told == Overlooked(path="/r/\\xff\n", why=Oversight.SPECIAL)

"""Projects: what git tells, what a hostile repository cannot do, and what happens without git."""

# ruff: noqa: ASYNC110, ASYNC240 -- a test's own loop may be held up by a file of its own.

import asyncio
import os
import shutil
from contextlib import suppress
from pathlib import Path

import pytest

from penstock.engines.git import GitProjects
from penstock.model.errors import Refused, Unavailable
from penstock.model.files import Oversight, Selection
from penstock.model.fingerprints import hash16
from tests.support.nobody import NOBODY
from tests.support.trees import gather, git, plant

GIT = shutil.which("git")
projects = GitProjects(GIT)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with two commits' worth of files and some that are not committed."""
    root = plant(
        tmp_path / "tool", {"a.py": "1", "src/b.py": "2", "src/c.log": "3", ".gitignore": "*.log\nout/\n"}
    )
    git(root, "init", "-q")
    git(root, "add", "-f", ".")
    git(root, "commit", "-qm", "first")
    plant(root, {"new.md": "4", "d.log": "5", "out/x.txt": "6", "src/new/e.py": "7"})
    return root


async def files(root: Path, selection: Selection | None = None) -> list[str]:
    return (await gather(projects.walk(root, selection or Selection()), root))[0]


async def oversights(root: Path) -> list[tuple[str, Oversight]]:
    _, told = await gather(projects.walk(root, Selection()), root)
    return [(entry.path.removeprefix(f"{root}/"), entry.why) for entry in told]


async def test_tracked_and_not_ignored_files_are_told_in_order(root: Path) -> None:
    """P1: a tracked file stays wanted although a rule ignores its like; ignored ones do not come."""
    assert await files(root) == ["a.py", "new.md", "src/b.py", "src/c.log", "src/new/e.py"]


async def test_selection_and_our_ignore_file_count_too(root: Path) -> None:
    """P1: patterns, depth, hidden names and `.penstockignore` at every level."""
    plant(root, {".penstockignore": "/new.md\n", "src/.penstockignore": "new/\n"})

    assert await files(root) == ["a.py", "src/b.py", "src/c.log"]
    assert await files(root, Selection(patterns=("*.py",), recursive=False)) == ["a.py"]
    assert await files(root, Selection(ignore_patterns=("src/",), hidden=True)) == [
        ".gitignore",
        ".penstockignore",
        "a.py",
    ]
    with pytest.raises(Refused, match="more than 2 files"):
        await files(root, Selection(files_max=2))


async def test_many_files_come_in_portions(tmp_path: Path) -> None:
    """F1: more than one portion, each file once."""
    git(tmp_path, "init", "-q")
    names = [f"{number % 7}/{number:04}.txt" for number in range(2500)]
    plant(tmp_path, dict.fromkeys(names, ""))

    sizes = [len(portion.files) async for portion in projects.walk(tmp_path, Selection())]

    assert sizes == [1000, 1000, 500]
    assert await files(tmp_path) == sorted(names)


async def test_what_is_tracked_but_gone_or_changed_into_a_link_is_not_told(root: Path) -> None:
    """P1, F2: the index may name paths that lead elsewhere by now."""
    outside = plant(root.parent / "outside", {"b.py": "secret"})
    shutil.rmtree(root / "src")
    (root / "src").symlink_to(outside)
    (root / "a.py").unlink()
    (root / "a.py").symlink_to(outside / "b.py")

    assert await files(root) == ["new.md"]


async def test_other_repositories_inside_are_told_as_such(root: Path, tmp_path: Path) -> None:
    """P1: a submodule and a clone that lies there belong to projects of their own."""
    other = plant(tmp_path / "other", {"x.py": ""})
    git(other, "init", "-q")
    git(other, "add", ".")
    git(other, "commit", "-qm", "x")
    git(root, "submodule", "--quiet", "add", "../other", "module")
    shutil.copytree(other, root / "clone")

    assert await files(root) == ["a.py", "new.md", "src/b.py", "src/c.log", "src/new/e.py"]
    assert await oversights(root) == [
        ("clone", Oversight.OTHER_REPOSITORY),
        ("module", Oversight.OTHER_REPOSITORY),
    ]


async def test_a_folder_of_repositories_is_walked_each_file_once(root: Path) -> None:
    """P1: outside a repository, the ignore files of each decide."""
    shutil.copytree(root, root.parent / "twin")

    assert await files(root.parent) == [
        f"{name}/{file}"
        for name in ("tool", "twin")
        for file in ("a.py", "new.md", "src/b.py", "src/new/e.py")
    ]


async def test_a_folder_within_a_repository_is_a_part_of_it(root: Path) -> None:
    """P1: its own files, under the rules from above."""
    plant(root, {"src/z.log": ""})

    assert await files(root / "src") == ["b.py", "c.log", "new/e.py"]


async def test_conflicts_and_sparse_checkouts_tell_each_file_once(root: Path) -> None:
    """P1: three stages of one path are one file; what is not checked out is not there."""
    git(root, "checkout", "-q", "-b", "side")
    plant(root, {"a.py": "side"})
    git(root, "commit", "-qam", "side")
    git(root, "checkout", "-q", "main")
    plant(root, {"a.py": "main"})
    git(root, "commit", "-qam", "main")
    with pytest.raises(AssertionError):
        git(root, "merge", "side")

    assert (await files(root)).count("a.py") == 1

    git(root, "merge", "--abort")
    git(root, "sparse-checkout", "set", "--no-cone", "/a.py")
    assert "src/b.py" not in await files(root)


async def test_names_that_are_no_text_are_told(root: Path) -> None:
    """F3: as in a walk."""
    Path(os.fsdecode(os.fsencode(root) + b"/x\xff.py")).touch()

    assert await oversights(root) == [("x\\xff.py", Oversight.NAME_NOT_TEXT)]


async def test_facts_of_a_repository(root: Path) -> None:
    """P1: branch and remote without credentials; the tenant is the remote's hash."""
    git(root, "remote", "add", "zeta", "https://example.com/z.git")
    git(root, "remote", "add", "origin", "https://ann:secret@Example.com/ann/tool.git")

    facts = await projects.facts(root)

    assert (facts.branch, facts.remote, facts.versioned) == ("main", "example.com/ann/tool", True)
    assert facts.tenant == hash16("example.com/ann/tool")
    given = await projects.facts(root, remote="git@example.com:bo/fork.git")
    assert (given.remote, given.tenant) == ("example.com/bo/fork", hash16("example.com/bo/fork"))


async def test_a_repository_without_remote_is_known_by_its_path(root: Path) -> None:
    """P1: and one without origin by its first remote."""
    assert (await projects.facts(root)).tenant == hash16(str(root))

    git(root, "remote", "add", "zeta", "https://example.com/z.git")
    git(root, "remote", "add", "beta", "https://example.com/b.git")
    assert (await projects.facts(root)).remote == "example.com/b"


async def test_branches_in_every_state_have_a_name(root: Path, tmp_path: Path) -> None:
    """P1: unborn, nested, detached, and of a second work tree."""
    git(tmp_path / "tool", "checkout", "-q", "-b", "feature/x")
    assert (await projects.facts(root)).branch == "feature/x"

    git(root, "checkout", "-q", "--detach")
    short = git(root, "rev-parse", "--short", "HEAD").decode().strip()
    assert (await projects.facts(root)).branch == short

    git(root, "worktree", "add", "-q", "-b", "second", "../second")
    assert (await projects.facts(tmp_path / "second")).branch == "second"
    assert await files(tmp_path / "second") == ["a.py", "src/b.py", "src/c.log"]

    unborn = plant(tmp_path / "unborn", {"x.py": ""})
    git(unborn, "init", "-q", "-b", "trunk")
    assert (await projects.facts(unborn)).branch == "trunk"
    assert await files(unborn) == ["x.py"]


async def test_a_bare_repository_is_refused(tmp_path: Path) -> None:
    """P1: there are no files in it to read."""
    git(tmp_path, "init", "-q", "--bare", "x.git")

    with pytest.raises(Refused, match="bare") as refused:
        await projects.facts(tmp_path / "x.git")
    assert refused.value.code == "ERR_PROJECT_INVALID"


async def test_a_damaged_index_is_told(root: Path) -> None:
    """P1: with what git said about it."""
    (root / ".git" / "index").write_bytes(b"nonsense")

    with pytest.raises(Refused, match="git cannot list") as refused:
        await files(root)
    assert refused.value.code == "ERR_PROJECT_INVALID"


async def test_without_git_a_project_is_a_folder(root: Path) -> None:
    """P1: walked with its ignore files, on the branch main, known by its path."""
    plain = GitProjects(None)
    git(root, "remote", "add", "origin", "https://example.com/z.git")
    git(root, "checkout", "-q", "-b", "other")

    facts = await plain.facts(root)
    found, _ = await gather(plain.walk(root, Selection()), root)

    assert (facts.branch, facts.remote, facts.versioned) == ("main", None, False)
    assert facts.tenant == hash16(str(root))
    assert found == ["a.py", "new.md", "src/b.py", "src/new/e.py"]


async def test_nothing_a_repository_configures_is_run(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """P2: monitor, hooks, pager, ssh, filters, and variables of our own environment that would name them."""
    trap = root.parent / "trap"
    trap.write_text(f"#!/bin/sh\necho ran >> {root.parent}/sprung\n")
    trap.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "filter.x.clean"):
        git(root, "config", key, str(trap))
    git(root, "config", "core.hooksPath", str(root.parent))
    git(root, "config", "filter.x.process", str(trap))
    plant(root, {".gitattributes": "* filter=x\n"})
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    monkeypatch.setenv("GIT_DIR", str(root.parent / "nowhere"))
    before = {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")}

    assert "a.py" in await files(root)
    assert (await projects.facts(root)).branch == "main"

    assert not (root.parent / "sprung").exists()
    assert {path: path.stat().st_mtime_ns for path in (root / ".git").rglob("*")} == before


async def test_what_a_repository_lacks_is_fetched_by_no_program_it_names(root: Path, tmp_path: Path) -> None:
    """P2: also a git too old to know that it must not fetch runs neither a remote's helper nor its server."""
    older = tmp_path / "older" / "git"
    plant(tmp_path, {"older/git": f'#!/bin/sh\nunset GIT_NO_LAZY_FETCH\nexec {GIT} "$@"\n'})
    older.chmod(0o755)
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "elsewhere")
    lacking = git(root, "rev-parse", "HEAD:src").decode().strip()
    (root / ".git" / "objects" / lacking[:2] / lacking[2:]).unlink()
    trap = {"url": f"ext::touch {tmp_path}/sprung", "uploadpack": f"touch {tmp_path}/sprung;false"}
    for key, value in {**trap, "promisor": "true"}.items():
        git(root, "config", f"remote.origin.{key}", value)
    for key in ("protocol.ext.allow", "protocol.file.allow"):
        git(root, "config", key, "always")
    git(root, "config", "core.repositoryFormatVersion", "1")
    git(root, "config", "extensions.partialClone", "origin")

    for address in (trap["url"], str(tmp_path)):
        git(root, "config", "remote.origin.url", address)
        # Such a git may die of the pipe to the fetch that was refused it: listed or refused, nothing may run.
        with suppress(Refused):
            found, _ = await gather(GitProjects(str(older)).walk(root, Selection()), root)
            assert found == ["a.py", "new.md", "src/new/e.py"]

    assert not (tmp_path / "sprung").exists()


async def test_a_repository_of_another_owner_can_be_read(root: Path) -> None:
    """P2: reading runs nothing of it, so whose it is does not matter."""
    # Only root can give files away; for others git sees its own owner.
    for path in (root, *root.rglob("*")) if os.geteuid() == 0 else ():
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)

    assert (await projects.facts(root)).versioned
    assert "src/c.log" in await files(root)


async def test_a_work_tree_elsewhere_leads_nowhere(root: Path) -> None:
    """P2: a repository that claims other folders as its own does not show them."""
    git(root, "config", "core.worktree", "/etc")

    assert await files(root) == ["a.py", "new.md", "src/b.py", "src/new/e.py"]


async def test_git_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    """F5: the time is bounded, and so is the life of its children."""
    slow = tmp_path / "git"
    slow.write_text(f"#!/bin/sh\necho $$ > {tmp_path}/pid\nsleep 600 & wait\n")
    slow.chmod(0o755)

    with pytest.raises(Unavailable, match="longer than 1 seconds"):
        await GitProjects(str(slow), timeout=1).facts(tmp_path)

    group = int((tmp_path / "pid").read_text())
    async with asyncio.timeout(30):
        while _alive(group):
            await asyncio.sleep(0.01)


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True

"""Folders of files for tests, and what a walk finds there."""

import os
import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path

from penstock.engines.disk import DiskFinder
from penstock.model.files import Overlooked, Portion, Selection

GIT_ENVIRONMENT = {
    "PATH": os.environ.get("PATH", ""),
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_AUTHOR_EMAIL": "ann@example.com",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.com",
}


def plant(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below the root, by their paths in it."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return root


def git(folder: Path, *words: str) -> bytes:
    """Run git there and give its output."""
    ran = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always", *words],
        cwd=folder,
        env=GIT_ENVIRONMENT,
        capture_output=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr.decode(errors="replace")
    return ran.stdout


async def gather(portions: AsyncGenerator[Portion, None], root: Path) -> tuple[list[str], list[Overlooked]]:
    """The paths below the root that were told, in the order they were told, and the oversights."""
    files: list[str] = []
    overlooked: list[Overlooked] = []
    async for portion in portions:
        files += [Path(file.path).relative_to(root).as_posix() for file in portion.files]
        overlooked += portion.overlooked
    return files, overlooked


async def found(root: Path, selection: Selection | None = None) -> list[str]:
    """What a walk finds, as paths below the root."""
    portions = DiskFinder().walk(root, selection or Selection())
    async with aclosing(portions):
        files, _ = await gather(portions, root)
    return files

"""A project's name, branch and files, as its version control has them; a plain walk where there is none."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path

from penstock.engines.disk.aside import aside
from penstock.engines.disk.faults import printable
from penstock.engines.disk.sieve import Sieve
from penstock.engines.disk.walking import DiskFinder, open_root
from penstock.engines.git.child import Answer, ask
from penstock.engines.git.listing import Listing
from penstock.model.errors import Refused
from penstock.model.files import Portion, ProjectFacts, Selection
from penstock.model.projects import BRANCH_DEFAULT, normalised_remote, tenant_of_project


class GitProjects:
    """Asks the git program at that path; without one, every project is a plain folder."""

    def __init__(self, git: str | None, *, timeout: float = 60.0) -> None:
        self._git, self._timeout = git, timeout

    async def facts(self, root: Path, *, remote: str | None = None) -> ProjectFacts:
        """What the project says about itself; a remote given by the caller goes before its own."""
        versioned = await self._is_versioned(root)
        branch = await self._branch(root) if versioned else BRANCH_DEFAULT
        if remote is None and versioned:
            remote = await self._remote(root)
        return ProjectFacts(
            root=str(root),
            branch=branch,
            remote=normalised_remote(remote) if remote else None,
            tenant=tenant_of_project(str(root), remote),
            versioned=versioned,
        )

    async def walk(self, root: Path, selection: Selection) -> AsyncGenerator[Portion, None]:
        """The tracked and the not ignored files of a repository; of any other folder, what a walk finds."""
        if not await self._is_versioned(root):
            async with aclosing(DiskFinder().walk(root, selection)) as portions:
                async for walked in portions:
                    yield walked
            return
        told = await self._ask(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        if told.code != 0:
            raise Refused(f"git cannot list {printable(root)}: {told.complaint}", code="ERR_PROJECT_INVALID")
        listing = Listing(root=root, sieve=Sieve.of(selection))
        names = await aside(lambda _: _in_order(told.output))
        made = listing.portions(names)

        try:
            while (portion := await aside(listing.step(made))) is not None:
                yield portion
        finally:
            # Still running means a disk that hangs: the thread closes what it holds when it comes back.
            with suppress(ValueError):
                made.close()

    async def _is_versioned(self, root: Path) -> bool:
        await aside(lambda _: _check_folder(root))
        told = await self._ask(root, "rev-parse", "--is-inside-work-tree", "--is-bare-repository")
        if told.code != 0:
            return False
        inside, bare = told.output.split()
        if bare == b"true" and inside == b"false":
            raise Refused(
                f"{printable(root)} is a bare repository: it holds no files to read",
                code="ERR_PROJECT_INVALID",
            )
        return inside == b"true"

    async def _branch(self, root: Path) -> str:
        """The branch, also one without a commit; detached, the commit's short name."""
        for words in (("symbolic-ref", "--short", "-q", "HEAD"), ("rev-parse", "--short", "HEAD")):
            told = await self._ask(root, *words)
            name = told.output.decode(errors="backslashreplace").strip()
            if told.code == 0 and name:
                return name
        return BRANCH_DEFAULT

    async def _remote(self, root: Path) -> str | None:
        """The address of `origin`, else of the first remote by name."""
        told = await self._ask(root, "config", "-z", "--get-regexp", r"^remote\..*\.url$")
        addresses: dict[str, str] = {}
        for entry in told.output.decode(errors="backslashreplace").split("\0"):
            key, _, address = entry.partition("\n")
            name = key.removeprefix("remote.").removesuffix(".url")
            if address and normalised_remote(address):
                addresses.setdefault(name, address)
        return addresses.get("origin") or next((addresses[name] for name in sorted(addresses)), None)

    async def _ask(self, root: Path, *words: str) -> Answer:
        if self._git is None:
            return Answer(code=-1, output=b"", complaint="there is no git on this machine")
        return await ask(self._git, root, *words, timeout=self._timeout)


def _in_order(output: bytes) -> list[bytes]:
    """Each name once, sorted by the parts of its path."""
    # No name holds a NUL, which sorts before all else: as a list of its parts would, in less room.
    return sorted({name for name in output.split(b"\0") if name}, key=lambda name: name.replace(b"/", b"\0"))


def _check_folder(root: Path) -> None:
    os.close(open_root(root))

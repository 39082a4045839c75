"""Files where people keep them: finding them, watching them, and moving those that are ours.

F1  A walk tells each wanted file once, in the order of the paths' parts, the same order every time.
F2  No link is followed and nothing but ordinary files is told.
F3  What cannot be read or named is told as overlooked and ends nothing; what vanishes meanwhile is not told.
F4  More files than the limit: Refused ERR_FOLDER_TOO_LARGE naming it, after the portions before it.
F5  The loop is never held up; `aclose`, or the end of `aclosing`, ends the work of an iteration left early.
P1  A project's files are those its version control tracks or does not ignore, each once; other
    repositories inside it are told as overlooked.
P2  Nothing a repository configures is run, and nothing is written to it.
W1  A change is told when the file has been left alone for the quiet time, and only then.
W2  What changed while nobody watched is told first, by comparison with what the caller knows.
W3  Nothing is missed when the system loses its news: everything is compared again.
W4  The watched folder's own going tells no file as gone, and neither does its standing empty from the start;
    when it is back, all is compared again.
W5  What cannot be looked at is not told as gone.
M1  A move never overwrites: another file of that name makes `name (2).pdf`.
M2  Repeating a move that happened is success and changes nothing.
M3  A file that was put in the place of the one that is meant stays: nobody has read it yet.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from penstock.model.files import BlobHash, Change, FoundFile, Portion, ProjectFacts, Selection


class Finder(Protocol):
    """Looks for files below a folder."""

    def walk(self, root: Path, selection: Selection) -> AsyncGenerator[Portion, None]:
        """The files of a folder (F1 to F5)."""
        ...


class Projects(Protocol):
    """Looks for files of a project."""

    async def facts(self, root: Path, *, remote: str | None = None) -> ProjectFacts:
        """What the project is called and whose it is; a `remote` given by the caller counts instead."""
        ...

    def walk(self, root: Path, selection: Selection) -> AsyncGenerator[Portion, None]:
        """The files of a project (F1 to F5, P1, P2)."""
        ...


class Watcher(Protocol):
    """Tells what changes below a folder."""

    def watch(
        self, root: Path, selection: Selection, known: Iterable[FoundFile]
    ) -> AsyncGenerator[tuple[Change, ...], None]:
        """Settled changes from what is `known` on (W1 to W5), until the iteration is left."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """Where a file is after a move."""

    path: Path
    earlier: bool
    """It was brought there before; nothing was left to move."""


class Mover(Protocol):
    """Moves files between folders that are ours."""

    async def move(
        self,
        source: Path,
        folder: Path,
        name: str,
        *,
        digest: BlobHash | None,
        mark: str | None = None,
        until: float | None = None,
    ) -> Moved:
        """Bring the file into the folder under that name or the next free one (M1, M2); where it is now.

        `digest` names the bytes that were captured. A file nobody could capture is the one that was judged
        (M3) if it has the `mark`; without one, if nothing changed it after `until`.
        """
        ...

    def fitting(self, name: str) -> str:
        """What `move` calls a file of that name where the name is free: one that is too long is shortened."""
        ...

    async def find(self, folder: Path, name: str, *, digest: BlobHash, size_max: int) -> Path | None:
        """Where `move` brought these bytes; None if they are there no more, or more than `size_max`."""
        ...

    async def write_beside(
        self,
        target: Path,
        suffix: str,
        record: Mapping[str, Any],
        *,
        keep: bool = False,
        since: str | None = None,
    ) -> Path:
        """Write a record as JSON beside a file: `name.pdf` and `.error.json` make `name.pdf.error.json`.

        `keep` leaves a record as it is that is there already, `since` one whose job ended then or later.
        """
        ...

    async def drop_beside(self, target: Path, suffix: str) -> None:
        """Remove such a record; one that is not there is removed."""
        ...

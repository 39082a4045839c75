"""The ignore files on the way from a root down to a folder, each with a say about what lies below it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass

from penstock.engines.disk.ours import RULES, is_data_folder
from penstock.model.ignoring import IGNORE_FILES, Rules, parse_ignore_file

IGNORE_BYTES_MAX = 1 << 20


class IgnoreFileUnusable(Exception):
    """An ignore file is there but cannot be taken at its word; its folder is better left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignores:
    """Rules of the folders from the root down, the nearest first, each with what to cut off a path."""

    levels: tuple[tuple[int, Rules], ...] = ()

    def leaves_out(self, path: bytes, *, is_folder: bool) -> bool:
        """Whether the nearest rule with an opinion on this path below the root leaves it out."""
        for skip, rules in self.levels:
            verdict = rules.verdict(path[skip:], is_folder=is_folder)
            if verdict is not None:
                return verdict
        return False

    def below(self, folder: int, path: bytes, names: tuple[str, ...] = IGNORE_FILES) -> Ignores:
        """These and the ignore files of one more folder, open as `folder`, at `path` below the root.

        What a data folder keeps is left out whatever its owner's files say.
        """
        skip = len(path) + 1 if path else 0
        found = [(skip, rules) for name in names if (rules := _read(folder, name))]
        if is_data_folder(folder):
            found.append((skip, RULES))
        return Ignores(levels=(*reversed(found), *self.levels)) if found else self


def _read(folder: int, name: str) -> Rules | None:
    try:
        # As in git, an ignore file that is a link has no say: it would lead out of the folder.
        file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        if isinstance(error, FileNotFoundError) or _is_link(folder, name):
            return None
        raise IgnoreFileUnusable(f"{name}: {error.strerror}") from error
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            return None
        data = os.read(file, IGNORE_BYTES_MAX + 1)
        if len(data) > IGNORE_BYTES_MAX:
            raise IgnoreFileUnusable(f"{name} has more than {IGNORE_BYTES_MAX} bytes")
        return parse_ignore_file(data) or None
    except (OSError, ValueError) as error:
        raise IgnoreFileUnusable(f"{name}: {error}") from error
    finally:
        os.close(file)


def _is_link(folder: int, name: str) -> bool:
    try:
        return stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        return False

"""What lies among the stored bytes and is none of them: told, and put aside where it is in nobody's way.

It was put there by somebody, so it is not ours to remove; but a folder where a blob belongs keeps that blob
from being stored again, and what is not counted is never missed.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from penstock.engines.disk.blobs import UNFINISHED
from penstock.engines.disk.durable import is_unfinished, make_folder, sync_folder
from penstock.engines.disk.faults import keeping_fault

_FOLDER = re.compile(rf"[0-9a-f]{{2}}|{UNFINISHED}")
_BLOB = re.compile(r"[0-9a-f]{62}")


def strays(folder: Path, *, before: float) -> Iterator[Path]:
    """Everything below a folder of blobs, last changed before then, that is neither blob nor unfinished."""
    try:
        for entry in _entries(folder):
            if entry.is_dir(follow_symlinks=False) and _FOLDER.fullmatch(entry.name):
                yield from (Path(each) for each in _entries(entry) if _is_stray(each, before))
            elif _is_old(entry, before):
                yield Path(entry)
    except OSError as error:
        raise keeping_fault(error, folder) from error


def put_aside(path: Path, folder: Path) -> None:
    """Move it into another folder under a name that is free; one that is gone is put aside."""
    try:
        make_folder(folder)
        with suppress(FileNotFoundError):
            path.rename(_free(folder, f"{path.parent.name}-{path.name}"))
            sync_folder(folder)
    except OSError as error:
        raise keeping_fault(error, folder) from error


def _entries(folder: str | os.PathLike[str]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return sorted(found, key=lambda entry: entry.name)
    except FileNotFoundError:
        return []


def _is_stray(entry: os.DirEntry[str], before: float) -> bool:
    has_our_name = _BLOB.fullmatch(entry.name) is not None or is_unfinished(entry.name)
    return (entry.is_dir(follow_symlinks=False) or not has_our_name) and _is_old(entry, before)


def _is_old(entry: os.DirEntry[str], before: float) -> bool:
    try:
        return entry.stat(follow_symlinks=False).st_mtime < before
    except FileNotFoundError:
        return False


def _free(folder: Path, name: str) -> Path:
    target, number = folder / name, 1
    while os.path.lexists(target):
        number += 1
        target = folder / f"{name} ({number})"
    return target

"""What the program keeps in its data folder is nobody's document, however the folder is come by.

A data folder often lies in the very folder whose documents are taken in. Walked as any other it would be fed
to itself: every run captures what the one before has captured, and what was deleted comes back as a copy. An
ignore file says so to every walk, also that of another program's instance on the same files; its names are
those of the program alone, for a folder may hold a data folder's things beside its owner's.
"""

from __future__ import annotations

import logging
import os
from fnmatch import fnmatchcase
from pathlib import Path

from penstock.engines.disk.durable import unfinished

log = logging.getLogger("penstock.disk")
NAME = ".penstockignore"
KEPT = ("penstock.db*", "blobs", "run", "strays", "vectors", "watch.lock")
FOR_PEOPLE = "sources"
"""Beside what is kept: files people drop there are documents, and are taken in from there alone."""
HEAD = b"# Made by penstock: what it keeps here is nobody's document.\n"
TEXT = HEAD + "".join(f"/{name}\n" for name in (*KEPT, FOR_PEOPLE)).encode()


def keep_out_of_walks(folder: Path) -> None:
    """Let no walk find what the program keeps in this folder; an ignore file of its owner's stays."""
    path = folder / NAME
    try:
        found = path.read_bytes() if path.exists() else None
        if found is None or (found != TEXT and found.startswith(HEAD)):
            _write(path)
    except OSError as error:  # whatever is wrong with the disk, others tell it who cannot do without
        log.warning("%s cannot be written: %s", path, error.strerror)


def is_kept(folder: Path, path: Path) -> bool:
    """Whether a path leads to what the program keeps in this folder, by whatever name or link."""
    found = os.path.relpath(os.path.realpath(path), os.path.realpath(folder))
    top, _, _ = found.partition(os.sep)
    return any(fnmatchcase(top, name) for name in KEPT)


def _write(path: Path) -> None:
    with unfinished(path.parent, prefix=f"{NAME}.", mode=0o644) as (file, temporary):
        os.write(file, TEXT)
        os.replace(temporary, path)

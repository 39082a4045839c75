"""What the program keeps in its data folder is nobody's document, however the folder is come by.

A data folder often lies in the very folder whose documents are taken in. Walked as any other it would be fed
to itself: every run captures what the one before has captured, and what was deleted comes back as a copy. So
every walk, also that of another program's instance on the same files, knows a data folder by its database;
an ignore file says the same where the database is gone. The names are those of the program alone, for a
folder may hold a data folder's things beside its owner's.
"""

from __future__ import annotations

import logging
import os
import stat
from fnmatch import fnmatchcase
from pathlib import Path

from penstock.engines.disk.durable import write_whole
from penstock.model.ignoring import parse_ignore_file

log = logging.getLogger("penstock.disk")
NAME = ".penstockignore"
DATABASE = "penstock.db"
PAGE_BYTES_MIN = 512
"""Every database of SQLite's is some pages of at least so much."""
KEPT = (f"{DATABASE}*", "blobs", "run", "strays", "vectors", "watch.lock")
FOR_PEOPLE = "sources"
"""Beside what is kept: files people drop there are documents, and are taken in from there alone."""
HEAD = b"# Made by penstock: what it keeps here is nobody's document.\n"
TEXT = HEAD + "".join(f"/{name}\n" for name in (*KEPT, FOR_PEOPLE)).encode()
RULES = parse_ignore_file(TEXT)


def keep_out_of_walks(folder: Path) -> None:
    """Let no walk find what the program keeps in this folder; an ignore file of its owner's stays."""
    path = folder / NAME
    try:
        found = path.read_bytes() if path.exists() else b""
        if not found or (found.startswith(HEAD) and not found.startswith(TEXT)):
            write_whole(path, TEXT)
    except OSError as error:  # whatever is wrong with the disk, others tell it who cannot do without
        log.warning("%s cannot be written: %s", path, error.strerror)


def is_kept(folder: Path, path: Path) -> bool:
    """Whether a path leads to what the program keeps in this folder, by whatever name or link."""
    found = os.path.relpath(os.path.realpath(path), os.path.realpath(folder))
    top, _, _ = found.partition(os.sep)
    return any(fnmatchcase(top, name) for name in KEPT)


def is_data_folder(folder: int) -> bool:
    """Whether a folder, open as a descriptor, is the data folder of some instance.

    The database is only looked at: to open and close it would take the locks of this process from it.
    """
    try:
        about = os.stat(DATABASE, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISREG(about.st_mode) and about.st_size > 0 and about.st_size % PAGE_BYTES_MIN == 0

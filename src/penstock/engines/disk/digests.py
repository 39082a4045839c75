"""What bytes a file holds, without keeping them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from penstock.engines.disk.aside import Stop, aside
from penstock.engines.disk.faults import reading_fault
from penstock.engines.disk.opening import check_unchanged, opened
from penstock.model.errors import Fault
from penstock.model.files import BlobHash

PIECE_BYTES = 1 << 20


async def digest_of(path: str, root: Path, limit: int) -> BlobHash | None:
    """The hash of a file below a root; None if it cannot be read as a whole now."""

    def work(stop: Stop) -> BlobHash:
        found, size = hashlib.sha256(), 0
        with opened(Path(path), limit=limit, beneath=root) as (file, before):
            while piece := _read(file, path):
                stop.look()
                found.update(piece)
                size += len(piece)
            check_unchanged(file, before, size, Path(path))
        return BlobHash(found.hexdigest())

    try:
        return await aside(work)
    except Fault:
        return None


def _read(file: int, path: str) -> bytes:
    try:
        return os.read(file, PIECE_BYTES)
    except OSError as error:
        raise reading_fault(error, Path(path)) from error

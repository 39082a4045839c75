"""Which paths lead to nothing: how a folder's jobs tell a deleted file from one merely left out."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence


async def missing(paths: Sequence[str]) -> list[str]:
    """Those of these paths nothing is at; where it cannot be told, something is taken to be there."""
    return await asyncio.to_thread(lambda: [path for path in paths if _is_missing(path)])


def _is_missing(path: str) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False

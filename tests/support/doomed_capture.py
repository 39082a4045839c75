"""A process that captures a file and dies by SIGKILL at a chosen system call: `… FOLDER FILE STEP before`.

The calls that change the disk are counted as they pass, so every edge between two of them can be tried
without a hook in the product. It says how many there were if it lives to the end.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penstock.engines.disk import DiskBlobs

WATCHED = ("open", "write", "fsync", "rename", "mkdir", "unlink", "utime")
_counted = 0


def doomed(call: Callable[..., Any], step: int, after: bool) -> Callable[..., Any]:
    """The same call, with death before or after the step-th of all of them."""

    def one(*given: Any, **named: Any) -> Any:
        global _counted
        _counted += 1
        mine = _counted == step
        if mine and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            return call(*given, **named)
        finally:
            if mine:
                os.kill(os.getpid(), signal.SIGKILL)

    return one


def main() -> None:
    folder, file, step, side = sys.argv[1:]
    for name in WATCHED:
        setattr(os, name, doomed(getattr(os, name), int(step), side == "after"))
    asyncio.run(DiskBlobs(Path(folder)).put_file(Path(file), limit=1 << 30))
    print(_counted)


if __name__ == "__main__":
    main()

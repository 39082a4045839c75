"""A worker process whose disk stands still while a file exists: `python -m tests.support.slow_disk FILE`."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

from penstock.engines.sqlite import writer
from penstock.settings import load
from tests.support.doomed import work
from tests.support.handlers_for_tests import HANDLERS


def main() -> None:
    stalled = Path(sys.argv[1])

    def sync(descriptor: int) -> None:
        while stalled.exists():
            time.sleep(0.01)
        os.fdatasync(descriptor)

    writer.sync_log = sync
    asyncio.run(work(load(None, os.environ, {}), HANDLERS))


if __name__ == "__main__":
    main()

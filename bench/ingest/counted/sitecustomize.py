"""Makes every embedded text leave a byte in a file, in whatever process it happens, also in one killed later.

Python imports this by itself where the folder is on its path, so the program under test needs no change.
"""

import os

from penstock.engines.minilm.embedder import BundledEmbedder

_plain = BundledEmbedder._vector


def _counted(self, session, piece):  # type: ignore[no-untyped-def]
    vector = _plain(self, session, piece)
    os.write(_MARK, b".")
    return vector


if "BENCH_MARK" in os.environ:
    _MARK = os.open(os.environ["BENCH_MARK"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    BundledEmbedder._vector = _counted

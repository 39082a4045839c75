"""How numerical libraries use the cores."""

from __future__ import annotations

import os


def one_core_a_product() -> None:
    """Tell the library behind numpy, before it is loaded, to take one core for a product of matrices.

    By itself it takes all cores and lets them spin while they wait for each other. A search asks words and
    vectors side by side, and a worker embeds with a thread on every core: there the spinning costs more than
    it gains. Who has set the variable knows better.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

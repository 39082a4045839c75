"""A workshop for what needs few of its tools."""

from __future__ import annotations

from typing import Any

from penstock.engines.disk import DiskBlobs
from penstock.pipeline.embed import EmbeddingDesk
from penstock.pipeline.workshop import Workshop
from penstock.wiring.store import Store

UNUSED: Any = None
"""Tools that taking bytes and deleting do not need."""


def a_workshop(store: Store, blobs: DiskBlobs = UNUSED, **chosen: Any) -> Workshop:
    """Without parser and model."""
    return Workshop(
        database=store,
        catalogue=store.catalogue,
        blobs=blobs,
        parser=UNUSED,
        tokenizer=UNUSED,
        embedding=EmbeddingDesk(UNUSED),
        **{"file_bytes_max": 1 << 20, **chosen},
    )

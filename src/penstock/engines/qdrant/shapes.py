"""How a space becomes a Qdrant collection: its name, its vectors, and the fields that are searched by."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from penstock.engines.qdrant.faults import misshapen
from penstock.model.points import Space

DENSE = "dense"
WORDS = "words"

INDEXES: Mapping[str, Mapping[str, object]] = {
    # A search is always of one generation, so its points lie together and have a graph of their own.
    "generation": {"type": "keyword", "is_tenant": True},
    "tenant": {"type": "keyword"},
    "document": {"type": "keyword"},
    "number": {"type": "integer", "lookup": True, "range": False},
    "version": {"type": "integer", "lookup": True, "range": False},
}
"""Fields of the payload that are filtered by."""


class _Params(msgspec.Struct):
    vectors: dict[str, object] | None = None
    sparse_vectors: dict[str, object] | None = None


class _Config(msgspec.Struct):
    params: _Params


class Described(msgspec.Struct):
    """A collection as the server describes it, as far as it matters."""

    config: _Config
    payload_schema: dict[str, object] = {}


def name_of(home: str, space: Space) -> str:
    """The collection of a space."""
    return f"penstock_{home}_{space.recipe}_{space.dimension}"


def space_named(home: str, name: str) -> Space | None:
    """The space a collection is of; None where it is none of ours."""
    found = re.fullmatch(rf"penstock_{re.escape(home)}_([0-9a-f]+)_([0-9]+)", name)
    return None if found is None else Space(recipe=found[1], dimension=int(found[2]))


def shape_of(space: Space) -> dict[str, object]:
    """What a new collection is made with."""
    return {
        "vectors": {DENSE: {"size": space.dimension, "distance": "Cosine"}},
        "sparse_vectors": {WORDS: {}},
        # No graph over all points: every search is of one generation, and each field's values have their own.
        "hnsw_config": {"m": 0, "payload_m": 16},
    }


def check(name: str, space: Space, described: Described) -> None:
    """Unavailable where the collection holds something else."""
    params = described.config.params
    dense = (params.vectors or {}).get(DENSE)
    found = (dense.get("size"), dense.get("distance")) if isinstance(dense, dict) else None
    if found != (space.dimension, "Cosine"):
        told = "no vectors of ours" if found is None else f"vectors of {found[0]} numbers ({found[1]})"
        raise misshapen(f"the Qdrant collection {name} has {told} where {space.dimension} are due (Cosine)")
    if WORDS not in (params.sparse_vectors or {}):
        raise misshapen(f"the Qdrant collection {name} has no sparse vectors {WORDS!r}")

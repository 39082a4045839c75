"""Words as a sparse vector: a number for each, another one in every generation.

Qdrant counts words over a whole collection, so one tenant's documents would change another's scores, and tell
of them. A generation's words therefore have numbers of their own, and weights that were counted in it alone:
no list of postings is shared, and a search reads none but its own. Numbers have 32 bits; two words of one
generation share one about once in a hundred thousand words, which costs a wrong match of little weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

from penstock.model.catalogue import GenerationId


def sparse_of(generation: GenerationId, words: Mapping[str, float]) -> dict[str, list[int] | list[float]]:
    """The vector as Qdrant takes it."""
    weights: dict[int, float] = {}
    for word, weight in words.items():
        number = number_of(generation, word)
        weights[number] = weights.get(number, 0.0) + weight
    return {"indices": list(weights), "values": list(weights.values())}


def number_of(generation: GenerationId, word: str) -> int:
    """The number of a word in a generation."""
    return int.from_bytes(blake2b(f"{generation} {word}".encode(), digest_size=4).digest())

"""A point as it lies on the server, held against what it should be.

The server keeps numbers of 32 bits and brings dense vectors to length one; so numbers are
alike that differ by as much as that may do.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

NUMBER_SLACK = 1e-3
"""A dense vector has length one and hundreds of numbers; a wrong one is farther off in some of them."""
WEIGHT_SLACK = 1e-4
"""Of a word's weight, by its size."""


class Lying(msgspec.Struct):
    """A point with all it holds; what others put there may be of any kind."""

    id: int | str
    payload: dict[str, object] | None = None
    vector: dict[str, object] | list[object] | None = None

    def is_vector(self, name: str, given: Sequence[float]) -> bool:
        """Whether its vector of this name has the direction of the given one."""
        found = self._of(name)
        length = math.sqrt(sum(number * number for number in given))
        if not isinstance(found, list) or len(found) != len(given) or not length:
            return False
        return all(
            isinstance(one, int | float) and abs(one - other / length) <= NUMBER_SLACK
            for one, other in zip(found, given, strict=True)
        )

    def is_sparse(self, name: str, given: Mapping[str, Sequence[float]]) -> bool:
        """Whether its words of this name have the given weights; none at all may be left out."""
        found = _weights(self._of(name) or {"indices": [], "values": []})
        wanted = _weights(given)
        return (
            found is not None
            and wanted is not None
            and found.keys() == wanted.keys()
            and all(math.isclose(found[at], wanted[at], rel_tol=WEIGHT_SLACK) for at in wanted)
        )

    def _of(self, name: str) -> object:
        return self.vector.get(name) if isinstance(self.vector, dict) else None


def _weights(told: object) -> dict[object, float] | None:
    """Weights by the number of their word; None for what is no such vector."""
    if not isinstance(told, Mapping):
        return None
    indices, values = told.get("indices"), told.get("values")
    if not isinstance(indices, list) or not isinstance(values, list) or len(indices) != len(values):
        return None
    if not all(isinstance(value, int | float) for value in values):
        return None
    return dict(zip(indices, values, strict=True))

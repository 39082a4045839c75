"""Priorities by the names a configuration gives them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.model.jobs import PRIORITY_NAMES


def ranks_of(names: Sequence[str]) -> Mapping[str, int]:
    """The number of each name, the first one highest.

    The documented names keep their documented numbers; a list that has others too, or another order, is
    spread evenly from high to low, so that the order it was written in always holds.
    """
    usual = [PRIORITY_NAMES.get(name, -1) for name in names]
    if -1 not in usual and usual == sorted(usual, reverse=True):
        return dict(zip(names, usual, strict=True))
    high, low = PRIORITY_NAMES["high"], PRIORITY_NAMES["low"]
    if len(names) == 1:
        return {names[0]: PRIORITY_NAMES["normal"]}
    step = (high - low) / (len(names) - 1)
    return {name: round(high - number * step) for number, name in enumerate(names)}

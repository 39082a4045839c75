"""What a virtual machine's host takes away while something is measured."""

from __future__ import annotations

from collections.abc import Callable

import psutil

QUIET = 0.01
"""A measure stands when the host took less than this share of the processors' time."""
TRIES = 4

Numbers = dict[str, float]


def undisturbed(measure: Callable[[], Numbers]) -> Numbers:
    """What was measured while the host left the machine alone.

    Milliseconds mean nothing while the host runs somebody else on our processors, so a disturbed measure is
    taken again, a few times; if none was left alone, the least disturbed one stands. What was measured has no
    say in which one is taken. The share is told with the numbers.
    """
    tries: list[tuple[float, Numbers]] = []
    while len(tries) < TRIES and not (tries and tries[-1][0] < QUIET):
        before = psutil.cpu_times()
        numbers = measure()
        tries.append((stolen(before, psutil.cpu_times()), numbers))
    share, numbers = min(tries, key=lambda taken: taken[0])
    return {**numbers, "taken by the host, %": share * 100, "tries": float(len(tries))}


def stolen(before: tuple[float, ...], after: tuple[float, ...]) -> float:
    """The share of the processors' time between two looks that the host gave to others."""
    total = sum(after[:8]) - sum(before[:8])
    return (getattr(after, "steal", 0.0) - getattr(before, "steal", 0.0)) / total if total > 0 else 0.0

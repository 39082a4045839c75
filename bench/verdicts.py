"""Targets: what was measured, what was wanted, and whether it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """One target, what was measured, and whether it holds."""

    what: str
    measured: str
    target: str
    holds: bool


def at_least(what: str, value: float, target: float) -> Verdict:
    """A ratio that must not be smaller."""
    return Verdict(what, f"{value:.2f}x", f"at least {target:g}x", value >= target)


def at_most(what: str, value: float, target: float, unit: str) -> Verdict:
    """A number that must not be larger."""
    return Verdict(what, f"{value:.2f}{unit}", f"at most {target:.4g}{unit}", value <= target)


def told(verdicts: Sequence[Verdict]) -> list[str]:
    """A line each, for a terminal."""
    return [
        f"{'ok  ' if verdict.holds else 'MISS'} {verdict.what}: {verdict.measured} (target {verdict.target})"
        for verdict in verdicts
    ]


def table(verdicts: Sequence[Verdict]) -> list[str]:
    """The rows of the page's table."""
    return [
        "| what | measured | target | holds |",
        "|---|---|---|---|",
        *(f"| {v.what} | {v.measured} | {v.target} | {'yes' if v.holds else 'no'} |" for v in verdicts),
    ]

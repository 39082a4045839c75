"""Counting rows by reason while they stream by, with the first few as examples."""

from __future__ import annotations

from penstock.model.legacy_report import EXAMPLES_MAX, Example, Tally


class Tallies:
    """Reasons in the order in which they were first met."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._examples: dict[str, list[Example]] = {}

    def add(self, reason: str, row: str, detail: str) -> None:
        """One more row with this reason."""
        self._counts[reason] = self._counts.get(reason, 0) + 1
        examples = self._examples.setdefault(reason, [])
        if len(examples) < EXAMPLES_MAX:
            examples.append(Example(row=row, detail=detail))

    def counted(self) -> tuple[Tally, ...]:
        """Everything so far."""
        return tuple(
            Tally(reason=reason, rows=count, examples=tuple(self._examples[reason]))
            for reason, count in self._counts.items()
        )

"""The values of the label `queue`: a closed list, with one place for everything else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.model.tallies import OTHER, QUEUE_OF_RANK, QUEUES_MAX


class Labels:
    """So many names at most, the last of which is `other`."""

    def __init__(
        self, queues: Iterable[str] = ("high", "normal", "low"), by_rank: Sequence[str] = QUEUE_OF_RANK
    ) -> None:
        """`by_rank` names the queue of each priority."""
        named = [name for name in dict.fromkeys(queues) if name != OTHER]
        self.names = (*named[: QUEUES_MAX - 1], OTHER)
        self._places = {name: place for place, name in enumerate(self.names)}
        self.of_rank = tuple(self.place(name) for name in by_rank)
        """The place of a job by the priority that decides its turn."""

    def place(self, queue: str) -> int:
        """Where a queue is counted."""
        return self._places.get(queue, len(self.names) - 1)

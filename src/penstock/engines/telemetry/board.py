"""A board of numbers that one process writes and another reads, even after the writer was killed.

The memory belongs to no file with a name, so nothing is left behind whoever dies. Each number is eight bytes
at a place of its own and written by one process alone, so no lock is needed and no half of a number is read.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator

from penstock.engines.telemetry.labels import Labels
from penstock.model.tallies import Reason

BUCKETS = (
    *(0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0),
    *(10.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0),
)
"""Upper bounds of the histogram in seconds; one more bucket takes what is longer."""

CONSUMED, COMPLETED, RETRIED, DEAD, SECONDS, FAILED = range(6)
"""Where the numbers of one queue stand; from FAILED on there is one for each reason."""
REASON = {reason: FAILED + number for number, reason in enumerate(Reason)}
BUCKET = FAILED + len(Reason)
WIDTH = BUCKET + len(BUCKETS) + 1
MOVED, LEFT_ALONE, WHOLE = range(3)
"""What belongs to no queue stands at the end."""


class Board:
    """One process's numbers; the labels must be the same on both sides."""

    def __init__(self, descriptor: int, labels: Labels) -> None:
        self.labels = labels
        self._memory = mmap.mmap(descriptor, size_of(labels))
        self.numbers = memoryview(self._memory).cast("d")
        self.whole = len(labels.names) * WIDTH
        """Where the numbers of the whole process begin."""

    def of_queue(self, place: int) -> memoryview[float]:
        """The numbers of one queue, to read or write."""
        return self.numbers[place * WIDTH : (place + 1) * WIDTH]

    def add(self, other: Board) -> None:
        """Take over what another counted; whether it left something alone ended with it."""
        left_alone = self.whole + LEFT_ALONE
        for place, number in enumerate(other.numbers):
            if place != left_alone:
                self.numbers[place] += number

    def __iter__(self) -> Iterator[memoryview[float]]:
        return (self.of_queue(place) for place in range(len(self.labels.names)))

    def close(self) -> None:
        """Let go of the memory."""
        self.numbers.release()
        self._memory.close()


def size_of(labels: Labels) -> int:
    """Bytes of a board."""
    return (len(labels.names) * WIDTH + WHOLE) * 8


def new_memory(labels: Labels) -> int:
    """A descriptor of memory all zero; whoever makes it closes it."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("penstock-counts")
    else:  # pragma: no cover  # systems without it share a file that has no name
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size_of(labels))
    return descriptor


def new_board(labels: Labels) -> Board:
    """A board for this process alone."""
    descriptor = new_memory(labels)
    try:
        return Board(descriptor, labels)
    finally:
        os.close(descriptor)

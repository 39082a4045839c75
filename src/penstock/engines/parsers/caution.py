"""Caution: what a try in vain teaches about the next file.

Where slow files hold every place, each further one that is tried costs the others a moment of a processor and
a child: forty of them cost ten seconds. So after a try in vain a stranger of such a size waits for a while,
everybody smaller goes ahead of him, and where nobody else wants a processor a try costs nothing, and is made
at once.
"""

from __future__ import annotations

from collections import deque

REST_SECONDS = 6.0
"""Between two tries of strangers who look slow: some fifteen times what one costs."""
REMEMBERED = 64
ALIKE = 0.5
"""A file is of the size of one that was slow from so many of its bytes on."""


class Caution:
    """Remembers the sizes of the last files that took a moment or less, and of those tried in vain."""

    def __init__(self) -> None:
        self._quick: deque[int] = deque(maxlen=REMEMBERED)
        self._slow: deque[int] = deque(maxlen=REMEMBERED)
        self._rests_until = 0.0

    def was_quick(self, size: int) -> None:
        """A file of that size took no more than a moment."""
        self._quick.append(size)

    def was_in_vain(self, size: int, now: float) -> None:
        """A file of that size was tried, and put off."""
        self._slow.append(size)
        self._rests_until = now + REST_SECONDS

    def advises_against(self, size: int, now: float) -> bool:
        """Whether a stranger of that size had better wait."""
        return now < self._rests_until and self.looks_slow(size)

    def looks_slow(self, size: int) -> bool:
        """Whether files of that size were slow lately, and none so large was quick."""
        return bool(self._slow) and size >= min(self._slow) * ALIKE and size > max(self._quick, default=0)

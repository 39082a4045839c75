"""An attempt at a job, as those who do the work see it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from penstock.model.jobs import Lease


class Attempt(Protocol):
    """What the worker's runtime gives to whoever does the work."""

    @property
    def lease(self) -> Lease:
        """What every write of the attempt is fenced by."""
        ...

    async def progress(self, done: int, total: int | None = None, *, chunks: int = 0) -> None:
        """Tell how far it is, and how many chunks are kept; raises LeaseLost when the job is another's."""
        ...

    def aside(self) -> AbstractContextManager[Callable[[], None]]:
        """Around work that may take long; from the call of what it gives until its end others go first."""
        ...

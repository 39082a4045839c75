"""A guard before a dependency: asked before each call, told how the call ended."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class Guard(Protocol):
    """Stands around every call to one dependency."""

    def call(self) -> AbstractContextManager[None]:
        """Raises Unavailable while the dependency is left alone; else the call's end is the verdict."""
        ...

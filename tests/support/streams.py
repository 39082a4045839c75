"""Streams a test writes to."""

from __future__ import annotations

import io


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True

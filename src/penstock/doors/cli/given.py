"""The options that every command knows, as they were given, and the settings they lead to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.doors.cli.output import talk

if TYPE_CHECKING:
    from penstock.settings import Settings

DEBUG = "PENSTOCK_DEBUG"
CONFIG = "PENSTOCK_CONFIG"


@dataclass(slots=True, kw_only=True)
class Given:
    """The options of every command, as typed; filled while the command line is read, the last word wins."""

    data: str | None = None
    config: str | None = None
    as_json: bool = False
    log_level: str | None = None

    def settings(self, flags: Mapping[str, object] | None = None) -> Settings:
        """The checked configuration: file, environment, these options, then a command's own flags."""
        from penstock.settings import load

        if self.config is not None and not Path(self.config).exists():
            # Allowed, but a mistyped name should not look like a file that says nothing.
            talk(f"note: {self.config} is not there; defaults and the environment are in force")
        named = os.environ.get(CONFIG) or None if self.config is None else self.config
        mine = {"data": self.data, "observability.log_level": self.log_level}
        return load(None if named is None else Path(named), os.environ, {**mine, **(flags or {})})


def debugging() -> bool:
    """Whether the person asked to see where an error came from."""
    return os.environ.get(DEBUG) == "1"

"""The options that every command knows, as they were given, and the settings they lead to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from penstock.doors.cli.output import talk

if TYPE_CHECKING:
    from penstock.settings import Settings

DEBUG = "PENSTOCK_DEBUG"
CONFIG = "PENSTOCK_CONFIG"
SERVER = "PENSTOCK_SERVER"
TOKEN = "PENSTOCK_TOKEN"  # noqa: S105  # a variable's name
TOKEN_FILE = "PENSTOCK_TOKEN_FILE"  # noqa: S105  # a variable's name
WORKSPACE = "PENSTOCK_WORKSPACE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """A server that is to do what a command asks for, and who asks."""

    server: str
    token: str | None = field(repr=False)
    token_file: str | None
    workspace: str | None


@dataclass(slots=True, kw_only=True)
class Given:
    """The options of every command, as typed; filled while the command line is read, the last word wins."""

    data: str | None = None
    config: str | None = None
    as_json: bool = False
    log_level: str | None = None
    server: str | None = None
    token: str | None = field(default=None, repr=False)
    token_file: str | None = None
    workspace: str | None = None

    def elsewhere(self) -> Elsewhere | None:
        """The server that was named; None where the command works on this machine."""
        server = self.server or os.environ.get(SERVER)
        if not server:
            return None
        token, file = self.token, self.token_file
        if token is None and file is None:
            token, file = os.environ.get(TOKEN) or None, os.environ.get(TOKEN_FILE) or None
        return Elsewhere(
            server=server,
            token=token,
            token_file=file if token is None else None,
            workspace=self.workspace or os.environ.get(WORKSPACE) or None,
        )

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

"""SQL by the name of its file: one statement each, read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def sql(name: str) -> str:
    """The text of `statements/<name>.sql`."""
    return files(__package__).joinpath("statements", f"{name}.sql").read_text(encoding="utf-8")

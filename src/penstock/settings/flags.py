"""Flags as a source: dotted keys with text as typed, or with values the command line has already made."""

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.settings.fields import leaves
from penstock.settings.given import Given, unknown_key
from penstock.settings.problems import Problem


def from_flags(flags: Mapping[str, object], tree: type[Any]) -> Iterator[Given | Problem]:
    """Everything the flags give; None means that the flag was not used."""
    known = leaves(tree)
    for key, value in flags.items():
        if key not in known:
            yield unknown_key(key, f"flag {key}", known)
        elif value is not None:
            yield Given(key=key, source=f"flag {key}", raw=value, written=isinstance(value, str))

"""Every key in words, read from its declaration."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from penstock.settings.fields import REQUIRED, Leaf, leaves
from penstock.settings.tree import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One key as a reader needs it; `bare_environment` is None where only the prefixed variable works."""

    key: str
    type: str
    default: str
    environment: str
    bare_environment: str | None
    meaning: str


def describe() -> Iterator[Description]:
    """Every key of the tree, in the order of the tree."""
    for leaf in leaves(Settings).values():
        yield Description(
            key=leaf.key,
            type=leaf.declared.kind.words,
            default=_default(leaf),
            environment=leaf.variable,
            bare_environment=leaf.bare,
            meaning=leaf.declared.meaning,
        )


def _default(leaf: Leaf) -> str:
    default = leaf.declared.default
    if default is None or default is REQUIRED:
        return "not set"
    value = leaf.declared.kind.show(default)
    return value if isinstance(value, str) else json.dumps(value)

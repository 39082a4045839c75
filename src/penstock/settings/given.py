"""What a source gave for a key, before anyone has judged it."""

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.settings.masking import masked
from penstock.settings.problems import Problem, suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A raw value for a known key; `written` marks text that a container still has to take apart."""

    key: str
    source: str
    raw: object
    written: bool


def unknown_key(key: str, source: str, known: Iterable[str]) -> Problem:
    """The problem of a key the tree does not have; its value is not looked at."""
    return Problem(
        key=masked(key),
        source=source,
        wrong="there is no such key",
        right=suggestion(key, known, "remove it or see the configuration reference"),
    )

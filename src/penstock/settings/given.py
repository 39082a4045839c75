"""What a source gave for a key, before anyone has judged it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from penstock.settings.masking import masked
from penstock.settings.problems import Problem, suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A raw value for a known key; `written` marks text that a container still has to take apart."""

    key: str
    source: str
    raw: object
    written: bool
    places: Mapping[str, str] = field(default_factory=dict)
    """The source of each key and item inside the value, by its whole path, where it is known."""

    def source_of(self, path: str) -> str:
        """Where something inside the value was given; where it is missing, what it is missing from."""
        while path not in self.places:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
            if not path:
                return self.source
        return self.places[path]


def unknown_key(key: str, source: str, known: Iterable[str]) -> Problem:
    """The problem of a key the tree does not have; its value is not looked at."""
    return Problem(
        key=masked(key),
        source=source,
        wrong="there is no such key",
        right=suggestion(key, known, "remove it or see the configuration reference"),
    )

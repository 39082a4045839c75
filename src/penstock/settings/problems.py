"""What can be wrong with a configuration, and how it is told: all of it, at once, without secrets."""

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault: its dotted key, the source that gave it, what is wrong, what would be right."""

    key: str
    source: str
    wrong: str
    right: str

    def __str__(self) -> str:
        return f"{self.key} ({self.source}): {self.wrong}; {self.right}"


class ConfigurationError(Exception):
    """Everything wrong with one load; `problems` holds each fault, in the order of the sources."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(["The configuration cannot be used.", *(f"  {each}" for each in self.problems)])


class Unfit(Exception):
    """A value its kind refuses; `wrong` tells why and never carries a secret."""

    def __init__(self, wrong: str) -> None:
        super().__init__(wrong)
        self.wrong = wrong


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """One fault inside a value: where in it, what is wrong, what would be right."""

    at: str
    wrong: str
    right: str

    def below(self, place: str) -> "Within":
        """The same fault as seen from one level up."""
        joint = "" if self.at.startswith("[") or not self.at else "."
        return Within(at=f"{place}{joint}{self.at}", wrong=self.wrong, right=self.right)


class UnfitWithin(Unfit):
    """A value made of several of which some are refused; each is told by its own key."""

    def __init__(self, faults: Iterable[Within]) -> None:
        self.faults = tuple(faults)
        super().__init__(", ".join(f"{each.at}: {each.wrong}" for each in self.faults))


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name the writer most likely meant, if one is near enough to say so."""
    found = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return found[0] if found else None


def suggestion(name: str, known: Iterable[str], otherwise: str) -> str:
    """Advice about an unknown name: the nearest known one, else the given words."""
    near = nearest(name, known)
    return f"did you mean {near}?" if near else otherwise

"""Loading: file, then environment, then flags; a value is checked even if a later source overrides it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from penstock.settings.environment import from_environment
from penstock.settings.fields import REQUIRED, Branch, Leaf, leaves, marks
from penstock.settings.flags import from_flags
from penstock.settings.given import Given
from penstock.settings.problems import ConfigurationError, Problem, Unfit, UnfitWithin
from penstock.settings.rules import broken_rules, derive
from penstock.settings.tree import Settings


def load(path: Path | None, environ: Mapping[str, str], flags: Mapping[str, object]) -> Settings:
    """The checked configuration, or ConfigurationError with everything that is wrong.

    A file that does not exist means defaults; None means that no file was named.
    """
    gathering = _Gathering()
    if path is not None:
        from penstock.settings.yaml_file import from_file  # YAML is loaded for a file alone

        gathering.take(from_file(path, Settings))
    gathering.take(from_environment(environ, Settings))
    gathering.take(from_flags(flags, Settings))
    return gathering.settle()


class _Gathering:
    """The values so far, who gave them, and what was wrong."""

    def __init__(self) -> None:
        self._leaves = leaves(Settings)
        self._values: dict[str, Any] = {}
        self._given: dict[str, Given] = {}
        self._problems: list[Problem] = []

    def take(self, source: Iterable[Given | Problem]) -> None:
        """Read a source; its values replace those of the sources before it."""
        for each in source:
            if isinstance(each, Problem):
                self._problems.append(each)
            else:
                self._read(each, self._leaves[each.key])

    def _read(self, given: Given, leaf: Leaf) -> None:
        # Templates write `username: ""` for "none", and a key that may stay unset can be told so.
        if given.raw == "" and leaf.declared.default is None:
            return
        kind = leaf.declared.kind
        try:
            raw = kind.split(given.raw) if given.written and isinstance(given.raw, str) else given.raw
            self._values[given.key] = kind.read(raw)
        except UnfitWithin as unfit:
            for each in unfit.faults:
                inner = each.below(given.key)
                self._problems.append(
                    Problem(
                        key=inner.at, source=given.source_of(inner.at), wrong=each.wrong, right=each.right
                    )
                )
        except Unfit as unfit:
            self._refuse(given, unfit.wrong, f"give {kind.words}")
        else:
            self._given[given.key] = given

    def _refuse(self, given: Given, wrong: str, right: str) -> None:
        self._problems.append(Problem(key=given.key, source=given.source, wrong=wrong, right=right))

    def settle(self) -> Settings:
        """Build the tree, ask the rules, and let it out only if nothing was wrong."""
        self._complete_optional_sections()
        failed = {problem.key for problem in self._problems}
        settings = derive(_build(Settings, self._values, ""), self._given)
        self._problems += broken_rules(settings, self._given, failed)
        if self._problems:
            raise ConfigurationError(self._problems)
        return settings

    def _complete_optional_sections(self) -> None:
        """A section that may be absent is given whole or not at all; half of one is dropped and reported."""
        required = [leaf.key for leaf in self._leaves.values() if leaf.declared.default is REQUIRED]
        for key in required:
            siblings = [
                other for other in required if _parent(other) == _parent(key) and other in self._values
            ]
            if siblings and key not in self._values:
                self._missing(key, self._given[siblings[0]])

    def _missing(self, key: str, sibling: Given) -> None:
        if any(problem.key == key for problem in self._problems):
            return
        wrong = f"the key is missing beside {sibling.key}"
        self._problems.append(
            Problem(key=key, source=sibling.source, wrong=wrong, right="give both or neither")
        )


def _parent(key: str) -> str:
    return key.rpartition(".")[0]


def _build(tree: type[Any], values: Mapping[str, Any], prefix: str) -> Any:
    """A section out of the values below its prefix; keys without a value keep their default."""
    found: dict[str, Any] = {}
    for name, mark in marks(tree):
        key = prefix + name
        if isinstance(mark, Branch):
            found[name] = _build_branch(mark, values, f"{key}.")
        elif key in values:
            found[name] = values[key]
    return tree(**found)


def _build_branch(mark: Branch, values: Mapping[str, Any], prefix: str) -> Any:
    if mark.optional and not all(key in values for key in leaves(mark.section, prefix)):
        return None
    return _build(mark.section, values, prefix)

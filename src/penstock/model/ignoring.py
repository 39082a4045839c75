"""What is left out when files are looked for: ignore files, globs of a request, and the usual chaff."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from penstock.model.globs import NeverMatches, translate

IGNORE_FILES = (".gitignore", ".penstockignore")
"""Read in every folder; the second has the last word."""
RULES_MAX = 10_000
"""Lines of one ignore file that are read as rules; a file with more is not trusted at all."""

VERSION_FOLDERS = frozenset({".git", ".hg", ".svn", ".bzr", ".jj", "CVS", "_darcs"})
_TEMPORARY_ENDS = ("~", ".swp", ".swo", ".swx", ".tmp", ".temp", ".part", ".partial", ".crdownload")
_TEMPORARY_STARTS = ("~$", ".~lock.", ".#")


def is_temporary(name: str) -> bool:
    """Whether editors, browsers and copy programs call a file so that is not finished yet."""
    if name == "4913":  # vim tries with this name whether it may write to the folder
        return True
    return name.lower().endswith(_TEMPORARY_ENDS) or name.startswith(_TEMPORARY_STARTS)


def is_version_folder(name: str) -> bool:
    """Whether a version control system keeps its own things under this name."""
    return name in VERSION_FOLDERS


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rule:
    """One line of an ignore file, or one glob."""

    expression: bytes
    by_name: bool
    folders_only: bool
    keeps: bool = False


class Rules:
    """Ordered rules over paths below one folder; of those that match, the last decides."""

    def __init__(self, rules: Sequence[_Rule]) -> None:
        self._rules = rules
        self._file = _Chooser(rules, of_folders=False)
        self._folder = _Chooser(rules, of_folders=True)

    def __bool__(self) -> bool:
        return bool(self._rules)

    def verdict(self, path: bytes, *, is_folder: bool) -> bool | None:
        """True leaves it out, False keeps it, None says nothing about this path below the rules' folder."""
        number = (self._folder if is_folder else self._file).last(path)
        return None if number < 0 else not self._rules[number].keeps

    def matches(self, path: bytes, *, is_folder: bool) -> bool:
        """Whether any rule matches."""
        return (self._folder if is_folder else self._file).last(path) >= 0


class _Chooser:
    """All rules as two expressions, one over names and one over paths, the last rule tried first."""

    def __init__(self, rules: Sequence[_Rule], *, of_folders: bool) -> None:
        usable = [(number, rule) for number, rule in enumerate(rules) if of_folders or not rule.folders_only]
        self._names = _joined([entry for entry in usable if entry[1].by_name])
        self._paths = _joined([entry for entry in usable if not entry[1].by_name])

    def last(self, path: bytes) -> int:
        """The number of the last rule that matches; -1 if none does."""
        found = -1
        if self._paths is not None:
            expression, numbers = self._paths
            if match := expression.fullmatch(path):
                found = numbers[(match.lastindex or 0) - 1]
        if self._names is not None:
            expression, numbers = self._names
            if match := expression.fullmatch(path.rpartition(b"/")[2]):
                found = max(found, numbers[(match.lastindex or 0) - 1])
        return found


def _joined(entries: list[tuple[int, _Rule]]) -> tuple[re.Pattern[bytes], list[int]] | None:
    if not entries:
        return None
    entries = entries[::-1]
    expression = b"|".join(b"(" + rule.expression + b")" for _, rule in entries)
    return re.compile(expression, re.DOTALL), [number for number, _ in entries]


def parse_ignore_file(data: bytes) -> Rules:
    """The rules of an ignore file, as git reads it; ValueError if it has more than RULES_MAX lines."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    if len(lines) > RULES_MAX:
        raise ValueError(f"more than {RULES_MAX} lines")
    ended = (line.removesuffix(b"\r") for line in lines)
    rules = [_rule_of_line(line) for line in ended if line and not line.startswith(b"#")]
    return Rules([rule for rule in rules if rule is not None])


def glob_rules(globs: Iterable[str]) -> Rules:
    """The globs of a request: at any depth unless they begin with a slash, never negated."""
    rules = (_rule_of_glob(_bytes(glob)) for glob in globs)
    return Rules([rule for rule in rules if rule is not None])


def wanted_rules(patterns: Iterable[str]) -> Rules:
    """The globs files must match; one that names a folder wants everything below it."""
    return glob_rules(pattern + "**" if pattern.endswith("/") else pattern for pattern in patterns)


def _rule_of_line(line: bytes) -> _Rule | None:
    line = _without_trailing_spaces(line)
    keeps = line.startswith(b"!")
    body = line[1:] if keeps else line
    folders_only = body.endswith(b"/")
    body = body[:-1] if folders_only else body
    if not body:
        return None
    by_name = b"/" not in body
    return _made(body.removeprefix(b"/") if not by_name else body, by_name, folders_only, keeps)


def _rule_of_glob(glob: bytes) -> _Rule | None:
    folders_only = glob.endswith(b"/")
    body = glob.rstrip(b"/") if folders_only else glob
    if not body:
        return None
    by_name = b"/" not in body
    if not by_name:
        body = body[1:] if body.startswith(b"/") else b"**/" + body
    return _made(body, by_name, folders_only, keeps=False)


def _made(body: bytes, by_name: bool, folders_only: bool, keeps: bool) -> _Rule | None:
    try:
        expression = translate(body)
    except NeverMatches:
        return None
    return _Rule(expression=expression, by_name=by_name, folders_only=folders_only, keeps=keeps)


def _without_trailing_spaces(line: bytes) -> bytes:
    """Spaces at the end go, unless a backslash holds the first of them."""
    kept, at = 0, 0
    while at < len(line):
        step = 2 if line[at : at + 1] == b"\\" else 1
        if line[at : at + 1] != b" ":
            kept = min(at + step, len(line))
        at += step
    return line[:kept]


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")

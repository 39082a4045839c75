"""The YAML file as a source: read safely, walked node by node, so that every problem has its line.

The file is composed into nodes and never constructed into objects: scalars are handed on as the text
that was written, which leaves no room for tags that build things or for YAML's guesses about numbers.
Only what the tree declares is followed, so aliases can neither loop nor multiply.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import yaml

from penstock.settings.fields import Branch, leaves, marks
from penstock.settings.given import Given, unknown_key
from penstock.settings.kinds import Quoted
from penstock.settings.problems import Problem

BYTES_MAX = 1 << 20
NODES_MAX = 20_000
"""Items of one value; aliases can write a large number of them in a few lines."""
WHOLE_FILE = "(whole file)"

_STANDARD = "tag:yaml.org,2002:"
_TAGS = {
    _STANDARD + name
    for name in ("str", "int", "float", "bool", "null", "timestamp", "merge", "value", "map", "seq")
}


def from_file(path: Path, tree: type[Any]) -> Iterator[Given | Problem]:
    """Everything the file gives; a file that is not there gives nothing."""
    reader = _Reader(str(path), tree)
    text = _text(path)
    if isinstance(text, str):
        yield from reader.document(text)
    elif text is not None:
        yield reader.problem(WHOLE_FILE, None, text.wrong, text.right)


@dataclass(frozen=True)
class _Unreadable:
    wrong: str
    right: str = "name a readable YAML file"


def _text(path: Path) -> str | _Unreadable | None:
    try:
        with path.open("rb") as file:
            content = file.read(BYTES_MAX + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _Unreadable(f"the file cannot be read: {error.strerror}")
    if len(content) > BYTES_MAX:
        return _Unreadable(f"the file is larger than {BYTES_MAX} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return _Unreadable(f"byte {error.start} is not UTF-8", "save the file as UTF-8")


class _Reader:
    """One walk over one file."""

    def __init__(self, name: str, tree: type[Any]) -> None:
        self._name = name
        self._tree = tree

    def document(self, text: str) -> Iterator[Given | Problem]:
        try:
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            yield self._not_yaml(error)
        except RecursionError:
            yield self.problem(WHOLE_FILE, None, "the file is nested too deep", "write a mapping of sections")
        else:
            yield from self._section(root, self._tree, "")

    def problem(self, key: str, line: int | None, wrong: str, right: str) -> Problem:
        return Problem(key=key, source=self._source(line), wrong=wrong, right=right)

    def _source(self, line: int | None) -> str:
        return self._name if line is None else f"{self._name}, line {line}"

    def _not_yaml(self, error: yaml.YAMLError) -> Problem:
        mark = getattr(error, "problem_mark", None)
        # PyYAML quotes pieces of the file, and a piece may be a password.
        told = re.sub(
            r"'.*'",
            "…",
            getattr(error, "problem", None) or "characters that are not allowed",
            flags=re.DOTALL,
        )
        return self.problem(
            WHOLE_FILE, mark.line + 1 if mark else None, f"this is not YAML: {told}", "correct the line"
        )

    def _section(self, node: yaml.Node | None, tree: type[Any], prefix: str) -> Iterator[Given | Problem]:
        if node is None or _is_null(node):
            return
        key = prefix.rstrip(".") or WHOLE_FILE
        if not isinstance(node, yaml.MappingNode):
            yield self.problem(
                key, _line(node), f"{_shape(node)} stands here", "write a mapping of keys to values"
            )
            return
        declared = dict(marks(tree))
        first_lines: dict[str, int] = {}
        for name_node, value in node.value:
            name = prefix + _name(name_node)
            if name in first_lines:
                yield self._repeated(name, name_node, first_lines[name])
                continue
            first_lines[name] = _line(name_node)
            yield from self._entry(name, name_node, value, declared.get(_name(name_node)))

    def _entry(self, key: str, name: yaml.Node, value: yaml.Node, mark: object) -> Iterator[Given | Problem]:
        if mark is None:
            yield unknown_key(key, self._source(_line(name)), leaves(self._tree))
        elif isinstance(mark, Branch):
            yield from self._section(value, mark.section, f"{key}.")
        elif not _is_null(value):
            yield from self._value(key, name, value)

    def _value(self, key: str, name: yaml.Node, value: yaml.Node) -> Iterator[Given | Problem]:
        levels = max(1, leaves(self._tree)[key].declared.kind.nesting)
        nodes = list(islice(_inside(value, levels), NODES_MAX + 1))
        if len(nodes) > NODES_MAX:
            yield self.problem(key, _line(name), f"the value holds more than {NODES_MAX} items", "write less")
            return
        for tagged in nodes:
            if tagged.tag not in _TAGS:
                yield self.problem(key, _line(tagged), "the value has a tag", "write plain YAML without tags")
                return
        for mapping in nodes:
            for twice in _repeated_names(mapping):
                yield self.problem(key, _line(mapping), f"{twice!r} is given twice", "keep one of the two")
        raw = _raw(value, levels)
        places = {path: self._source(line) for path, line in _lines(key, value, levels)}
        yield Given(key=key, source=self._source(_line(name)), raw=raw, written=False, places=places)

    def _repeated(self, key: str, node: yaml.Node, first: int) -> Problem:
        return self.problem(
            key, _line(node), f"the key was given before, on line {first}", "keep one of the two"
        )


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _lines(path: str, node: yaml.Node, levels: int) -> Iterator[tuple[str, int]]:
    """The line of each key and item inside a value, by paths as problems write them."""
    inside: Iterable[tuple[str, yaml.Node, yaml.Node]] = ()
    if levels and isinstance(node, yaml.MappingNode):
        inside = ((f"{path}.{_name(name)}", name, value) for name, value in node.value)
    elif levels and isinstance(node, yaml.SequenceNode):
        inside = ((f"{path}[{number}]", item, item) for number, item in enumerate(node.value, start=1))
    for place, first, value in inside:
        yield place, _line(first)
        yield from _lines(place, value, levels - 1)


def _is_null(node: yaml.Node) -> bool:
    return bool(node.tag == f"{_STANDARD}null")


def _name(node: yaml.Node) -> str:
    return str(node.value)[:100] if isinstance(node, yaml.ScalarNode) else "(not a name)"


def _shape(node: yaml.Node) -> str:
    return "a list" if isinstance(node, yaml.SequenceNode) else "a single value"


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [value for _, value in node.value]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def _inside(node: yaml.Node, levels: int) -> Iterator[yaml.Node]:
    """The node and what is below it, so many levels deep: an alias to itself ends there too."""
    yield node
    if levels:
        for child in _children(node):
            yield from _inside(child, levels - 1)


def _repeated_names(node: yaml.Node) -> list[str]:
    names = [_name(entry) for entry, _ in node.value] if isinstance(node, yaml.MappingNode) else []
    return sorted({each for each in names if names.count(each) > 1})


def _raw(node: yaml.Node, levels: int) -> object:
    """A value as text, or lists and mappings of text; what is nested deeper only keeps its shape."""
    if isinstance(node, yaml.MappingNode):
        return {_name(name): _raw(value, levels - 1) for name, value in node.value} if levels else {}
    if isinstance(node, yaml.SequenceNode):
        return [_raw(item, levels - 1) for item in node.value] if levels else []
    if _is_null(node):
        return None
    style = node.style if isinstance(node, yaml.ScalarNode) else None
    return str(node.value) if style is None else Quoted(node.value)

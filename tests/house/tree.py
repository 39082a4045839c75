"""The source tree as the house tests see it: read once, without importing it."""

import ast
import subprocess
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

TOP = Path(__file__).resolve().parents[2]
SOURCE = TOP / "src"
PACKAGE = SOURCE / "penstock"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Module:
    """One Python file of the package: its dotted name, its path, its text and its syntax tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def has_code(self) -> bool:
        """Whether anything but a docstring stands in the file."""
        docstrings = 1 if ast.get_docstring(self.tree) is not None else 0
        return len(self.tree.body) > docstrings

    @cache  # noqa: B019  # modules live as long as the tests
    def strings(self) -> set[str]:
        """Every string constant in the file."""
        return {
            node.value
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }

    @cache  # noqa: B019  # modules live as long as the tests
    def imports(self) -> set[str]:
        """Every dotted name the file imports; `from a import b` counts as both `a` and `a.b`."""
        found: set[str] = set()
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                origin = self._origin(node)
                found |= {origin} | {f"{origin}.{alias.name}" for alias in node.names}
        return found

    def _origin(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.name.split(".") if self.is_package else self.name.split(".")[:-1]
        kept = package[: len(package) - node.level + 1]
        return ".".join([*kept, *([node.module] if node.module else [])])


def dotted(path: Path) -> str:
    """The name under which a file of the package is imported."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> tuple[Module, ...]:
    """Every Python file under the package, in path order."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found.append(Module(name=dotted(path), path=path, text=text, tree=ast.parse(text)))
    return tuple(found)


@cache
def committed() -> tuple[Path, ...]:
    """Every file git knows of and that is still there."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=TOP, check=True, capture_output=True).stdout
    paths = (TOP / name.decode() for name in listing.split(b"\0") if name)
    return tuple(path for path in paths if path.is_file())


@cache
def project() -> dict[str, Any]:
    """The parsed pyproject.toml."""
    return tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))


def place(path: Path, line: int | None = None) -> str:
    """How a failure names a file, so that a terminal can open it."""
    where = path.relative_to(TOP).as_posix()
    return where if line is None else f"{where}:{line}"

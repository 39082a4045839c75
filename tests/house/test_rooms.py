"""The rooms are there, imports between them point down, and no module is lost or nameless."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, TOP, Module, modules, place, project

ROOMS = ("model", "ports", "intake", "work", "pipeline", "answer", "engines", "wiring", "doors", "client")

DRAWERS = frozenset({"utils", "common", "helpers", "base", "manager", "types", "misc"})

# Modules that nothing imports because something outside the package loads them by name: name -> reason.
PLUGINS: dict[str, str] = {}


@pytest.mark.parametrize("room", ROOMS)
def test_room_exists_and_says_what_it_is_for(room: str) -> None:
    """Every room of the house is a package that opens with its purpose."""
    first = (PACKAGE / room / "__init__.py").read_text(encoding="utf-8")

    assert first.startswith('"""')


def test_imports_point_down() -> None:
    """The import contracts in pyproject.toml hold."""
    # Without a cache: test processes that run side by side would write the same one.
    linter = Path(sys.executable).with_name("lint-imports")
    ran = subprocess.run(
        [linter, "--no-cache"],
        cwd=TOP,
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_model_needs_only_the_standard_library() -> None:
    """The model imports nothing but Python itself and the model."""
    foreign = [
        f"{place(module.path)} imports {name}"
        for module in modules()
        if (module.name + ".").startswith("penstock.model.")
        for name in sorted(module.imports())
        if name.split(".")[0] not in sys.stdlib_module_names and not is_within(name, "penstock.model")
    ]

    assert foreign == []


def test_no_module_is_an_orphan() -> None:
    """Every module is imported or named by another one, starts the program, or is a plugin with a reason."""
    starts = {target.split(":")[0] for target in project()["project"]["scripts"].values()}
    known = {"penstock", "penstock.__main__", *starts, *PLUGINS}

    orphans = [
        place(module.path)
        for module in modules()
        if module.has_code and module.name not in known and not is_used(module)
    ]

    assert orphans == []


def test_every_plugin_is_there_and_has_a_reason() -> None:
    """The list of plugins names real modules and says why nothing imports them."""
    names = {module.name for module in modules()}

    assert set(PLUGINS) <= names
    assert all(reason.strip() for reason in PLUGINS.values())


def test_no_module_is_a_drawer() -> None:
    """A module's name says what is in it; drawers collect what nobody placed."""
    drawers = [place(module.path) for module in modules() if DRAWERS & set(module.name.split("."))]

    assert drawers == []


def is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def is_used(module: Module) -> bool:
    """Whether another module imports this one, or names it in full to load it late or in a child process."""
    others = [other for other in modules() if other.name != module.name]
    if module.is_package:
        # Importing anything inside a package runs the package first.
        return any(is_within(name, module.name) for other in others for name in other.imports())
    return any(module.name in other.imports() | other.strings() for other in others)

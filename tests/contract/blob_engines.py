"""The blob stores the contract suite runs on, one line each; a new engine joins by its line."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from penstock.engines.disk import DiskBlobs
from penstock.model.files import BlobHash
from penstock.ports.blobs import Blobs


@dataclass(frozen=True, slots=True)
class BlobEngine:
    """How to open one on a folder, to spoil a blob behind its back, and to list everything it holds."""

    open: Callable[[Path], Blobs]
    spoil: Callable[[Path, BlobHash, bytes], None]
    holds: Callable[[Path], list[str]]


def spoil_disk(folder: Path, digest: BlobHash, data: bytes) -> None:
    path = folder / digest[:2] / digest[2:]
    path.chmod(0o600)
    path.write_bytes(data)


def disk_holds(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


BLOB_ENGINES: dict[str, BlobEngine] = {
    "disk": BlobEngine(DiskBlobs, spoil_disk, disk_holds),
}

"""Which file systems tell this machine about every change: those that no other machine writes to."""

from __future__ import annotations

import os
import re
from pathlib import Path

_TABLE = Path("/proc/self/mountinfo")
_SHARED = frozenset(
    {"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "vboxsf", "vmhgfs", "prl_fs", "virtiofs"}
)


def tells_all_news(folder: Path) -> bool:
    """False where changes made elsewhere, or by a program behind the file system, would go untold."""
    try:
        lines = _TABLE.read_text(errors="surrogateescape").splitlines()
    except OSError:
        return False
    kind = kind_of(os.path.realpath(folder), lines)
    return kind not in _SHARED and not kind.startswith("fuse")


def kind_of(folder: str, lines: list[str]) -> str:
    """The type of the file system a path lies on, by the longest mount point that leads to it."""
    best, kind = -1, ""
    for line in lines:
        before, _, after = line.partition(" - ")
        fields = before.split()
        if len(fields) < 5 or not after:
            continue
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), fields[4])
        inside = folder == point or folder.startswith(point.rstrip("/") + "/")
        # Of two mounts on one point the later hides the earlier.
        if inside and len(point) >= best:
            best, kind = len(point), after.split()[0]
    return kind

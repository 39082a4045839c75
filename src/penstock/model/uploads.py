"""Uploads: documents known by their bytes, whose jobs name a path that is none.

A queue row about a file names an absolute path. An upload has none, so its path is of a form of its own that
says which bytes are meant; it is also what its document is known by. Nobody ever looks for it on a disk. That
a row names some bytes gives it no right to them: they are those of a document of its own tenant, or of the
very job that brought them.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NewType

from penstock.model.catalogue import BlobId, HoldId
from penstock.model.errors import Refused

UploadId = NewType("UploadId", str)

INTERRUPTED = "ERR_UPLOAD_BROKEN_OFF"
HOLD_SECONDS = 6.0
"""How long an upload is its receiver's without a word from him."""
KEPT_SECONDS = 24 * 3600.0
"""How long what became of an upload is kept."""
PREFIX = "/upload:/sha256:"
NAME_BYTES_MAX = 255
"""As long as a file's name may be on most disks."""
_PATH = re.compile(re.escape(PREFIX) + "([0-9a-f]{64})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Uploaded:
    """Bytes somebody sent, kept already, and what they are called."""

    blob: BlobId
    size: int
    name: str
    metadata: Mapping[str, object] = field(default_factory=dict)
    hold: HoldId | None = None
    """What keeps the bytes until the upload is taken in."""
    upload: UploadId | None = None
    """What its owner watches while it is sent."""


def upload_path(blob: BlobId) -> str:
    """What the document of these bytes is known by."""
    return f"{PREFIX}{blob}"


def uploaded_blob(path: str) -> BlobId | None:
    """The bytes a path means; None for a path on a disk."""
    found = _PATH.fullmatch(path)
    return None if found is None else BlobId(found[1])


def upload_name(told: str) -> str:
    """The name of an upload, from whatever its sender called it: no folders, nothing unprintable."""
    last = posixpath.basename(told.replace("\\", "/"))
    shown = "".join(each for each in last if unicodedata.category(each)[0] != "C")
    kept = " ".join(shown.split())
    if kept in ("", ".", ".."):
        raise Refused("an upload needs a name that can be shown", code="ERR_UPLOAD_NAME_INVALID")
    return _shortened(kept)


def _shortened(name: str) -> str:
    """As much as fits, with the ending, which tells how it is read."""
    if len(name.encode()) <= NAME_BYTES_MAX:
        return name
    stem, ending = posixpath.splitext(name)
    if len(ending.encode()) > NAME_BYTES_MAX // 2:
        stem, ending = name, ""
    room = NAME_BYTES_MAX - len(ending.encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip() + ending

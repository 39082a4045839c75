"""What a submit says about how its document is to be treated, kept in the job's metadata.

The three documented options keep their names under `options`; the rest stands beside them. Reading is
lenient: a row written by hand may say nothing of it, or something else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Origin(StrEnum):
    """Which way in a document took; it decides what a missing file means and what becomes of the file."""

    ASKED = "asked"
    """Someone named this very document: a missing file is an error."""
    INCOMING = "incoming"
    """It lay in a collection's own incoming folder, and is moved when it is through."""
    WATCHED = "watched"
    """A watched folder told of it: a missing file is a deleted one."""
    SCANNED = "scanned"
    """A folder, project or library was read: a missing file is a deleted one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How a document is to be treated."""

    origin: Origin = Origin.ASKED
    reindex: bool = False
    """Build the document anew, in the generation being built beside the one that answers."""
    skip_validation: bool = False
    """Take of a damaged file what can still be read."""
    preserve_metadata: bool = True
    """Metadata a document has already stays, under what is given now."""
    rebuild: bool = False
    """Build the document anew though nothing changed."""
    document: Mapping[str, object] = field(default_factory=dict)
    """Metadata for the document itself."""
    root: str | None = None
    """The folder, project or library it was found in."""
    mark: str | None = None
    """How the file looked when it was found: equal marks are taken for equal bytes."""
    demanded: bool = False
    """A message named this very file: that it is missing is an error, whichever folder it was to lie in."""

    def as_metadata(self) -> dict[str, object]:
        """As a job's metadata; what is at its default is left out."""
        options: dict[str, object] = {}
        if self.reindex:
            options["reindex"] = True
        if self.skip_validation:
            options["skip_validation"] = True
        if not self.preserve_metadata:
            options["preserve_metadata"] = False
        if self.rebuild:
            options["rebuild"] = True
        told: dict[str, object] = {}
        if options:
            told["options"] = options
        if self.origin is not Origin.ASKED:
            told["origin"] = self.origin.value
        if self.document:
            told["document"] = dict(self.document)
        if self.root is not None:
            told["root"] = self.root
        if self.mark is not None:
            told["mark"] = self.mark
        if self.demanded:
            told["demanded"] = True
        return told


def options_of(metadata_json: str) -> Options:
    """The options in a job's metadata; what is not there, or not what it should be, is at its default."""
    if metadata_json == "{}":
        return Options()
    try:
        told = json.loads(metadata_json)
    except (ValueError, RecursionError):
        return Options()
    if not isinstance(told, dict):
        return Options()
    options = told.get("options")
    options = options if isinstance(options, dict) else {}
    document, root, mark = told.get("document"), told.get("root"), told.get("mark")
    return Options(
        origin=_origin(told.get("origin")),
        reindex=options.get("reindex") is True,
        skip_validation=options.get("skip_validation") is True,
        preserve_metadata=options.get("preserve_metadata") is not False,
        rebuild=options.get("rebuild") is True,
        document=document if isinstance(document, dict) else {},
        root=root if isinstance(root, str) else None,
        mark=mark if isinstance(mark, str) else None,
        demanded=told.get("demanded") is True,
    )


def _origin(told: object) -> Origin:
    try:
        return Origin(str(told))
    except ValueError:
        return Origin.ASKED

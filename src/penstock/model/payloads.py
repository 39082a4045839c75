"""The payload of each item type, with the documented names; a value that exists is legal."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from enum import StrEnum

from penstock.model.errors import Refused

PATH_LENGTH_MAX = 4096
DEPTH_MAX = 64
PATTERNS_MAX = 1000
POINTS_MAX = 100_000
_LABEL = re.compile(r"[\w][\w.+/ -]{0,99}")
_HASH = re.compile(r"sha256:[0-9a-f]{64}")


class ItemType(StrEnum):
    """What kind of thing a job is about."""

    CONTENT = "content"
    FILE = "file"
    FOLDER = "folder"
    PROJECT = "project"
    LIBRARY = "library"
    DELETE_TENANT = "delete_tenant"
    DELETE_DOCUMENT = "delete_document"
    RENAME = "rename"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """Text given directly: a note, a clipping."""

    content: str
    source_type: str = "scratchbook"
    main_tag: str | None = None
    full_tag: str | None = None

    def __post_init__(self) -> None:
        _check_text(self.content, "content")
        _check_label(self.source_type, "source_type")
        _check_encodable(self.main_tag or "", "main_tag")
        _check_encodable(self.full_tag or "", "full_tag")


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file by its path."""

    file_path: str
    file_type: str | None = None
    file_hash: str | None = None
    size_bytes: int | None = None

    def __post_init__(self) -> None:
        check_path(self.file_path, "file_path")
        _check_label(self.file_type, "file_type")
        if self.file_hash is not None and not _HASH.fullmatch(self.file_hash):
            raise _invalid("file_hash must be sha256: and 64 hex digits")
        if self.size_bytes is not None and self.size_bytes < 0:
            raise _invalid("size_bytes must not be negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder whose files become children."""

    folder_path: str
    recursive: bool = True
    recursive_depth: int = 10
    patterns: tuple[str, ...] = ()
    ignore_patterns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_path(self.folder_path, "folder_path")
        if not 0 <= self.recursive_depth <= DEPTH_MAX:
            raise _invalid(f"recursive_depth must be 0 to {DEPTH_MAX}")
        for name, patterns in (("patterns", self.patterns), ("ignore_patterns", self.ignore_patterns)):
            if len(patterns) > PATTERNS_MAX:
                raise _invalid(f"{name} may hold {PATTERNS_MAX} patterns at most")
            for pattern in patterns:
                _check_text(pattern, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """A project's root folder."""

    project_root: str
    git_remote: str | None = None
    project_type: str | None = None

    def __post_init__(self) -> None:
        check_path(self.project_root, "project_root")
        _check_encodable(self.git_remote or "", "git_remote")
        _check_label(self.project_type, "project_type")


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """A library's documentation."""

    library_name: str
    library_version: str = ""
    source_url: str | None = None
    source_path: str | None = None

    def __post_init__(self) -> None:
        _check_text(self.library_name, "library_name")
        _check_encodable(self.library_version, "library_version")
        _check_encodable(self.source_url or "", "source_url")
        if self.source_path is not None:
            check_path(self.source_path, "source_path")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteTenant:
    """Everything a tenant has, gone."""

    tenant_id_to_delete: str
    reason: str = "user_request"

    def __post_init__(self) -> None:
        _check_text(self.tenant_id_to_delete, "tenant_id_to_delete")
        _check_label(self.reason, "reason")


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteDocument:
    """One document, named by id or by path."""

    document_id: str
    point_ids: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_text(self.document_id, "document_id")
        if self.document_id.startswith("/"):
            check_path(self.document_id, "document_id")
        if len(self.point_ids) > POINTS_MAX:
            raise _invalid(f"point_ids may hold {POINTS_MAX} ids at most")
        for point in self.point_ids:
            _check_text(point, "point_ids")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename:
    """A file or folder that moved."""

    old_path: str
    new_path: str
    is_folder: bool = False

    def __post_init__(self) -> None:
        check_path(self.old_path, "old_path")
        check_path(self.new_path, "new_path")
        if self.old_path == self.new_path:
            raise _invalid("old_path and new_path are the same")


Payload = Content | File | Folder | Project | Library | DeleteTenant | DeleteDocument | Rename

SHAPES: dict[ItemType, type[Payload]] = {
    ItemType.CONTENT: Content,
    ItemType.FILE: File,
    ItemType.FOLDER: Folder,
    ItemType.PROJECT: Project,
    ItemType.LIBRARY: Library,
    ItemType.DELETE_TENANT: DeleteTenant,
    ItemType.DELETE_DOCUMENT: DeleteDocument,
    ItemType.RENAME: Rename,
}
_TYPES = {shape: item_type for item_type, shape in SHAPES.items()}


def item_type_of(payload: Payload) -> ItemType:
    """The item type a payload belongs to."""
    return _TYPES[type(payload)]


def item_type_named(name: str) -> ItemType:
    """The item type by its documented name."""
    try:
        return ItemType(name)
    except ValueError:
        raise Refused(
            f"item type {name!r} is none of {', '.join(ItemType)}", code="ERR_ITEM_TYPE_UNKNOWN"
        ) from None


def check_path(path: str, field: str) -> None:
    """Refuse what cannot be an absolute path in its plain form."""
    if _is_plain(path):
        return
    _check_text(path, field, code="ERR_PATH_INVALID")
    if "\0" in path:
        raise Refused(f"{field} holds a NUL character", code="ERR_PATH_INVALID")
    if not path.startswith("/"):
        raise Refused(f"{field} {path[:80]!r} is not absolute", code="ERR_PATH_INVALID")
    if len(path.encode()) > PATH_LENGTH_MAX:
        raise Refused(f"{field} is longer than {PATH_LENGTH_MAX} bytes", code="ERR_PATH_INVALID")
    if posixpath.normpath(path) != path:
        raise Refused(
            f"{field} {path[:80]!r} is not in its plain form {posixpath.normpath(path)[:80]!r}",
            code="ERR_PATH_INVALID",
        )


def _is_plain(path: str) -> bool:
    """True for most paths there are, at a fraction of the cost of looking closely."""
    return (
        path.isascii()
        and 1 < len(path) <= PATH_LENGTH_MAX
        and path[0] == "/"
        and path[-1] != "/"
        and "//" not in path
        and "/." not in path
        and "\0" not in path
    )


def _check_text(value: str, field: str, code: str = "ERR_PAYLOAD_INVALID") -> None:
    if not value:
        raise Refused(f"{field} is empty", code=code)
    _check_encodable(value, field, code)


def _check_encodable(value: str, field: str, code: str = "ERR_PAYLOAD_INVALID") -> None:
    if value.isascii():
        return
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Refused(f"{field} is not valid text (a name in another encoding?)", code=code) from None


def _check_label(value: str | None, field: str) -> None:
    if value is not None and not _LABEL.fullmatch(value):
        raise _invalid(f"{field} {value[:40]!r} must be a short word")


def _invalid(message: str) -> Refused:
    return Refused(message, code="ERR_PAYLOAD_INVALID")

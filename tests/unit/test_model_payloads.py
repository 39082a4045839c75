"""Payloads: a value that exists is legal, and each refusal carries its code."""

from collections.abc import Callable

import pytest

from penstock.model.errors import Refused
from penstock.model.payloads import (
    DEPTH_MAX,
    PATH_LENGTH_MAX,
    PATTERNS_MAX,
    POINTS_MAX,
    Content,
    DeleteDocument,
    DeleteTenant,
    File,
    Folder,
    Library,
    Payload,
    Project,
    Rename,
)

BAD_PATHS = {
    "empty": "",
    "relative": "data/report.pdf",
    "home": "~/report.pdf",
    "NUL inside": "/data/re\0port.pdf",
    "dots": "/data/../etc/passwd",
    "dots at the end": "/data/..",
    "one dot": "/data/./report.pdf",
    "double slash": "/data//report.pdf",
    "trailing slash": "/data/",
    "one byte too long": "/" + "x" * PATH_LENGTH_MAX,
    "too long in bytes, not in characters": "/" + "ü" * (PATH_LENGTH_MAX // 2),
    "surrogate": "/data/\udcff.pdf",
}
PATH_FIELDS: dict[str, Callable[[str], Payload]] = {
    "file_path": lambda path: File(file_path=path),
    "folder_path": lambda path: Folder(folder_path=path),
    "project_root": lambda path: Project(project_root=path),
    "source_path": lambda path: Library(library_name="lib", source_path=path),
    "old_path": lambda path: Rename(old_path=path, new_path="/new"),
    "new_path": lambda path: Rename(old_path="/old", new_path=path),
}
TOO_MANY_POINTS = ("p",) * (POINTS_MAX + 1)
GOOD_HASH = "sha256:" + "0a" * 32


@pytest.mark.parametrize("field", PATH_FIELDS)
@pytest.mark.parametrize("wrong", BAD_PATHS)
def test_a_path_that_is_not_plain_and_absolute_is_refused(field: str, wrong: str) -> None:
    """Every field that holds a path keeps the same rule, and the refusal names the field."""
    with pytest.raises(Refused, match=field) as refused:
        PATH_FIELDS[field](BAD_PATHS[wrong])
    assert refused.value.code == "ERR_PATH_INVALID"


@pytest.mark.parametrize(
    "path", ["/", "/a", "/data/Grüße 世界.txt", "/data/..hidden", "/" + "x" * (PATH_LENGTH_MAX - 1), "/a\nb"]
)
def test_an_absolute_path_in_its_plain_form_is_taken(path: str) -> None:
    """Spaces, other scripts, odd names and the longest path are all fine."""
    assert File(file_path=path).file_path == path


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: File(file_path="/a", file_hash="sha256:abc"), id="short hash"),
        pytest.param(lambda: File(file_path="/a", file_hash="0a" * 32), id="hash without its name"),
        pytest.param(lambda: File(file_path="/a", file_hash=GOOD_HASH.upper()), id="upper-case hash"),
        pytest.param(lambda: File(file_path="/a", file_hash=GOOD_HASH + "\n"), id="hash and a newline"),
        pytest.param(lambda: File(file_path="/a", size_bytes=-1), id="negative size"),
        pytest.param(lambda: File(file_path="/a", file_type=""), id="empty file type"),
        pytest.param(lambda: File(file_path="/a", file_type="x" * 101), id="long file type"),
        pytest.param(lambda: Folder(folder_path="/a", recursive_depth=-1), id="negative depth"),
        pytest.param(lambda: Folder(folder_path="/a", recursive_depth=DEPTH_MAX + 1), id="too deep"),
        pytest.param(lambda: Folder(folder_path="/a", patterns=("",)), id="empty pattern"),
        pytest.param(lambda: Folder(folder_path="/a", patterns=("*",) * (PATTERNS_MAX + 1)), id="patterns"),
        pytest.param(lambda: Folder(folder_path="/a", ignore_patterns=("\udcff",)), id="pattern no text"),
        pytest.param(lambda: Content(content=""), id="no content"),
        pytest.param(lambda: Content(content="\ud800"), id="content no text"),
        pytest.param(lambda: Content(content="x", source_type="\x00"), id="source type"),
        pytest.param(lambda: Content(content="x", main_tag="\ud800"), id="main tag no text"),
        pytest.param(lambda: Content(content="x", full_tag="\ud800"), id="full tag no text"),
        pytest.param(lambda: Project(project_root="/a", git_remote="\ud800"), id="remote no text"),
        pytest.param(lambda: Library(library_name="x", library_version="\ud800"), id="version no text"),
        pytest.param(lambda: Library(library_name="x", source_url="\ud800"), id="address no text"),
        pytest.param(lambda: DeleteDocument(document_id="x", point_ids=("\ud800",)), id="point no text"),
        pytest.param(lambda: Project(project_root="/a", project_type="\n"), id="project type"),
        pytest.param(lambda: Library(library_name=""), id="nameless library"),
        pytest.param(lambda: DeleteTenant(tenant_id_to_delete=""), id="nameless tenant"),
        pytest.param(lambda: DeleteTenant(tenant_id_to_delete="a", reason=""), id="empty reason"),
        pytest.param(lambda: DeleteDocument(document_id=""), id="nameless document"),
        pytest.param(
            lambda: DeleteDocument(document_id="a", point_ids=("p",) * (POINTS_MAX + 1)), id="points"
        ),
        pytest.param(lambda: Rename(old_path="/a", new_path="/a"), id="rename to itself"),
    ],
)
def test_a_field_that_breaks_its_rule_is_refused(make: Callable[[], Payload]) -> None:
    """Each payload checks its own fields when it is made."""
    with pytest.raises(Refused) as refused:
        make()
    assert refused.value.code == "ERR_PAYLOAD_INVALID"


def test_the_limits_themselves_are_legal() -> None:
    """The last value inside a limit is taken."""
    folder = Folder(folder_path="/a", recursive_depth=DEPTH_MAX, patterns=("*",) * PATTERNS_MAX)

    assert folder.recursive_depth == DEPTH_MAX
    assert File(file_path="/a", file_hash=GOOD_HASH, size_bytes=0).file_hash == GOOD_HASH
    assert Folder(folder_path="/a", recursive_depth=0).recursive_depth == 0


def test_a_document_named_by_a_path_keeps_the_rule_of_paths() -> None:
    """`uuid-or-path`: what starts with a slash must be a plain path."""
    with pytest.raises(Refused) as refused:
        DeleteDocument(document_id="/data/../etc")
    assert refused.value.code == "ERR_PATH_INVALID"
    assert DeleteDocument(document_id="doc-7").document_id == "doc-7"


def test_a_payload_is_frozen() -> None:
    """A legal value cannot become illegal."""
    payload = File(file_path="/a")
    with pytest.raises(AttributeError):
        payload.file_path = "b"  # type: ignore[misc]  # the point of the test

"""What an upload is called, and the path its job names."""

import pytest

from penstock.model.catalogue import BlobId
from penstock.model.payloads import File
from penstock.model.uploads import NAME_BYTES_MAX, upload_name, upload_path, uploaded_blob

BLOB = BlobId("0f" * 32)


@pytest.mark.parametrize(
    ("told", "kept"),
    [
        ("report.pdf", "report.pdf"),
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\Bảng lương.xlsx", "Bảng lương.xlsx"),
        ("a\r\nb\t c\u202e.txt", "ab c.txt"),
        (".gitignore", ".gitignore"),
    ],
)
def test_a_name_is_one_printable_line_without_folders(told: str, kept: str) -> None:
    """Whatever the sender's machine put before it is dropped."""
    assert upload_name(told) == kept


def test_a_long_name_keeps_its_ending() -> None:
    """The ending tells how the file is read; letters are never cut in two."""
    kept = upload_name("ả" * 300 + ".pdf")

    assert kept.endswith("ả.pdf")
    assert len(kept.encode()) <= NAME_BYTES_MAX


def test_the_path_of_an_upload_names_its_bytes() -> None:
    """It is a legal path of a queue row, and no other path is taken for one."""
    path = upload_path(BLOB)

    assert File(file_path=path).file_path == path
    assert uploaded_blob(path) == BLOB
    assert [uploaded_blob(each) for each in (path + "/x", path[:-1], "/srv" + path, path.upper())] == [
        None
    ] * 4

"""Which files were dropped into folders of ours, also where the data folder has another name by now."""

from pathlib import Path

import pytest

from penstock.intake.incoming import SourceFolders
from penstock.model.catalogue import (
    LOCAL_WORKSPACE,
    CollectionId,
    Document,
    DocumentId,
    DocumentState,
    Source,
)
from penstock.model.jobs import TenantId

OURS = SourceFolders(root=Path("/here/data/sources"))


def a_document(path: Path) -> Document:
    """Of the collection `notes`."""
    return Document(
        id=DocumentId("d"),
        tenant=TenantId("local"),
        workspace=LOCAL_WORKSPACE,
        collection=CollectionId(1),
        source=Source.FILE,
        identity=str(path),
        name="a.md",
        state=DocumentState.INGESTED,
        collection_name="notes",
    )


@pytest.mark.parametrize(
    ("path", "took"),
    [
        ("/here/data/sources/notes/incoming/a.md", True),
        ("/here/data/sources/notes/incoming/deep/a.md", True),
        ("/before/store/sources/notes/incoming/a.md", True),
        ("/here/data/sources/others/incoming/a.md", False),
        ("/here/data/sources/notes/processed/a.md", False),
        ("/here/data/sources/notes/incoming/../a.md", False),
        ("/here/notes/incoming/a.md", False),
        ("/here/a.md", False),
    ],
)
def test_a_dropped_file_is_known_by_where_it_lay(path: str, took: bool) -> None:
    """In the incoming folder of its own collection, under whatever name the data folder had then."""
    assert OURS.took(a_document(Path(path))) is took


def test_somebodys_own_folder_is_his_whatever_it_is_called(tmp_path: Path) -> None:
    """What he takes out of it is gone; where the folder itself is gone it may have been ours."""
    file = tmp_path / "sources" / "notes" / "incoming" / "a.md"
    file.parent.mkdir(parents=True)
    assert not OURS.took(a_document(file))

    file.parent.rmdir()
    assert OURS.took(a_document(file))

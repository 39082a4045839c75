"""Which column of a legacy table says what, and what its rows are known by."""

import pytest

from penstock.engines.legacy.layout import Layout, Shape, identity_of, layout_of
from penstock.engines.legacy.query import quoted, read_rows
from penstock.engines.legacy.roles import Role
from penstock.model.payloads import ItemType


def a_layout(*columns: str, item_type: ItemType = ItemType.FILE, **shape: object) -> Layout:
    made = Shape(name="ingestion_queue", columns=columns, **shape)  # type: ignore[arg-type]
    return layout_of(made, "ingestion_queue", item_type)


@pytest.mark.parametrize("name", ["file_path", "file_absolute_path", "absolute_path", "path", "filePath"])
def test_the_path_is_found_under_its_usual_names(name: str) -> None:
    """Every plausible name of the path will do."""
    assert a_layout("id", name).columns[Role.PATH] == name


def test_of_several_names_the_first_declared_is_read() -> None:
    """A table with two candidates is read the same way every time; the other is told as ignored."""
    layout = a_layout("path", "file_absolute_path", "queued_at", "created_at", "shoe_size")

    assert layout.columns[Role.PATH] == "file_absolute_path"
    assert layout.columns[Role.CREATED] == "created_at"
    assert layout.ignored == ("path", "queued_at", "shoe_size")


@pytest.mark.parametrize(
    ("item_type", "columns", "missing"),
    [
        (ItemType.FILE, ("id", "content"), Role.PATH),
        (ItemType.CONTENT, ("id", "file_path"), Role.TEXT),
        (ItemType.FILE, (), Role.PATH),
    ],
)
def test_a_table_that_says_nothing_of_use_tells_what_it_lacks(
    item_type: ItemType, columns: tuple[str, ...], missing: Role
) -> None:
    """Without path or text there is no job to make."""
    assert a_layout(*columns, item_type=item_type).missing == (missing,)


def test_a_table_whose_rows_cannot_be_told_apart_is_not_mapped() -> None:
    """Without a key, and with no name left to ask for row numbers, there is no way through it."""
    layout = a_layout("path", "rowid", "oid", "_rowid_", row_number=None)

    assert layout.missing == (Role.ID,)


@pytest.mark.parametrize(
    ("shape", "identity"),
    [
        (Shape(name="t", columns=("id", "path"), primary_key=("id",)), ("id",)),
        (Shape(name="t", columns=("path", "queue_id"), unique=frozenset({"queue_id"})), ("queue_id",)),
        (Shape(name="t", columns=("path", "queue_id"), primary_key=("path",)), ("path",)),
        (Shape(name="t", columns=("a", "b"), primary_key=("b", "a")), ("b", "a")),
        (Shape(name="t", columns=("id", "path")), ()),
    ],
)
def test_a_row_is_known_by_what_the_file_keeps_unique(shape: Shape, identity: tuple[str, ...]) -> None:
    """An id that only looks like one is not trusted over a declared key."""
    assert identity_of(shape) == identity


def test_an_id_without_doubles_serves_where_nothing_is_declared() -> None:
    """A copy made by CREATE TABLE AS has lost its keys but not its ids."""
    shape = Shape(name="t", columns=("path", "id"))

    assert identity_of(shape, ["id"]) == ("id",)
    assert identity_of(shape, []) == ()


def test_the_text_of_an_error_is_fetched_by_its_id() -> None:
    """Some releases keep only a number with the row."""
    shape = Shape(name="ingestion_queue", columns=("path", "error_message_id"))
    messages = Shape(name="messages", columns=("id", "message"))

    with_text = layout_of(shape, "ingestion_queue", ItemType.FILE, messages=messages)
    without = layout_of(shape, "ingestion_queue", ItemType.FILE)

    assert with_text.errors is not None
    assert '"messages"' in read_rows(with_text)[0]
    assert without.errors is None


def test_every_name_is_quoted() -> None:
    """A name from the file cannot become a part of the statement."""
    nasty = 'x"; DROP TABLE y; --'
    layout = layout_of(
        Shape(name=nasty, columns=("path", nasty), primary_key=(nasty,), row_number=None),
        "ingestion_queue",
        ItemType.FILE,
    )

    assert quoted(nasty) == '"x""; DROP TABLE y; --"'
    for after in ((), (nasty,)):
        query, bound = read_rows(layout, after)
        assert bound == list(after)
        assert query.count(nasty.replace('"', '""')) >= 3
        assert nasty not in query.replace('""', "")

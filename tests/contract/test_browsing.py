"""Looking through documents: clauses L1 to L7."""

from dataclasses import replace

import pytest

from penstock.model.accounts import Workspace
from penstock.model.browsing import PAGE_MAX, Page, Place, Sorting, Total, Wish, place_of
from penstock.model.catalogue import (
    LOCAL_TENANT,
    LOCAL_WORKSPACE,
    DocumentId,
    DocumentState,
    VersionState,
    WorkspaceId,
)
from penstock.model.errors import ErrorClass, Refused
from penstock.model.outcomes import Failed
from penstock.ports.database import Transaction
from tests.contract.engines import Store
from tests.support.cataloguing import (
    admitted,
    blob_of,
    claimed_job,
    declared,
    ingested,
    new_document,
    version_id,
)
from tests.support.clock import FakeClock
from tests.support.jobs import an_error

NEEDS_DATABASE = True
ELSEWHERE = WorkspaceId("00000000-0000-4000-8000-0000000000ff")
NAMES = ("delta", "Alpha", "charlie", "Bravo", "echo", "Zulu", "alpha")
BY_NAME = ("Alpha", "alpha", "Bravo", "charlie", "delta", "echo", "Zulu")


async def filled(store: Store, clock: FakeClock) -> None:
    """Documents of different ages and names, in two collections."""
    for number, name in enumerate(NAMES):
        await ingested(store, f"/{number}/{name}", collection=("one", "two")[number % 2])
        clock.advance(60)


async def read(store: Store, wish: Wish) -> list[str]:
    """The names on all pages, the last place told as text and read again each time."""
    names: list[str] = []
    place: Place | None = None
    while True:
        page = await store.browser.page(LOCAL_WORKSPACE, replace(wish, after=place))
        names += [document.name for document in page.documents]
        if page.ended is None:
            return names
        place = place_of(page.ended.as_text(wish.sorting), wish.sorting)


@pytest.mark.parametrize("descending", [False, True], ids=["up", "down"])
@pytest.mark.parametrize(("limit", "few"), [(1, 0), (2, 1000), (100, 3)])
@pytest.mark.parametrize("state", [None, DocumentState.INGESTED])
@pytest.mark.parametrize("sorting", [Sorting.CREATED, Sorting.UPDATED, Sorting.NAME])
async def test_every_order_is_whole_whatever_the_page(
    store: Store,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
    sorting: Sorting,
    state: DocumentState | None,
    limit: int,
    few: int,
    descending: bool,
) -> None:
    """L1, L2: over collections, each document once, in order; whether those of a state are few or many."""
    monkeypatch.setattr("penstock.engines.sqlite.browsing.FEW", few)
    await filled(store, clock)

    names = await read(store, Wish(sorting=sorting, state=state, limit=limit, descending=descending))

    in_order = BY_NAME if sorting is Sorting.NAME else NAMES
    assert names == list(in_order[::-1] if descending else in_order)


@pytest.mark.parametrize("descending", [False, True], ids=["up", "down"])
async def test_sizes_are_sorted_as_numbers(store: Store, descending: bool) -> None:
    """L1: ten is more than nine; what is not known is nothing."""
    shelf = await store.write(declared)
    await store.write(lambda tx: tx.documents.admit(new_document(shelf.id, "/unknown")))
    for name, size in (("nine", 9), ("hundred", 100), ("ten", 10)):

        def begin(tx: Transaction, name: str = name, size: int = size) -> None:
            document = tx.documents.admit(new_document(shelf.id, f"/{name}"))
            tx.documents.begin(document.id, shelf.generation, blob_of(name), size)

        await store.write(begin)

    names = await read(store, Wish(sorting=Sorting.SIZE, limit=1, descending=descending))

    in_order = ["unknown", "nine", "ten", "hundred"]
    assert names == (in_order[::-1] if descending else in_order)


async def test_wishes_narrow_a_page(store: Store, clock: FakeClock) -> None:
    """L1: by collection, by state, and by a part of the name, Latin letters of either size."""
    await filled(store, clock)
    one = await store.catalogue.collection(LOCAL_WORKSPACE, "one")
    assert one is not None

    by_collection = await read(store, Wish(collection=one.id, descending=False))
    by_name = await read(store, Wish(name_part="ALPH", descending=False, limit=1))
    failed = await read(store, Wish(state=DocumentState.ERROR))

    assert by_collection == ["delta", "charlie", "echo", "alpha"]
    assert by_name == ["Alpha", "alpha"]
    assert failed == []


async def test_a_document_deleted_on_the_way_shifts_nothing(store: Store, clock: FakeClock) -> None:
    """L2: not even the one the page ended at."""
    await filled(store, clock)
    first = await store.browser.page(LOCAL_WORKSPACE, Wish(limit=3, descending=False))
    await store.write(lambda tx: tx.documents.hide(first.documents[-1].id))

    rest = await store.browser.page(LOCAL_WORKSPACE, Wish(limit=9, descending=False, after=first.ended))

    assert [each.name for each in rest.documents] == list(NAMES[3:])


async def test_totals_are_exact_until_they_are_large(
    store: Store, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L4: beyond the limit it is said that there are more, and no further counted."""
    await filled(store, clock)

    exact = await store.browser.total(LOCAL_WORKSPACE, Wish(limit=1))
    named = await store.browser.total(LOCAL_WORKSPACE, Wish(name_part="a", state=DocumentState.INGESTED))
    monkeypatch.setattr("penstock.engines.sqlite.browsing.COUNT_MAX", 5)
    bounded = await store.browser.total(LOCAL_WORKSPACE, Wish())

    assert (exact, named, bounded) == (Total(count=7), Total(count=5), Total(count=5, more=True))


async def test_versions_and_chunks_are_shown(store: Store) -> None:
    """L3, L5: a version with its size and times, its chunks in order with their text."""
    document = await ingested(store, texts=["first", "second", "third"])

    (version,) = await store.browser.versions(LOCAL_WORKSPACE, document.id)
    some = await store.browser.chunks(LOCAL_WORKSPACE, version.id, limit=2)
    rest = await store.browser.chunks(
        LOCAL_WORKSPACE, version.id, after=some[-1].chunk.ordinal, limit=PAGE_MAX * 10
    )

    assert (version.state, version.size, version.chunks) == (VersionState.CURRENT, 100, 3)
    assert version.published_at is not None
    assert [each.text for each in some + rest] == ["first", "second", "third"]
    assert (rest[0].chunk.start, rest[0].chunk.end) == (200, 205)


async def test_another_workspace_sees_nothing(store: Store) -> None:
    """L6: whatever ids it has learnt."""
    document = await ingested(store)

    assert await store.browser.page(ELSEWHERE, Wish(collection=document.collection)) == Page()
    assert await store.browser.total(ELSEWHERE, Wish(collection=document.collection)) == Total(count=0)
    assert await store.browser.versions(ELSEWHERE, document.id) == []
    assert await store.browser.chunks(ELSEWHERE, version_id(document)) == []


async def test_what_is_deleted_is_not_shown(store: Store) -> None:
    """L1, L5: neither a hidden document nor its versions and chunks."""
    document = await ingested(store)
    await store.write(lambda tx: tx.documents.hide(document.id))

    assert await store.browser.page(LOCAL_WORKSPACE, Wish()) == Page()
    assert await store.browser.versions(LOCAL_WORKSPACE, document.id) == []
    assert await store.browser.chunks(LOCAL_WORKSPACE, version_id(document)) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "!",
        "bm9uc2Vuc2U",
        "WyJhIl0",
        "WzEsImIiXQ",
        "W" * 5000,
        "WyJcdWQ4MDAiLCJhIl0",
        "WyJuYW1lIiwiXHVkODAwIiwiYSJd",
    ],
)
def test_a_place_that_is_none_is_refused(text: str) -> None:
    """L2: also one of another order."""
    with pytest.raises(Refused) as caught:
        place_of(text, Sorting.NAME)

    assert caught.value.code == "ERR_PLACE_INVALID"


def test_a_place_is_told_and_read_again() -> None:
    """L2: names in any script, and sizes."""
    name = Place(value="Bảng “lương” \u202e", document=DocumentId("d"))
    size = Place(value=12, document=DocumentId("d"))

    assert place_of(name.as_text(Sorting.NAME), Sorting.NAME) == name
    assert place_of(size.as_text(Sorting.SIZE), Sorting.SIZE) == size


@pytest.mark.parametrize("sorting", [Sorting.CREATED, Sorting.UPDATED, Sorting.SIZE])
def test_a_place_of_another_order_is_refused(sorting: Sorting) -> None:
    """L2: a name is no time, though both are texts."""
    place = Place(value="a.txt", document=DocumentId("d")).as_text(Sorting.NAME)

    with pytest.raises(Refused) as caught:
        place_of(place, sorting)

    assert caught.value.code == "ERR_PLACE_INVALID"


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"kind": "tea"}, ["a", "c"]),
        ({"kind": "tea", "year": 2024}, ["a"]),
        ({"year": 2024.0}, ["a", "b"]),
        ({"year": "2024"}, []),
        ({"open": True}, ["a"]),
        ({"open": 1}, ["b"]),
        ({"tags": "x"}, ["b", "c"]),
        ({"gone": None}, ["c"]),
        ({"missing": None}, []),
        ({"kind": "'; DROP TABLE documents; --"}, []),
    ],
)
@pytest.mark.parametrize("state", [None, DocumentState.PENDING], ids=["any", "pending"])
async def test_a_page_is_narrowed_by_metadata(
    store: Store, wanted: dict[str, object], names: list[str], state: DocumentState | None
) -> None:
    """L1, L2, L4, L6: as a search compares, on every page and in the total; never another workspace's."""
    held: dict[str, dict[str, object]] = {
        "a": {"kind": "tea", "year": 2024, "open": True},
        "b": {"kind": "coffee", "year": 2024, "open": 1, "tags": ["x", "y"]},
        "c": {"kind": "tea", "year": 2023, "tags": ["x"], "gone": None},
        "d": {},
    }
    user = "11111111-1111-4111-8111-111111111111"

    def work(tx: Transaction) -> Workspace:
        shelf = tx.shelves.declare(LOCAL_WORKSPACE, "notes", recipe_json="{}")
        for name, metadata in held.items():
            new = new_document(shelf.id, f"/{name}", LOCAL_TENANT)
            tx.documents.admit(replace(new, metadata=metadata))
        tx.accounts.sign_in(user)
        return tx.accounts.open(user, "theirs")

    theirs = await store.write(work)
    wish = Wish(metadata=wanted, state=state, sorting=Sorting.NAME, descending=False, limit=1)

    assert await read(store, wish) == names
    assert await store.browser.total(LOCAL_WORKSPACE, wish) == Total(count=len(names))
    assert (await store.browser.page(theirs.id, wish)).documents == ()
    assert await store.browser.total(theirs.id, wish) == Total(count=0)


async def test_rare_metadata_is_found_behind_many_documents(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L2: portion by portion, in every order, the last as well as the first."""
    monkeypatch.setattr("penstock.engines.sqlite.browsing.PORTION", 3)

    def work(tx: Transaction) -> None:
        shelf = tx.shelves.declare(LOCAL_WORKSPACE, "notes", recipe_json="{}")
        for number in range(20):
            new = new_document(shelf.id, f"/{number:02}", LOCAL_TENANT)
            tx.documents.admit(replace(new, metadata={"rare": number % 9 == 0}))

    await store.write(work)

    for sorting in Sorting:
        for descending in (False, True):
            wish = Wish(metadata={"rare": True}, sorting=sorting, descending=descending, limit=2)
            assert sorted(await read(store, wish)) == ["00", "09", "18"]
            assert await store.browser.total(LOCAL_WORKSPACE, wish) == Total(count=3)


async def test_documents_in_error_are_taken_by_their_code(store: Store) -> None:
    """L6, L7: each once, however many are taken at a time, and none of another workspace."""
    await ingested(store, "/fine.txt")
    for name, code in {"a": "ERR_X", "b": "ERR_Y", "c": "ERR_X", "d": "ERR_Y", "e": "ERR_X"}.items():
        await admitted(store, f"/{name}.txt")
        lease = await claimed_job(store.queue)
        await store.queue.settle([(lease, Failed(an_error(code, "no", ErrorClass.PERMANENT)))])
    await admitted(store, "/waiting.txt")

    async def names(code: str | None, limit: int) -> list[str]:
        found = await store.browser.failed(LOCAL_WORKSPACE, code=code, limit=limit)
        every = list(found)
        while found:
            found = await store.browser.failed(LOCAL_WORKSPACE, code=code, after=every[-1], limit=limit)
            every += found
        return [document.name.removesuffix(".txt") for document in every]

    for limit in (1, 2, 100):
        assert await names("ERR_X", limit) == ["a", "c", "e"]
        assert await names("ERR_Y", limit) == ["b", "d"]
        assert await names(None, limit) == ["a", "b", "c", "d", "e"]
    assert await names("ERR_Z", 100) == []
    assert await store.browser.failed(ELSEWHERE) == []
    (one, *_) = await store.browser.failed(LOCAL_WORKSPACE)
    assert len(await store.browser.failed(LOCAL_WORKSPACE, collection=one.collection)) == 5
    other = await store.write(lambda tx: tx.shelves.declare(LOCAL_WORKSPACE, "other", recipe_json="{}"))
    assert await store.browser.failed(LOCAL_WORKSPACE, collection=other.id) == []

"""Looking through documents, on SQLite.

Each order has an index by collection. A page of one collection is a range of it; a page of a whole workspace
is a merge of such ranges, each read only as far as the page needs it. The few documents of a rare state, such
as those in error, are not looked for among all the others: they are taken by their state and sorted.
"""

from __future__ import annotations

import heapq
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from penstock.engines.sqlite.access import Access
from penstock.engines.sqlite.records import collection_of, document_of, version_of
from penstock.engines.sqlite.statements import sql
from penstock.engines.sqlite.times import seconds, seconds_or_none
from penstock.model.browsing import (
    COUNT_MAX,
    NAME_PART_CHARACTERS_MAX,
    PAGE_MAX,
    SIZE_MAX,
    Page,
    Place,
    ShownChunk,
    Sorting,
    Total,
    Wish,
)
from penstock.model.catalogue import (
    CollectionId,
    Document,
    DocumentId,
    DocumentState,
    Version,
    VersionId,
    WorkspaceId,
)
from penstock.model.chunks import Chunk
from penstock.model.errors import Refused
from penstock.model.stored_json import stored_words

_UP = {
    Sorting.CREATED: "browse_created",
    Sorting.UPDATED: "browse_updated",
    Sorting.NAME: "browse_name",
    Sorting.SIZE: "browse_size",
}
_DOWN = {
    Sorting.CREATED: "browse_created_down",
    Sorting.UPDATED: "browse_updated_down",
    Sorting.NAME: "browse_name_down",
    Sorting.SIZE: "browse_size_down",
}
_COLUMNS = {Sorting.CREATED: 0, Sorting.UPDATED: 1, Sorting.NAME: 2, Sorting.SIZE: 3}
"""Where rows of `browse_state` hold what they may be sorted by."""
PORTION = 500
"""Documents whose metadata is looked at together."""
FEW = 1_000
"""So many documents of a collection are sorted for a page rather than looked for."""
_LAST = "\U0010ffff"
"""Sorts after every time, name and id."""
_SMALL = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
"""Letters as SQLite's lower() and NOCASE fold them."""
Row = tuple[Any, ...]


class SqliteBrowser:
    """Looks beside the writer."""

    def __init__(self, store: Access) -> None:
        self._store = store

    async def page(self, workspace: WorkspaceId, wish: Wish) -> Page:
        """Some documents (L1 to L3)."""
        return await self._store.look(lambda db: _page(db, workspace, wish))

    async def total(self, workspace: WorkspaceId, wish: Wish) -> Total:
        """How many a wish is met by, on all its pages (L4)."""
        return await self._store.look(lambda db: _total(db, workspace, wish))

    async def failed(
        self,
        workspace: WorkspaceId,
        *,
        collection: CollectionId | None = None,
        code: str | None = None,
        after: Document | None = None,
        limit: int = 1_000,
    ) -> list[Document]:
        """Documents in error, by collection and identity, behind one of them (L6, L7)."""
        where = {
            "workspace": workspace,
            "collection": collection,
            "after": None if after is None else after.id,
            "after_collection": "" if after is None else after.collection_name,
            "after_identity": "" if after is None else after.identity,
            "limit": limit,
        }
        statement = "browse_failed" if code is None else "browse_failed_code"
        asked = where if code is None else {**where, "code": code}
        rows = await self._store.look(lambda db: db.execute(sql(statement), asked).fetchall())
        return [document_of(row) for row in rows]

    async def versions(self, workspace: WorkspaceId, document: DocumentId) -> list[Version]:
        """A document's versions that are seen or being built, newest first (L6)."""
        where = {"workspace": workspace, "document": document}
        rows = await self._store.look(lambda db: db.execute(sql("browse_versions"), where).fetchall())
        return [_version_of(row) for row in rows]

    async def chunks(
        self, workspace: WorkspaceId, version: VersionId, *, after: int = -1, limit: int = 50
    ) -> list[ShownChunk]:
        """Chunks of a version behind an ordinal (L3, L5, L6)."""
        where = {"workspace": workspace, "version": version, "after": after, "limit": _bounded(limit)}
        rows = await self._store.look(lambda db: db.execute(sql("browse_chunks"), where).fetchall())
        return [_chunk_of(row) for row in rows]


def _page(db: sqlite3.Connection, workspace: WorkspaceId, wish: Wish) -> Page:
    limit = _bounded(wish.limit)
    lanes = [_lane(db, collection, wish, limit + 1) for collection in _collections(db, workspace, wish)]
    merged = heapq.merge(*lanes, key=_key(wish), reverse=wish.descending)
    keys = list(islice(merged, limit + 1))
    shown = keys[:limit]
    numbers = json.dumps([number for _, _, number in shown])
    found = {row[24]: document_of(row) for row in db.execute(sql("browse_rows"), {"numbers": numbers})}
    ended = Place(value=shown[-1][0], document=shown[-1][1]) if len(keys) > limit else None
    return Page(documents=tuple(found[number] for _, _, number in shown), ended=ended)


def _lane(db: sqlite3.Connection, collection: CollectionId, wish: Wish, limit: int) -> Iterable[Row]:
    """A collection's part of the page, in order: what it is sorted by, its id, its number."""
    after = wish.after or _edge(wish)
    if wish.state is not None and (few := _few(db, collection, wish)) is not None:
        rest = _behind(few, after, wish)
        return _holding(db, rest, wish) if wish.metadata else rest
    if wish.metadata:
        return _narrowed(db, collection, wish, after)
    return _rows(db, collection, wish, after, limit)


def _rows(
    db: sqlite3.Connection, collection: CollectionId, wish: Wish, after: Place, limit: int
) -> Iterable[Row]:
    names = _DOWN if wish.descending else _UP
    where = _where(collection, wish) | {"value": after.value, "document": after.document, "limit": limit}
    return db.execute(sql(names[wish.sorting]), where)


def _narrowed(db: sqlite3.Connection, collection: CollectionId, wish: Wish, after: Place) -> Iterator[Row]:
    """Those whose metadata holds what is asked for, portion by portion, as far as somebody asks."""
    while rows := list(_rows(db, collection, wish, after, PORTION)):
        yield from _holding(db, rows, wish)
        if len(rows) < PORTION:
            return
        after = Place(value=rows[-1][0], document=rows[-1][1])


def _holding(db: sqlite3.Connection, rows: list[Row], wish: Wish) -> list[Row]:
    where = {
        "numbers": json.dumps([number for _, _, number in rows]),
        "metadata": json.dumps(dict(wish.metadata)),
    }
    kept = {number for (number,) in db.execute(sql("browse_holding"), where)}
    return [row for row in rows if row[2] in kept]


def _few(db: sqlite3.Connection, collection: CollectionId, wish: Wish) -> list[Row] | None:
    """All documents of a state, if they are few."""
    where = _where(collection, wish) | {"limit": FEW + 1}
    rows = db.execute(sql("browse_state"), where).fetchall()
    column = _COLUMNS[wish.sorting]
    return None if len(rows) > FEW else [(row[column], row[4], row[5]) for row in rows]


def _behind(rows: list[Row], after: Place, wish: Wish) -> list[Row]:
    """Those that are sorted behind a place, in order."""
    key, place = _key(wish), (after.value, after.document)
    rest = [row for row in rows if (key(row) < key(place) if wish.descending else key(row) > key(place))]
    return sorted(rest, key=key, reverse=wish.descending)


def _edge(wish: Wish) -> Place:
    """Before the first document of an order."""
    if wish.sorting is Sorting.SIZE:
        return Place(value=SIZE_MAX if wish.descending else -1, document=DocumentId(""))
    return Place(value=_LAST if wish.descending else "", document=DocumentId(""))


def _total(db: sqlite3.Connection, workspace: WorkspaceId, wish: Wish) -> Total:
    found = 0
    for collection in _collections(db, workspace, wish):
        if wish.metadata:
            every = _narrowed(db, collection, wish, _edge(wish))
            found += sum(1 for _ in islice(every, COUNT_MAX + 1 - found))
            if found > COUNT_MAX:
                return Total(count=COUNT_MAX, more=True)
            continue
        for name, where in _counted(collection, wish):
            found += db.execute(sql(name), where | {"limit": COUNT_MAX + 1 - found}).fetchone()[0]
            if found > COUNT_MAX:
                return Total(count=COUNT_MAX, more=True)
    return Total(count=found)


def _counted(collection: CollectionId, wish: Wish) -> list[tuple[str, dict[str, object]]]:
    """What is counted together: all of a name, else each state by itself, which is a range of its index."""
    where = _where(collection, wish)
    if wish.name_part is not None:
        return [("browse_count_named", where)]
    states = list(DocumentState) if wish.state is None else [wish.state]
    return [("browse_count", where | {"state": state}) for state in states]


def _collections(db: sqlite3.Connection, workspace: WorkspaceId, wish: Wish) -> list[CollectionId]:
    """Those of the workspace that are meant; one of another workspace is not there (L6)."""
    every = [collection_of(row).id for row in db.execute(sql("collection_list"), (workspace,)).fetchall()]
    return [each for each in every if wish.collection in (None, each)]


def _where(collection: CollectionId, wish: Wish) -> dict[str, object]:
    if wish.name_part is not None and len(wish.name_part) > NAME_PART_CHARACTERS_MAX:
        raise Refused(
            f"a part of a name has {NAME_PART_CHARACTERS_MAX} characters at most",
            code="ERR_NAME_PART_INVALID",
        )
    name_part = None if wish.name_part is None else wish.name_part.translate(_SMALL)
    return {"collection": collection, "state": wish.state, "name_part": name_part}


def _bounded(limit: int) -> int:
    return max(1, min(limit, PAGE_MAX))


def _key(wish: Wish) -> Callable[[Row], Row]:
    """How rows are compared, in Python as SQLite does."""
    return _by_name if wish.sorting is Sorting.NAME else _as_it_is


def _as_it_is(row: Row) -> Row:
    return row[:2]


def _by_name(row: Row) -> Row:
    return row[0].translate(_SMALL), row[1]


def _version_of(row: Row) -> Version:
    return replace(
        version_of(row[:6]), size=row[6], begun_at=seconds(row[7]), published_at=seconds_or_none(row[8])
    )


def _chunk_of(row: Row) -> ShownChunk:
    chunk = Chunk(
        ordinal=row[0],
        start=row[1],
        end=row[2],
        tokens=row[3],
        page_first=row[4],
        page_last=row[5],
        headings=stored_words(row[6]) or (),
    )
    return ShownChunk(chunk=chunk, text=row[7])

"""The vectors port on Qdrant: a collection for each space, a point for each chunk, by the chunk's number."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Mapping, Sequence
from typing import Protocol, TypeVar

import msgspec

from penstock.engines.qdrant.faults import missing, nonsense
from penstock.engines.qdrant.lying import Lying
from penstock.engines.qdrant.server import Server
from penstock.engines.qdrant.shapes import (
    DENSE,
    INDEXES,
    WORDS,
    Described,
    check,
    name_of,
    shape_of,
    space_named,
)
from penstock.engines.qdrant.sparse import sparse_of
from penstock.model.catalogue import GenerationId, VersionId
from penstock.model.chunks import Vector
from penstock.model.errors import Broken, Refused
from penstock.model.points import Found, Leg, Point, Space, Subject, SubjectKind

T = TypeVar("T")
FLOAT_BYTES = 4
SEARCH_EFFORT = 256
"""How many candidates a graph is searched with; more find more of the true nearest, and cost more."""
SOUGHT = ("version", "generation", "number")
"""What a point must say to be found, and to be known for what it is."""


class Named(Protocol):
    """What tells one database's collections from another's."""

    async def home(self) -> str: ...


class _Record(msgspec.Struct):
    """A point as it lies there; what others put there, or changed, is none of ours."""

    id: int | str
    payload: dict[str, object] | None = None

    @property
    def version(self) -> VersionId | None:
        """The version it says it is of; None where it does not say all that searching needs."""
        said = self.payload or {}
        version, generation, number = (said.get(name) for name in SOUGHT)
        if not isinstance(self.id, int) or not isinstance(generation, str) or not isinstance(number, int):
            return None
        return VersionId(version) if isinstance(version, int) else None


class _Scored(msgspec.Struct):
    id: int | str
    score: float
    payload: dict[str, object] | None = None


class _Answer(msgspec.Struct):
    points: list[_Scored]


class _Numbered(msgspec.Struct):
    id: int | str


class _Page(msgspec.Struct):
    points: list[_Numbered]


class _Count(msgspec.Struct):
    count: int


class _Named(msgspec.Struct):
    name: str


class _Names(msgspec.Struct):
    collections: list[_Named]


class QdrantVectors:
    """Keeps points on one server; what another database keeps there is never touched."""

    def __init__(self, server: Server, database: Named) -> None:
        self._server = server
        self._database = database
        self._ready: set[Space] = set()
        self._making = asyncio.Lock()

    async def put(self, space: Space, points: Sequence[Point]) -> None:
        """Store points; the collection is made if need be, also if it vanished meanwhile."""
        if not points:
            return
        body = {"points": [_put(space, point) for point in points]}
        name = await self._name(space)
        for _ in range(2):
            await self._ensure(space, name)
            if await self._server.call("PUT", f"/collections/{name}/points?wait=true", body) is not None:
                return
            self._ready.discard(space)
        raise missing(name)

    async def nearest(self, space: Space, legs: Sequence[Leg]) -> list[list[Found]]:
        """The best points of each leg, asked in one call."""
        name = await self._name(space)
        body = {"searches": [_search(space, leg) for leg in legs]}
        told = await self._server.call("POST", f"/collections/{name}/points/query/batch", body)
        if told is None:
            raise missing(name)
        return [
            [found for at in each.points if (found := _found(at)) is not None]
            for each in _read(told, list[_Answer])
        ]

    async def spaces(self) -> list[Space]:
        """Those that are there, of this database."""
        home = await self._database.home()
        told = _read(await self._server.call("GET", "/collections"), _Names)
        found = (space_named(home, each.name) for each in told.collections)
        return sorted(filter(None, found), key=lambda space: (space.recipe, space.dimension))

    async def count(self, space: Space) -> int:
        """How many points a space has."""
        path = f"/collections/{await self._name(space)}/points/count"
        told = await self._server.call("POST", path, {"exact": True})
        return 0 if told is None else _read(told, _Count).count

    async def page(
        self, space: Space, *, subject: Subject | None = None, after: int = 0, limit: int = 1000
    ) -> list[int]:
        """The numbers of points higher than `after`, in order."""
        name = await self._name(space)
        body: dict[str, object] = {
            "offset": after + 1,
            "limit": limit,
            "with_payload": False,
            "with_vector": False,
        }
        if subject is not None:
            body["filter"] = {"must": [_subject(subject)]}
        told = await self._server.call("POST", f"/collections/{name}/points/scroll", body)
        points = [] if told is None else _read(told, _Page).points
        return [each.id for each in points if isinstance(each.id, int)]

    async def known(self, space: Space, chunks: Sequence[int]) -> Mapping[int, VersionId]:
        """Which of these points are there, and of which version each is."""
        name = await self._name(space)
        body = {"ids": list(chunks), "with_payload": list(SOUGHT), "with_vector": False}
        told = await self._server.call("POST", f"/collections/{name}/points", body)
        records = [] if told is None else _read(told, list[_Record])
        return {int(each.id): each.version for each in records if each.version is not None}

    async def differing(self, space: Space, points: Sequence[Point]) -> list[int]:
        """Which of these points are there and are not as they are given."""
        name = await self._name(space)
        body = {"ids": [point.chunk for point in points], "with_payload": True, "with_vector": True}
        told = await self._server.call("POST", f"/collections/{name}/points", body)
        there = {each.id: each for each in ([] if told is None else _read(told, list[Lying]))}
        return [
            point.chunk
            for point in points
            if (found := there.get(point.chunk)) is not None
            and len(point.vector) == space.dimension * FLOAT_BYTES
            and not _is_alike(space, found, point)
        ]

    async def remove(self, space: Space, chunks: Sequence[int]) -> None:
        """Remove points by number; where there is no collection there is nothing to remove."""
        name = await self._name(space)
        body = {"points": list(chunks)}
        await self._server.call("POST", f"/collections/{name}/points/delete?wait=true", body)

    async def drop(self, space: Space) -> None:
        """Remove the collection of a space."""
        self._ready.discard(space)
        await self._server.call("DELETE", f"/collections/{await self._name(space)}")

    async def close(self) -> None:
        """Let go of the connections."""
        await self._server.close()

    async def _name(self, space: Space) -> str:
        return name_of(await self._database.home(), space)

    async def _ensure(self, space: Space, name: str) -> None:
        """See to it that the collection is there, with its indexes and in its shape."""
        async with self._making:
            if space in self._ready:
                return
            found = await self._described(name)
            if found is None:
                await self._make(space, name)
                found = await self._described(name)
            if found is None:
                raise missing(name)
            check(name, space, found)
            for field in INDEXES.keys() - found.payload_schema.keys():
                body = {"field_name": field, "field_schema": INDEXES[field]}
                await self._server.call("PUT", f"/collections/{name}/index?wait=false", body)
            self._ready.add(space)

    async def _described(self, name: str) -> Described | None:
        told = await self._server.call("GET", f"/collections/{name}")
        return None if told is None else _read(told, Described)

    async def _make(self, space: Space, name: str) -> None:
        try:
            await self._server.call("PUT", f"/collections/{name}", shape_of(space))
        except Refused:
            # Another process may have made it meanwhile, or an answer was lost: what counts is what is there.
            if await self._described(name) is None:
                raise


def _is_alike(space: Space, lying: Lying, point: Point) -> bool:
    return (
        lying.payload == _payload(point)
        and lying.is_vector(DENSE, _numbers(space, point.vector))
        and lying.is_sparse(WORDS, sparse_of(point.generation, point.words))
    )


def _put(space: Space, point: Point) -> dict[str, object]:
    return {
        "id": point.chunk,
        "vector": {
            DENSE: _numbers(space, point.vector),
            WORDS: sparse_of(point.generation, point.words),
        },
        "payload": _payload(point),
    }


def _payload(point: Point) -> dict[str, object]:
    return {
        "workspace": point.workspace,
        "tenant": point.tenant,
        "collection": point.collection,
        "generation": str(point.generation),
        "document": point.document,
        "number": point.document_number,
        "version": point.version,
    }


def _search(space: Space, leg: Leg) -> dict[str, object]:
    must = [_subject(Subject(kind=SubjectKind.GENERATION, id=str(leg.generation)))]
    if leg.documents is not None:
        must.append({"key": "number", "match": {"any": list(leg.documents)}})
    return {
        **_query(space, leg.generation, leg.vector, leg.words or {}),
        "filter": {"must": must},
        "limit": leg.limit,
        "with_payload": ["version"],
    }


def _query(
    space: Space, generation: GenerationId, vector: Vector | None, words: Mapping[str, float]
) -> dict[str, object]:
    if vector is None:
        return {"query": sparse_of(generation, words), "using": WORDS}
    return {"query": _numbers(space, vector), "using": DENSE, "params": {"hnsw_ef": SEARCH_EFFORT}}


def _found(at: _Scored) -> Found | None:
    version = (at.payload or {}).get("version")
    if not isinstance(at.id, int) or not isinstance(version, int):
        return None
    return Found(chunk=at.id, version=VersionId(version), score=at.score)


def _subject(subject: Subject) -> dict[str, object]:
    value = int(subject.id) if subject.kind is SubjectKind.VERSION else subject.id
    return {"key": subject.kind.value, "match": {"value": value}}


def _numbers(space: Space, vector: Vector) -> list[float]:
    numbers = array("f", vector)
    if len(numbers) != space.dimension:
        told = f"a vector has {len(numbers)} numbers where {space.dimension} are due"
        raise Broken(told, code="ERR_VECTORS_SHAPE")
    return numbers.tolist()


def _read(told: object, kind: type[T]) -> T:
    try:
        return msgspec.convert(told, kind)
    except msgspec.ValidationError as error:
        raise nonsense(str(error)) from error

"""Vectors outside the database: clauses V1 to V9, on a real Qdrant server."""

import asyncio
import socket
import time
from array import array
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import httpx
import pytest

from penstock.engines.qdrant import QdrantVectors, Server
from penstock.model.catalogue import (
    CollectionId,
    DocumentId,
    GenerationId,
    VersionId,
    WorkspaceId,
)
from penstock.model.chunks import Vector
from penstock.model.errors import Broken, Unavailable
from penstock.model.jobs import TenantId
from penstock.model.points import Leg, Point, Space, Subject, SubjectKind
from penstock.work.breaker import BreakerRules, Breakers
from tests.support.cataloguing import vector, vector_of
from tests.support.clock import FakeClock
from tests.support.servers.qdrant import a_qdrant, qdrant_url
from tests.support.stalls import Machine

__all__ = ["qdrant_url"]

SPACE = Space(recipe="0123456789abcdef", dimension=4)
ONE, TWO = GenerationId(1), GenerationId(2)


class AHome:
    """A database's name, and nothing else of it."""

    def __init__(self) -> None:
        self.name = uuid4().hex[:16]

    async def home(self) -> str:
        return self.name


@pytest.fixture
def name() -> AHome:
    return AHome()


@pytest.fixture
async def vectors(qdrant_url: str, name: AHome) -> AsyncIterator[QdrantVectors]:
    opened = at(qdrant_url, name)
    yield opened
    await opened.close()


def at(url: str, name: AHome, *, timeout: float = 10.0) -> QdrantVectors:
    return QdrantVectors(Server(url, timeout=timeout), name)


def a_point(chunk: int, *, version: int = 7, generation: GenerationId = ONE, **words: float) -> Point:
    return Point(
        chunk=chunk,
        version=VersionId(version),
        generation=generation,
        collection=CollectionId(1),
        document=DocumentId(f"document-{version}"),
        document_number=version,
        tenant=TenantId("local"),
        workspace=WorkspaceId("here"),
        vector=vector_of(str(chunk)),
        words=words,
    )


def near(chunk: int, generation: GenerationId = ONE, limit: int = 10) -> Leg:
    return Leg(generation=generation, vector=vector_of(str(chunk)), limit=limit)


async def test_what_is_put_is_found_at_once_and_once(vectors: QdrantVectors) -> None:
    """V1: also when it is put again, with another version."""
    await vectors.put(SPACE, [a_point(1, fish=1.0), a_point(2)])
    await vectors.put(SPACE, [replace(a_point(1, fish=3.0), version=VersionId(8))])

    dense, words = await vectors.nearest(
        SPACE, [near(1), Leg(generation=ONE, words={"fish": 2.0, "bird": 1.0}, limit=10)]
    )

    assert [(each.chunk, each.version) for each in dense] == [(1, 8), (2, 7)]
    assert dense[0].score == pytest.approx(1.0)
    assert [(each.chunk, each.score) for each in words] == [(1, 6.0)]


async def test_a_generation_sees_itself_alone(vectors: QdrantVectors) -> None:
    """V2: neither by vector nor by word."""
    await vectors.put(SPACE, [a_point(1, fish=1.0), a_point(2, generation=TWO, fish=5.0)])

    dense, words = await vectors.nearest(SPACE, [near(2), Leg(generation=ONE, words={"fish": 1.0}, limit=10)])

    assert [each.chunk for each in dense] == [1]
    assert [(each.chunk, each.score) for each in words] == [(1, 1.0)]


async def test_documents_narrow_a_leg(vectors: QdrantVectors) -> None:
    """V2: before the best are chosen."""
    await vectors.put(SPACE, [a_point(chunk, version=chunk) for chunk in range(1, 21)])

    (found,) = await vectors.nearest(SPACE, [replace(near(3, limit=2), documents=(11, 12, 13))])

    assert {each.chunk for each in found} < {11, 12, 13}
    assert len(found) == 2


async def test_what_is_removed_is_gone(vectors: QdrantVectors) -> None:
    """V3: removing it again, and where nothing ever was, changes nothing."""
    await vectors.remove(SPACE, [1])
    await vectors.put(SPACE, [a_point(1), a_point(2)])

    for _ in range(2):
        await vectors.remove(SPACE, [1, 99])

    assert await vectors.known(SPACE, [1, 2, 99]) == {2: 7}


async def test_what_lies_otherwise_is_told(vectors: QdrantVectors) -> None:
    """V9: vector, words and marks count, the length of a vector does not; what is not there is not told."""
    as_put = [a_point(1, fish=1.5), a_point(2, fish=0.3), a_point(3, fish=2.0), a_point(4)]
    await vectors.put(SPACE, as_put)
    longer = array("f", as_put[0].vector)
    as_given = [
        replace(as_put[0], vector=Vector(array("f", [2 * number for number in longer]).tobytes())),
        replace(as_put[1], vector=vector_of("another")),
        replace(as_put[2], words={"fish": 2.1}),
        replace(as_put[3], tenant=TenantId("another")),
        a_point(5),
    ]

    assert await vectors.differing(SPACE, as_put) == []
    assert await vectors.differing(SPACE, as_given) == [2, 3, 4]


async def test_points_are_paged_by_number(vectors: QdrantVectors) -> None:
    """V4: all of a space, or those of a version, a document or a generation."""
    assert (await vectors.page(SPACE), await vectors.count(SPACE)) == ([], 0)
    await vectors.put(SPACE, [a_point(chunk, version=7 + chunk % 2) for chunk in (300, 1, 20, 4, 1_000_000)])
    await vectors.put(SPACE, [a_point(5, version=9, generation=TWO)])

    assert await vectors.count(SPACE) == 6
    assert await vectors.page(SPACE, limit=3) == [1, 4, 5]
    assert await vectors.page(SPACE, after=5, limit=3) == [20, 300, 1_000_000]
    for kind, whose, expected in (
        (SubjectKind.VERSION, "8", [1]),
        (SubjectKind.DOCUMENT, "document-7", [4, 20, 300, 1_000_000]),
        (SubjectKind.GENERATION, "2", [5]),
    ):
        assert await vectors.page(SPACE, subject=Subject(kind=kind, id=whose)) == expected


async def test_what_others_did_to_points_is_no_end_of_it(vectors: QdrantVectors, qdrant_url: str) -> None:
    """V4: a point that no longer says what it is counts as not there; one of no number is nobody's."""
    await vectors.put(SPACE, [a_point(1), a_point(2)])
    async with httpx.AsyncClient(base_url=qdrant_url) as line:
        listed = (await line.get("/collections")).json()["result"]["collections"]
        home = await vectors._database.home()
        (place,) = [f"/collections/{each['name']}/points" for each in listed if home in each["name"]]
        await line.post(f"{place}/payload/clear?wait=true", json={"points": [2]})
        stray = {"id": str(uuid4()), "vector": {}, "payload": {"generation": str(ONE)}}
        (await line.put(f"{place}?wait=true", json={"points": [stray]})).raise_for_status()

    assert await vectors.known(SPACE, [1, 2]) == {1: VersionId(7)}
    assert await vectors.page(SPACE) == [1, 2]
    assert [found.chunk for found in (await vectors.nearest(SPACE, [near(1)]))[0]] == [1]

    await vectors.put(SPACE, [a_point(2)])
    assert set(await vectors.known(SPACE, [1, 2])) == {1, 2}


async def test_a_space_that_is_not_there_is_told(vectors: QdrantVectors) -> None:
    """V5: asking says what to do; putting makes it, also after somebody removed it."""
    with pytest.raises(Broken, match="fsck --repair") as caught:
        await vectors.nearest(SPACE, [near(1)])
    assert caught.value.code == "ERR_VECTORS_MISSING"

    await vectors.put(SPACE, [a_point(1)])
    assert await vectors.spaces() == [SPACE]


async def test_a_space_that_vanished_is_made_again(
    vectors: QdrantVectors, qdrant_url: str, name: AHome
) -> None:
    """V5: by whoever puts next."""
    await vectors.put(SPACE, [a_point(1)])
    async with httpx.AsyncClient(base_url=qdrant_url, trust_env=False) as server:
        await server.delete(f"/collections/penstock_{name.name}_{SPACE.recipe}_4")

    await vectors.put(SPACE, [a_point(2)])

    assert await vectors.page(SPACE) == [2]


async def test_a_space_that_was_dropped_is_gone_and_made_again(
    vectors: QdrantVectors, qdrant_url: str, name: AHome
) -> None:
    """V8: by whoever puts next, also by one who had it before; dropping it twice changes nothing."""
    other = at(qdrant_url, name)
    await other.put(SPACE, [a_point(1)])

    for _ in range(2):
        await vectors.drop(SPACE)

    assert await vectors.spaces() == []
    await other.put(SPACE, [a_point(2)])
    assert await vectors.page(SPACE) == [2]
    await other.close()


async def test_two_that_make_a_space_at_once_make_one(qdrant_url: str, name: AHome) -> None:
    """V5: whichever is first."""
    several = [at(qdrant_url, name) for _ in range(4)]
    await asyncio.gather(*(each.put(SPACE, [a_point(number)]) for number, each in enumerate(several, 1)))

    assert await several[0].page(SPACE) == [1, 2, 3, 4]
    for each in several:
        await each.close()


async def test_another_database_is_not_there(vectors: QdrantVectors, qdrant_url: str) -> None:
    """V5: two databases on one server never meet."""
    other = at(qdrant_url, AHome())
    await vectors.put(SPACE, [a_point(1)])

    assert await other.spaces() == []
    assert await other.page(SPACE) == []
    await other.close()


async def test_a_vector_of_another_length_is_refused(vectors: QdrantVectors) -> None:
    """V6: before anything is sent."""
    with pytest.raises(Broken) as caught:
        await vectors.put(replace(SPACE, dimension=3), [replace(a_point(1), vector=vector(1, 2))])
    assert caught.value.code == "ERR_VECTORS_SHAPE"


async def test_a_space_of_another_shape_is_refused(
    vectors: QdrantVectors, qdrant_url: str, name: AHome
) -> None:
    """V6: a collection under our name that holds something else is told, not filled."""
    async with httpx.AsyncClient(base_url=qdrant_url, trust_env=False) as server:
        shape = {"vectors": {"dense": {"size": 8, "distance": "Dot"}}}
        await server.put(f"/collections/penstock_{name.name}_{SPACE.recipe}_4", json=shape)

    with pytest.raises(Unavailable, match="8 numbers") as caught:
        await vectors.put(SPACE, [a_point(1)])
    assert caught.value.code == "ERR_VECTORS_SHAPE"


async def test_nobody_there_is_told_within_the_deadline(name: AHome, machine: Machine) -> None:
    """V7: whether nobody listens or nobody answers."""
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        for port, timeout in ((9, 5.0), (deaf.getsockname()[1], 0.3)):
            vectors = at(f"http://127.0.0.1:{port}", name, timeout=timeout)
            begin = time.monotonic()
            with pytest.raises(Unavailable) as caught:
                await vectors.page(SPACE)
            assert caught.value.code == "ERR_VECTORS_DOWN"
            assert time.monotonic() - begin < timeout + 4 + machine.lost(begin)
            await vectors.close()


async def test_a_server_that_is_gone_for_a_moment_costs_nothing(tmp_path: Path, name: AHome) -> None:
    """V7: a call is tried again within its deadline, and what was acknowledged survives a kill."""
    with a_qdrant(tmp_path) as qdrant:
        vectors = at(qdrant.url, name)
        await vectors.put(SPACE, [a_point(1)])
        await asyncio.to_thread(qdrant.restart)

        assert await vectors.page(SPACE) == [1]
        await vectors.close()


async def test_a_key_is_sent_and_a_wrong_one_is_told(tmp_path: Path, name: AHome) -> None:
    """V7: who holds the right key goes on; a wrong one is for a person to mend, so work waits for it."""
    with a_qdrant(tmp_path, SERVICE__API_KEY="right") as qdrant:
        for key, spaces in (("wrong", None), ("right", [SPACE])):
            vectors = QdrantVectors(Server(qdrant.url, key=key), name)
            if spaces is None:
                with pytest.raises(Unavailable) as caught:
                    await vectors.put(SPACE, [a_point(1)])
                assert caught.value.code == "ERR_VECTORS_KEY"
            else:
                await vectors.put(SPACE, [a_point(1)])
                assert await vectors.spaces() == spaces
            await vectors.close()


@pytest.mark.parametrize("listens", [False, True], ids=["nobody listens", "nobody answers"])
async def test_a_server_that_fails_too_often_is_left_alone(name: AHome, listens: bool) -> None:
    """V7: the breaker stands before every call."""
    breakers = Breakers(FakeClock(), BreakerRules(min_samples=2))
    with socket.create_server(("127.0.0.1", 0)) as deaf:
        port = deaf.getsockname()[1] if listens else 9
        server = Server(f"http://127.0.0.1:{port}", timeout=0.3, guard=breakers.of("Qdrant"))
        vectors = QdrantVectors(server, name)
        codes = []
        for _ in range(3):
            with pytest.raises(Unavailable) as caught:
                await vectors.page(SPACE)
            codes.append(caught.value.code)
        await vectors.close()

    assert codes == ["ERR_VECTORS_DOWN", "ERR_VECTORS_DOWN", "ERR_BREAKER_OPEN"]

"""Embedding by an endpoint: what it refuses, how it fails, and what of its answers is believed (E1 to E5)."""

import asyncio
import math
import struct
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from email.utils import formatdate

import pytest

from penstock.engines.openai import Endpoint, EndpointEmbedder, Role
from penstock.model.chunks import Piece, Vector
from penstock.model.errors import Broken, Fault, Refused, Unavailable
from penstock.pipeline.embed import EmbeddingDesk
from penstock.ports.embedder import Oversized, embedded
from tests.support.clock import FakeClock
from tests.support.endpoint import (
    DIMENSION,
    FakeEndpoint,
    Reply,
    Request,
    embeddings,
    fake_endpoint,
    numbers_of,
    refusal,
    usual,
)

KEY = "sk-very-secret"


@asynccontextmanager
async def embedder_of(
    url: str, *, batch: int = 8, dimension: int | None = None, timeout: float = 10.0
) -> AsyncIterator[EndpointEmbedder]:
    clock = FakeClock()
    access = Endpoint(Role.EMBEDDER, url, clock=clock, timeout=timeout, key=KEY)
    embedder = EndpointEmbedder(access, "small", batch=batch, calls=2, dimension=dimension)
    try:
        yield embedder
    finally:
        await embedder.close()


def pieces(*texts: str) -> list[Piece]:
    return [Piece(text=text) for text in texts]


async def fate_by(desk: EmbeddingDesk, text: str) -> None:
    async with aclosing(desk.embed(pieces(text))) as batches:
        async for _ in batches:
            pass


def numbers(vector: Vector) -> list[float]:
    return [number for (number,) in struct.iter_unpack("<f", vector)]


def expected(text: str) -> list[float]:
    raw = numbers_of(text)
    length = math.sqrt(sum(number * number for number in raw))
    return [number / length for number in raw]


async def fault_of(url: str, *texts: str) -> Fault:
    async with embedder_of(url) as embedder:
        with pytest.raises(Fault) as raised:
            await embedder.embed(pieces(*(texts or ("a",))))
    assert KEY not in str(raised.value)
    assert KEY not in repr(raised.value)
    return raised.value


async def test_vectors_come_in_order_at_length_one(endpoint: FakeEndpoint) -> None:
    """E1: each text gets its own vector, scaled to length one, and the key is sent as a bearer's."""
    async with embedder_of(endpoint.url) as embedder:
        vectors = await embedder.embed(pieces("a", "b", "c"))

        assert [numbers(vector) for vector in vectors] == [
            pytest.approx(expected(text), abs=1e-6) for text in "abc"
        ]
        assert embedder.dimension == DIMENSION
        assert embedder.model == "endpoint:small"
    (request,) = endpoint.requests
    assert request.path == "/v1/embeddings"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["model"] == "small"


async def test_a_wanted_dimension_is_asked_for(endpoint: FakeEndpoint) -> None:
    """A configured dimension goes with the request and into the model's name."""
    async with embedder_of(endpoint.url, dimension=DIMENSION) as embedder:
        await embedder.embed(pieces("a"))

        assert embedder.model == f"endpoint:small:{DIMENSION}"
    assert endpoint.requests[0].body["dimensions"] == DIMENSION


async def test_order_is_that_of_the_indexes(endpoint: FakeEndpoint) -> None:
    """Embeddings that come in another order are put right by their indexes."""
    body = embeddings([numbers_of("a"), numbers_of("b")])
    body["data"] = list(reversed(body["data"]))  # type: ignore[call-overload]
    endpoint.script.append(Reply(body=body))
    async with embedder_of(endpoint.url) as embedder:
        vectors = await embedder.embed(pieces("a", "b"))

    assert numbers(vectors[0]) == pytest.approx(expected("a"), abs=1e-6)


async def test_base64_is_read_too(endpoint: FakeEndpoint) -> None:
    """An endpoint may send little-endian floats in base64, asked or not."""
    endpoint.script.append(Reply(body=embeddings([numbers_of("a")], encoded=True)))
    async with embedder_of(endpoint.url) as embedder:
        (vector,) = await embedder.embed(pieces("a"))

    assert numbers(vector) == pytest.approx(expected("a"), abs=1e-6)


@pytest.mark.parametrize(
    ("given", "path"),
    [
        ("", "/v1/embeddings"),
        ("/v1", "/v1/embeddings"),
        ("/api/v2/", "/api/v2/embeddings"),
        ("/x/embeddings", "/x/embeddings"),
    ],
)
async def test_a_url_may_name_host_root_or_all(endpoint: FakeEndpoint, given: str, path: str) -> None:
    """A bare host means /v1; a root is completed; a whole path is taken as it is."""
    async with embedder_of(endpoint.url.removesuffix("/v1") + given) as embedder:
        await embedder.embed(pieces("a"))

    assert endpoint.requests[0].path == path


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ({"retry_after": "17"}, 17.0),
        ({"retry_after": "junk"}, None),
        ({}, None),
        ({"retry_after": "999999999"}, 86_400.0),
    ],
)
@pytest.mark.parametrize(("status", "code"), [(429, "ERR_EMBEDDER_LIMITED"), (503, "ERR_EMBEDDER_DOWN")])
async def test_limits_tell_how_long_to_wait(
    endpoint: FakeEndpoint, status: int, code: str, header: dict[str, str], seconds: float | None
) -> None:
    """E4: a limit and an outage are Unavailable, with the Retry-After the server gave."""
    endpoint.script.append(refusal(status, **header))

    fault = await fault_of(endpoint.url)

    assert isinstance(fault, Unavailable)
    assert (fault.code, fault.retry_after) == (code, seconds)


async def test_retry_after_may_be_a_date(endpoint: FakeEndpoint) -> None:
    """E4: a date is as good as seconds."""
    endpoint.script.append(refusal(429, retry_after=formatdate(FakeClock().now() + 40, usegmt=True)))

    fault = await fault_of(endpoint.url)

    assert fault.retry_after == pytest.approx(40, abs=1)


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        (400, Refused, "ERR_EMBEDDER_REFUSED"),
        (422, Refused, "ERR_EMBEDDER_REFUSED"),
        (401, Unavailable, "ERR_EMBEDDER_KEY"),
        (403, Unavailable, "ERR_EMBEDDER_KEY"),
        (404, Unavailable, "ERR_EMBEDDER_SETUP"),
        (302, Unavailable, "ERR_EMBEDDER_SETUP"),
    ],
)
async def test_refusals_tell_whose_fault_they_are_and_hide_the_key(
    endpoint: FakeEndpoint, status: int, kind: type[Fault], code: str
) -> None:
    """E4: a text may be refused; a key or an address is not the text's fault, and never repeated."""
    endpoint.script.append(refusal(status, f"wrong: {KEY}", location="http://127.0.0.1:9/"))

    fault = await fault_of(endpoint.url)

    assert isinstance(fault, kind)
    assert fault.code == code
    assert fault.suggestions
    assert str(status) in fault.message


@pytest.mark.parametrize("limit", [1, 3])
@pytest.mark.parametrize(
    "too_large",
    [refusal(413), refusal(400, "too many inputs"), refusal(422, "batch size 8 > maximum allowed 3")],
)
async def test_too_large_a_batch_is_halved(endpoint: FakeEndpoint, limit: int, too_large: Reply) -> None:
    """E6: a batch the endpoint finds too large goes in smaller ones, and the next ones stay small."""

    def answer(request: Request) -> Reply:
        return too_large if len(request.texts) > limit else usual(request)

    endpoint.usual = answer
    texts = [f"text {number}" for number in range(8)]
    async with embedder_of(endpoint.url) as embedder:
        vectors = await embedded(embedder, pieces(*texts))

        assert embedder.batch <= limit
    assert [numbers(vector) for vector in vectors] == [
        pytest.approx(expected(text), abs=1e-6) for text in texts
    ]


async def test_one_text_too_long_is_refused(endpoint: FakeEndpoint) -> None:
    """E3: a single text too long for the endpoint has a code of its own."""
    endpoint.usual = lambda request: refusal(400, "This model's maximum context length is 8192 tokens")

    fault = await fault_of(endpoint.url)

    assert isinstance(fault, Refused)
    assert fault.code == "ERR_TEXT_TOO_LONG"


@pytest.mark.parametrize("place", [0, 3, 7])
async def test_one_text_too_long_makes_no_batch_smaller(endpoint: FakeEndpoint, place: int) -> None:
    """E6: the batch was too large for one text's sake; once that is known, batches are as large again."""

    def answer(request: Request) -> Reply:
        is_long = any(text.startswith("long") for text in request.texts)
        return refusal(400, "maximum context length is 8192 tokens") if is_long else usual(request)

    endpoint.usual = answer
    texts = [f"{'long' if number == place else 'text'} {number}" for number in range(8)]
    async with embedder_of(endpoint.url) as embedder:
        desk = EmbeddingDesk(embedder)
        fates = await asyncio.gather(*(fate_by(desk, text) for text in texts), return_exceptions=True)

        assert embedder.batch == 8
    assert [isinstance(fate, Refused) for fate in fates] == [number == place for number in range(8)]


async def test_a_refused_batch_is_proof_of_nothing_by_itself(endpoint: FakeEndpoint) -> None:
    """E6: batches get smaller when fewer texts have passed, not before."""
    endpoint.usual = lambda request: refusal(413) if len(request.texts) > 4 else usual(request)
    async with embedder_of(endpoint.url) as embedder:
        with pytest.raises(Oversized):
            await embedder.embed(pieces(*"abcdefgh"))
        assert embedder.batch == 8

        await embedder.embed(pieces(*"abcd"))
        assert embedder.batch == 4


GOOD = numbers_of("a")


@pytest.mark.parametrize(
    "body",
    [
        embeddings([]),
        embeddings([GOOD, GOOD]),
        embeddings([[]]),
        embeddings([[0.0] * DIMENSION]),
        b'{"data": [{"index": 0, "embedding": [1e999, 1]}]}',
        b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}',
        {"data": [{"index": 5, "embedding": GOOD}]},
        {"data": [{"index": 0, "embedding": "!!!"}]},
        {"data": [{"index": 0, "embedding": "YWJj"}]},
        {"data": [{"index": 0, "embedding": [None]}]},
        {"data": None},
        [],
        b"<html>hello</html>",
        b"\xff\xfe",
        b"",
    ],
)
async def test_nonsense_is_broken(endpoint: FakeEndpoint, body: object) -> None:
    """E4: what is no embedding of this text is Broken, whatever it is."""
    endpoint.script.append(Reply(body=body))

    fault = await fault_of(endpoint.url)

    assert isinstance(fault, Broken)
    assert fault.code == "ERR_EMBEDDER_ANSWER"


async def test_the_dimension_may_not_change(endpoint: FakeEndpoint) -> None:
    """E1: an endpoint that answers with other dimensions than before is not believed."""
    async with embedder_of(endpoint.url) as embedder:
        await embedder.embed(pieces("a"))
        endpoint.script.append(Reply(body=embeddings([[1.0, 2.0]])))

        with pytest.raises(Broken, match="2 numbers instead of 8"):
            await embedder.embed(pieces("b"))


async def test_silence_ends_at_the_deadline(endpoint: FakeEndpoint) -> None:
    """E4: an endpoint that takes the request and says nothing is down."""
    endpoint.script.append(Reply(parts=(b'{"data": [',), hang=True))
    async with embedder_of(endpoint.url, timeout=0.2) as embedder:
        with pytest.raises(Unavailable) as raised:
            await embedder.embed(pieces("a"))

    assert raised.value.code == "ERR_EMBEDDER_DOWN"


async def test_a_broken_connection_is_an_outage(endpoint: FakeEndpoint) -> None:
    """E4: an answer that breaks off, and a port nobody listens on, are Unavailable."""
    endpoint.script.append(Reply(parts=(b'{"data": [',), cut=True))
    assert (await fault_of(endpoint.url)).code == "ERR_EMBEDDER_DOWN"

    with fake_endpoint() as gone:
        url = gone.url
    assert isinstance(await fault_of(url), Unavailable)


async def test_a_cancelled_call_ends_at_once(endpoint: FakeEndpoint) -> None:
    """E5: cancelling leaves no connection busy; the next call works."""
    endpoint.script.append(Reply(parts=(b"{",), hang=True))
    async with embedder_of(endpoint.url) as embedder:
        call = asyncio.create_task(embedder.embed(pieces("a")))
        await asyncio.to_thread(endpoint.arrived.wait, 10)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        assert len(await embedder.embed(pieces("b"))) == 1

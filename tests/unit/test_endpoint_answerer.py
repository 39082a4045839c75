"""Answering by an endpoint: words as they come, and every way it can fail (A1 to A5)."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from penstock.engines.openai import Endpoint, EndpointAnswerer, Role
from penstock.model.answers import Usage
from penstock.model.errors import Broken, Fault, Refused, Unavailable
from tests.support.clock import FakeClock
from tests.support.endpoint import FakeEndpoint, Reply, chunk, completion, refusal, streamed

KEY = "sk-very-secret"


@asynccontextmanager
async def answerer_of(
    endpoint: FakeEndpoint, *, timeout: float = 10.0, bytes_max: int = 10_000
) -> AsyncIterator[EndpointAnswerer]:
    access = Endpoint(Role.ANSWERER, endpoint.url, clock=FakeClock(), timeout=timeout, key=KEY)
    answerer = EndpointAnswerer(access, "large", tokens=100, bytes_max=bytes_max)
    try:
        yield answerer
    finally:
        await answerer.close()


async def written(answerer: EndpointAnswerer) -> list[str | Usage]:
    async with aclosing(answerer.write("be brief", "what?")) as pieces:
        return [piece async for piece in pieces]


async def fault_of(endpoint: FakeEndpoint, *, timeout: float = 10.0, bytes_max: int = 10_000) -> Fault:
    async with answerer_of(endpoint, timeout=timeout, bytes_max=bytes_max) as answerer:
        with pytest.raises(Fault) as raised:
            await written(answerer)
    assert KEY not in str(raised.value)
    return raised.value


async def test_words_come_in_order_and_usage_last(endpoint: FakeEndpoint) -> None:
    """A1, A2: the pieces are what the model wrote, then what it used."""
    async with answerer_of(endpoint) as answerer:
        pieces = await written(answerer)

    assert pieces == ["The ", "answer ", "is 42.", Usage(prompt_tokens=7, completion_tokens=5)]
    (request,) = endpoint.requests
    assert request.path == "/v1/chat/completions"
    assert request.body["stream"] is True
    assert request.body["messages"] == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "what?"},
    ]


async def test_an_endpoint_that_does_not_stream_answers_in_one_piece(endpoint: FakeEndpoint) -> None:
    """A1: a server that ignores `stream` is understood all the same."""
    endpoint.script.append(Reply(body=completion("All at once.")))
    async with answerer_of(endpoint) as answerer:
        pieces = await written(answerer)

    assert pieces == ["All at once.", Usage(prompt_tokens=7, completion_tokens=5)]


async def test_events_may_be_cut_anywhere(endpoint: FakeEndpoint) -> None:
    """A1: packets end inside events and characters; comments and line ends of any kind pass."""
    whole = b": hello\r\n\r\n" + b"".join(streamed(["Stra\u00dfe ", "\U0001f600"]).parts).replace(
        b"\n", b"\r\n"
    )
    parts = tuple(whole[at : at + 1] for at in range(len(whole)))
    endpoint.script.append(Reply(headers=(("content-type", "text/event-stream"),), parts=parts))
    async with answerer_of(endpoint) as answerer:
        pieces = await written(answerer)

    assert pieces[:-1] == ["Stra\u00dfe ", "\U0001f600"]


@pytest.mark.parametrize("name", ["stream_options", "temperature", "max_tokens"])
async def test_what_an_endpoint_does_not_take_is_left_out(endpoint: FakeEndpoint, name: str) -> None:
    """An optional key the endpoint names in its refusal is dropped, and stays dropped."""
    endpoint.script.append(refusal(400, f"Unsupported parameter: '{name}'"))
    async with answerer_of(endpoint) as answerer:
        assert "is 42." in await written(answerer)
        assert "is 42." in await written(answerer)

    assert [name in request.body for request in endpoint.requests] == [True, False, False]


async def test_an_answer_that_breaks_off_is_an_outage(endpoint: FakeEndpoint) -> None:
    """A3: half an answer is not taken for a whole one, even if the connection ends cleanly."""
    endpoint.script.append(streamed(["half"], cut=True))
    fault = await fault_of(endpoint)
    assert (type(fault), fault.code) == (Unavailable, "ERR_ANSWERER_DOWN")

    whole = streamed(["half"])
    endpoint.script.append(Reply(headers=whole.headers, parts=whole.parts[:2]))
    assert isinstance(await fault_of(endpoint), Unavailable)

    told = f"data: {json.dumps({'error': {'message': 'overloaded'}})}\n\n".encode()
    endpoint.script.append(Reply(headers=whole.headers, parts=(*whole.parts[:2], told)))
    assert isinstance(await fault_of(endpoint), Unavailable)


@pytest.mark.parametrize(
    ("reply", "kind", "code"),
    [
        (refusal(429, retry_after="3"), Unavailable, "ERR_ANSWERER_LIMITED"),
        (refusal(500), Unavailable, "ERR_ANSWERER_DOWN"),
        (refusal(401, KEY), Unavailable, "ERR_ANSWERER_KEY"),
        (refusal(404), Unavailable, "ERR_ANSWERER_SETUP"),
        (refusal(413), Refused, "ERR_ANSWERER_REFUSED"),
        (refusal(400, "maximum context length is 4096"), Refused, "ERR_ANSWERER_REFUSED"),
        (Reply(body={"choices": []}), Broken, "ERR_ANSWERER_ANSWER"),
        (Reply(body=completion(None)), Broken, "ERR_ANSWERER_ANSWER"),
        (Reply(body=b"<html>"), Broken, "ERR_ANSWERER_ANSWER"),
        (
            Reply(headers=(("content-type", "text/event-stream"),), parts=(b"data: {oops\n\n",)),
            Broken,
            "ERR_ANSWERER_ANSWER",
        ),
    ],
)
async def test_faults_have_their_codes(
    endpoint: FakeEndpoint, reply: Reply, kind: type[Fault], code: str
) -> None:
    """A3: whose move it is, and the code that says so."""
    endpoint.script.append(reply)

    fault = await fault_of(endpoint)

    assert isinstance(fault, kind)
    assert fault.code == code
    assert fault.retry_after == (3.0 if reply.status == 429 else None)


async def test_silence_ends_at_the_deadline(endpoint: FakeEndpoint) -> None:
    """A5: an answer that stops coming is over at the deadline, what was said was given."""
    endpoint.script.append(streamed(["slow "], hang=True))
    heard: list[str | Usage] = []
    async with answerer_of(endpoint, timeout=4.0) as answerer:

        async def hear() -> None:
            async for piece in answerer.write("", "what?"):
                heard.append(piece)

        with pytest.raises(Unavailable, match="within"):
            await hear()

    assert heard == ["slow "]


async def test_an_endless_answer_is_cut(endpoint: FakeEndpoint) -> None:
    """A5: more than the limit is not taken, in words, in one line, or in events without words."""
    endpoint.script.append(streamed(["x" * 600] * 4))
    assert (await fault_of(endpoint, bytes_max=1000)).code == "ERR_ANSWERER_ANSWER"

    events = (("content-type", "text/event-stream"),)
    endpoint.script.append(Reply(headers=events, parts=(b"data: " + b"x" * 5000,)))
    assert (await fault_of(endpoint, bytes_max=1000)).code == "ERR_ANSWERER_ANSWER"

    empty = f"data: {json.dumps(chunk({}))}\n\n".encode() * 10
    endpoint.script.append(Reply(headers=events, parts=(empty,) * 50))
    assert (await fault_of(endpoint, bytes_max=1000)).code == "ERR_ANSWERER_ANSWER"


async def test_closing_the_iterator_ends_the_call(endpoint: FakeEndpoint) -> None:
    """A4: whoever stops reading, or is cancelled, leaves nothing running; the next call works."""
    endpoint.script.append(streamed(["one ", "two "], hang=True))
    async with answerer_of(endpoint) as answerer:
        async with aclosing(answerer.write("", "what?")) as pieces:
            assert await anext(pieces) == "one "

        endpoint.arrived.clear()
        endpoint.script.append(streamed([], hang=True))
        call = asyncio.create_task(written(answerer))
        await asyncio.to_thread(endpoint.arrived.wait, 10)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

        assert "is 42." in await written(answerer)

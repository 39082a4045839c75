"""The endpoint the tests talk to speaks as the protocol documents it."""

import json

import httpx

from tests.support.endpoint import fake_endpoint


def test_embeddings_have_the_documented_fields() -> None:
    """A list of embeddings with their indexes, the model and the usage."""
    with fake_endpoint() as endpoint:
        body = httpx.post(
            f"{endpoint.url}/embeddings", json={"model": "m", "input": ["a", "b"]}, trust_env=False
        ).json()

    assert set(body) == {"object", "data", "model", "usage"}
    assert body["object"] == "list"
    assert [set(item) for item in body["data"]] == [{"object", "index", "embedding"}] * 2
    assert [item["index"] for item in body["data"]] == [0, 1]
    assert set(body["usage"]) == {"prompt_tokens", "total_tokens"}


def test_streams_are_server_sent_events_that_end_with_done() -> None:
    """Chunks with deltas, a reason to stop, the usage in a chunk without choices, then [DONE]."""
    with fake_endpoint() as endpoint:
        answer = httpx.post(
            f"{endpoint.url}/chat/completions",
            json={"model": "m", "messages": [], "stream": True},
            trust_env=False,
        )

    events = [event.removeprefix("data: ") for event in answer.text.split("\n\n") if event]
    parts = [json.loads(event) for event in events[:-1]]
    assert answer.headers["content-type"] == "text/event-stream"
    assert events[-1] == "[DONE]"
    assert {part["object"] for part in parts} == {"chat.completion.chunk"}
    assert [part["choices"][0]["finish_reason"] for part in parts[:-1]][-1] == "stop"
    assert parts[-1]["choices"] == []
    assert set(parts[-1]["usage"]) == {"prompt_tokens", "completion_tokens", "total_tokens"}


def test_whole_answers_have_a_message() -> None:
    """Without streaming the answer is one object whose choice has a message."""
    with fake_endpoint() as endpoint:
        body = httpx.post(
            f"{endpoint.url}/chat/completions", json={"model": "m", "messages": []}, trust_env=False
        ).json()

    assert body["object"] == "chat.completion"
    assert set(body["choices"][0]) == {"index", "message", "finish_reason"}
    assert set(body["choices"][0]["message"]) == {"role", "content"}

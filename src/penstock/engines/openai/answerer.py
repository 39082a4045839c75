"""Answers of an endpoint, word by word as they are written."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import TYPE_CHECKING

import msgspec

from penstock.engines.openai.endpoint import Endpoint
from penstock.engines.openai.refusals import Refusal, fault_of_status
from penstock.engines.openai.stream import events
from penstock.model.answers import Usage
from penstock.model.errors import Refused

if TYPE_CHECKING:
    import httpx

LAST_EVENT = "[DONE]"


class _Text(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Text | None = None
    message: _Text | None = None
    finish_reason: str | None = None


class _Used(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0


class _Part(msgspec.Struct):
    """A whole answer, or an event of a streamed one."""

    choices: list[_Choice] = []
    usage: _Used | None = None
    error: object = None


class EndpointAnswerer:
    """Writes answers by an endpoint."""

    def __init__(self, endpoint: Endpoint, name: str, *, tokens: int, bytes_max: int) -> None:
        self.model = name
        self._endpoint = endpoint
        self._bytes_max = bytes_max
        self._extras: dict[str, object] = {
            "stream_options": {"include_usage": True},
            "temperature": 0,
            "max_tokens": tokens,
        }

    async def write(self, instructions: str, question: str) -> AsyncGenerator[str | Usage, None]:
        """What the model writes; an endpoint that does not stream gives it in one piece."""
        messages = [
            {"role": "system", "content": instructions},
            {"role": "user", "content": question},
        ]
        request = {"model": self.model, "messages": messages, "stream": True}
        deadline = asyncio.get_running_loop().time() + self._endpoint.timeout
        while True:
            try:
                async with aclosing(self._asked({**request, **self._extras}, deadline)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except Refused as refused:
                # Endpoints differ in what they take beside the question; what one names as wrong is left out.
                if not self._drop_named(refused):
                    raise

    async def close(self) -> None:
        """Let go of the connections."""
        await self._endpoint.close()

    def _drop_named(self, refused: Refused) -> bool:
        for name in list(self._extras):
            if name in refused.message:
                value = self._extras.pop(name)
                if name == "max_tokens":
                    self._extras["max_completion_tokens"] = value
                return True
        return False

    async def _asked(self, body: dict[str, object], deadline: float) -> AsyncGenerator[str | Usage, None]:
        """One call; every wait ends at the deadline, the caller's own time between them included."""
        call = self._endpoint.call(body)
        try:
            async with asyncio.timeout_at(deadline):
                response = await call.__aenter__()
        except Refusal as refusal:
            role = self._endpoint.role
            raise fault_of_status(role.value, role.name, refusal, None) from refusal
        except TimeoutError as error:
            raise self._endpoint.late() from error
        failed: BaseException | None = None
        try:
            async with aclosing(self._told(response, deadline)) as pieces:
                async for piece in pieces:
                    yield piece
        except BaseException as error:
            failed = error
            raise
        finally:
            await call.__aexit__(type(failed) if failed else None, failed, None)

    async def _told(self, response: httpx.Response, deadline: float) -> AsyncGenerator[str | Usage, None]:
        """The words of an answer, then what it used; Unavailable if it stops before its end."""
        written, ended, usage = 0, False, None
        async with aclosing(self._parts(response)) as parts:
            while (part := await self._next(parts, deadline)) is not None:
                if part.error is not None:
                    raise self._endpoint.broke_off()
                for choice in part.choices[:1]:
                    text = (choice.delta or choice.message or _Text()).content or ""
                    written += len(text.encode())
                    if written > self._bytes_max:
                        raise self._endpoint.nonsense(f"an answer of more than {self._bytes_max} bytes")
                    if text:
                        yield text
                    ended = ended or choice.finish_reason is not None
                usage = part.usage or usage
        if not ended:
            raise self._endpoint.broke_off() if written else self._endpoint.nonsense("no answer in it")
        if not written:
            raise self._endpoint.nonsense("an empty answer")
        if usage is not None:
            yield Usage(prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens)

    async def _next(self, parts: AsyncIterator[_Part], deadline: float) -> _Part | None:
        try:
            async with asyncio.timeout_at(deadline):
                return await anext(parts, None)
        except TimeoutError as error:
            raise self._endpoint.late() from error

    async def _parts(self, response: httpx.Response) -> AsyncGenerator[_Part, None]:
        if "text/event-stream" not in response.headers.get("content-type", ""):
            yield self._part(await self._endpoint.drain(response, self._bytes_max))
            return
        async with aclosing(events(response, self._endpoint, self._bytes_max)) as told:
            async for event in told:
                if event == LAST_EVENT:
                    return
                yield self._part(event)

    def _part(self, content: str | bytes) -> _Part:
        try:
            return msgspec.json.decode(content, type=_Part)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._endpoint.nonsense("no chat completion") from error

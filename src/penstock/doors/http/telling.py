"""An answer that is not kept, told to whoever asks: as a whole, or as its words come.

It is written by a task of its own, which ends with whoever waits for it: a caller who leaves gives his place
back at once. As a stream it is Server-Sent Events, each with `type` and `payload`; what is refused before the
first word is a problem document like any other, what breaks off later is the last of the events.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from penstock.doors.answer_shapes import Answered
from penstock.doors.http.problems import UNFORESEEN, problem, problem_of
from penstock.model.errors import Fault

log = logging.getLogger("penstock.http")
MEDIA = "text/event-stream"
PIECES_MAX = 100
PING_SECONDS = 15.0
PING = b": ping\n\n"

Say = Callable[[str], Awaitable[None]]
Write = Callable[[Say], Awaitable[Answered]]


def wants_stream(request: Request) -> bool:
    """Whether the caller asks for words as they come; who takes anything gets the whole."""
    kinds = [each.partition(";")[0].strip() for each in request.headers.get("accept", "").split(",")]
    return MEDIA in kinds


async def whole(request: Request, write: Write) -> Answered:
    """The answer when it is there; ClientDisconnect where the caller has left before."""
    writing = asyncio.ensure_future(write(_nobody))
    leaving = asyncio.create_task(_until_gone(request.receive))
    try:
        await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not writing.done():
            raise ClientDisconnect
        return writing.result()
    finally:
        await _end(writing, leaving)


async def streamed(request: Request, write: Write) -> Response:
    """A response that tells the words as they come, once there is one to tell; ClientDisconnect as above."""
    telling = _Telling(write)
    await telling.begin(request.receive)
    return _Stream(telling)


class _Telling:
    """One answer on its way."""

    def __init__(self, write: Write) -> None:
        self._write = write
        self._begun = asyncio.Event()
        self.pieces: asyncio.Queue[bytes] = asyncio.Queue(PIECES_MAX)
        """The last one is empty."""
        self.writing = asyncio.create_task(self._run())

    async def begin(self, receive: Receive) -> None:
        """Wait for the first word; raises what is wrong before it, ClientDisconnect where nobody waits."""
        self.writing.add_done_callback(lambda _: self._begun.set())
        beginning = asyncio.create_task(self._begun.wait())
        leaving = asyncio.create_task(_until_gone(receive))
        try:
            await asyncio.wait({beginning, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not self._begun.is_set():
                raise ClientDisconnect
        except BaseException:
            await _end(self.writing)
            raise
        finally:
            await _end(beginning, leaving)
        if self.writing.done():
            self.writing.result()

    async def _run(self) -> None:
        try:
            last = _block("answer", msgspec.json.encode(await self._write(self._say)))
        except Exception as error:
            if not self._begun.is_set():
                raise
            last = _block("problem", bytes(_problem_of(error).body))
        await self.pieces.put(last)
        await self.pieces.put(b"")

    async def _say(self, text: str) -> None:
        if text:
            await self.pieces.put(_block("answer.delta", msgspec.json.encode({"text": text})))
            self._begun.set()


class _Stream(Response):
    """Sends what is told; ends the telling when the other end leaves."""

    media_type = MEDIA

    def __init__(self, telling: _Telling) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._telling = telling

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send until the answer has ended or nobody reads it."""
        sending = asyncio.create_task(self._send_on(send))
        leaving = asyncio.create_task(_until_gone(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await _end(sending, leaving, self._telling.writing)

    async def _send_on(self, send: Send) -> None:
        with contextlib.suppress(OSError):
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            while True:
                piece = PING
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(PING_SECONDS):
                        piece = await self._telling.pieces.get()
                await send({"type": "http.response.body", "body": piece, "more_body": bool(piece)})
                if not piece:
                    return


def _block(kind: str, payload: bytes) -> bytes:
    return b'data: {"type":"%s","payload":%s}\n\n' % (kind.encode(), payload)


def _problem_of(error: Exception) -> Response:
    if isinstance(error, Fault):
        return problem_of(error)
    log.error("an answer failed: %s", type(error).__name__, exc_info=error)
    return problem(500, "ERR_UNEXPECTED", UNFORESEEN)


async def _nobody(text: str) -> None:
    """Waits for the words."""


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _end(*tasks: asyncio.Future[Any]) -> None:
    for each in tasks:
        each.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)

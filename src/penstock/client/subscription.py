"""Events as they happen, over any number of connections.

Number and time of the last event heard are all that is kept: a connection that is lost is made again behind
it, and the server tells what was missed or says that everything is to be read again. So whoever reads sees
each event once and in order, whatever the line does. Nothing runs in the background: frames are taken when
they are asked for, and a reader that stands still for long is cut off by the server and goes on where it
stopped.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import NamedTuple, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from penstock.client.credentials import Credentials
from penstock.client.errors import REFUSAL_STATUS_MIN, UNREACHABLE, PenstockError, problem_of, unreachable
from penstock.client.events import Event, Passing, Ready, Resync, read_frame
from penstock.client.patience import pause_before

OPEN_SECONDS = 10.0
CLOSE_SECONDS = 2.0
PING_SECONDS = 20.0
FRAME_BYTES_MAX = 32 * 1024 * 1024
FINAL = {4400: 400, 4401: 401, 4403: 403}
"""Ends that coming again does not change, with the status a request would have had."""
UNAUTHORIZED = 401
FOR_NOW = frozenset({408, 429})
"""Refusals of a handshake that pass."""


def ended() -> PenstockError:
    """Somebody closed what others still wait on."""
    return PenstockError("the subscription was closed", code=UNREACHABLE)


class Mark(NamedTuple):
    """An event by its number, and by its time where that is known.

    With it the event is known again also where other data were put under the server.
    """

    seq: int
    at: str | None = None

    @classmethod
    def read(cls, text: str) -> Self:
        """As it was written."""
        number, _, at = text.partition("@")
        return cls(int(number), at or None)

    def __str__(self) -> str:
        return str(self.seq) if self.at is None else f"{self.seq}@{self.at}"


class Subscription:
    """An asynchronous iterator of events; for one reader."""

    def __init__(
        self,
        url: str,
        credentials: Credentials,
        *,
        since: int | str | None = None,
        passing: bool = False,
        patience: float | None = None,
        on_close: Callable[[Subscription], object] = lambda _: None,
    ) -> None:
        """`since` is the number of an event, or the bookmark of another subscription.

        `patience` is how many seconds it may hear from nobody before it raises; None is for ever.
        """
        self._given = None if since is None else Mark.read(str(since))
        """The last event that was given, or behind which they begin; None until that is known."""
        self._heard = self._given
        """The last event that was heard: given already, or among those kept."""
        self._url = url
        self._credentials = credentials
        self._passing = passing
        self._patience = patience
        self._on_close = on_close
        self._connection: ClientConnection | None = None
        self._shown: str | None = None
        """The token the connection was made with."""
        self._kept: deque[Event | Passing | Resync] = deque()
        self._attempts = 0
        """Connections lost or not made since something was last heard."""
        self._refusals = 0
        self._alone_since: float | None = None
        """When there was first no connection, by the loop's clock; None once something is heard."""
        self._closed = asyncio.Event()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event | Passing | Resync:
        """The next event, or the word to read everything again."""
        while not self._kept:
            if self._closed.is_set():
                raise StopAsyncIteration
            await self._take()
        happened = self._kept.popleft()
        if not isinstance(happened, Passing):
            self._given = Mark(happened.seq, happened.ts or None)
        return happened

    async def __aenter__(self) -> Self:
        """Begin: whatever happens from here on is given, however late the first event is asked for."""
        try:
            await self.ready()
        except BaseException:  # nobody leaves what nobody entered
            await self.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    @property
    def seq(self) -> int | None:
        """The last event that was given, or behind which they begin; None until that is known."""
        return None if self._given is None else self._given.seq

    @property
    def bookmark(self) -> str | None:
        """With which another subscription goes on behind the last event given; None until that is known."""
        return None if self._given is None else str(self._given)

    async def ready(self) -> None:
        """Wait until whatever happens from now on will be told."""
        while self._heard is None:
            if self._closed.is_set():
                raise ended()
            await self._take()

    async def aclose(self) -> None:
        """End it."""
        self._closed.set()
        self._on_close(self)
        if self._connection is not None:
            await self._connection.close()

    async def _take(self) -> None:
        """Hear one frame, over a new connection if need be."""
        connection = self._connection or await self._connect()
        if connection is None:
            return
        try:
            heard = read_frame(await connection.recv())
        except ConnectionClosed as closed:
            self._connection = None
            await self._lost(closed)
            return
        self._attempts = self._refusals = 0
        self._alone_since = None
        match heard:
            case Event(seq=seq) if self._heard is not None and seq <= self._heard.seq:
                return  # told twice, given once
            case Passing() if not self._passing:
                return
            case Event(seq=seq, ts=at) | Resync(seq=seq, ts=at) | Ready(seq=seq, ts=at):
                self._heard = Mark(seq, at or None)
        match heard:
            case Ready():
                self._given = self._heard
                return
            case Event(seq=seq) if self._given is None:
                self._given = Mark(seq - 1)  # numbers have no gaps
        self._kept.append(heard)

    async def _lost(self, closed: ConnectionClosed) -> None:
        """Raise if coming again is of no use."""
        code, why = (closed.rcvd.code, closed.rcvd.reason) if closed.rcvd else (1006, "")
        if code in FINAL and not (FINAL[code] == UNAUTHORIZED and await self._renewed()):
            raise PenstockError(
                "the server ended the subscription", code=why or "ERR_REFUSED", status=FINAL[code]
            )
        self._attempts += 1
        self._check_patience(unreachable(why or f"it closed with {code}"))

    def _check_patience(self, fault: PenstockError) -> None:
        """Raise the fault if nobody was heard for too long."""
        if self._patience is None or self._alone_since is None:
            return
        if asyncio.get_running_loop().time() - self._alone_since > self._patience:
            raise fault

    async def _renewed(self) -> bool:
        """Whether there is another token to come again with; one that was refused at once ends it."""
        self._refusals += 1
        return self._refusals == 1 and await self._credentials.renew(self._shown)

    async def _connect(self) -> ClientConnection | None:
        """A new connection; None where it was closed meanwhile."""
        if self._alone_since is None:  # a server that lets us in and says nothing is not there either
            self._alone_since = asyncio.get_running_loop().time()
        while True:
            if self._attempts:
                await asyncio.sleep(pause_before(self._attempts - 1))
            if self._closed.is_set():
                return None
            self._shown = self._credentials.token
            try:
                self._connection = await self._open()
            except InvalidStatus as refused:
                reply = refused.response
                fault = problem_of(
                    reply.status_code, bytes(reply.body or b""), reply.headers.get("Retry-After")
                )
                await self._check(fault)
            except (OSError, TimeoutError, WebSocketException) as error:
                fault = unreachable(str(error) or type(error).__name__)
            else:
                if self._closed.is_set():
                    await self._connection.close()
                return self._connection
            self._attempts += 1
            self._check_patience(fault)

    async def _check(self, fault: PenstockError) -> None:
        """Raise what a handshake was refused with, if it is more than a moment's trouble."""
        status = fault.status or 0
        if status == UNAUTHORIZED and await self._renewed():
            return
        if REFUSAL_STATUS_MIN <= status < 500 and status not in FOR_NOW:
            raise fault

    async def _open(self) -> ClientConnection:
        since = "" if self._heard is None else f"?since={self._heard}"
        return await connect(
            self._url + since,
            additional_headers=self._credentials.headers(),
            compression=None,
            open_timeout=OPEN_SECONDS,
            close_timeout=CLOSE_SECONDS,
            ping_interval=PING_SECONDS,
            ping_timeout=PING_SECONDS,
            max_size=FRAME_BYTES_MAX,
        )

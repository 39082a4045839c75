"""From a command's options to a server, and from its words back to ours."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from penstock.client import Penstock, PenstockError
from penstock.doors.cli.given import Elsewhere, Given
from penstock.doors.logs import set_up_logging
from penstock.model.errors import Broken, Fault, Refused, Unavailable

T = TypeVar("T")
TOKEN_BYTES_MAX = 64 * 1024
SIGN_IN = frozenset({401, 403})
WAIT = frozenset({408, 429, 502, 503, 504, 507})
"""Statuses after which the same may be asked again."""


def with_server(given: Given, work: Callable[[Penstock], Awaitable[T]]) -> T:
    """Do the work with the server that was named."""
    named = given.elsewhere()
    if named is None:
        raise Refused("no server is named", code="ERR_CONFIGURATION")
    set_up_logging(given.log_level or "warning")
    try:
        return asyncio.run(_opened(named, work))
    except PenstockError as error:
        raise fault_of(error) from error


async def _opened(named: Elsewhere, work: Callable[[Penstock], Awaitable[T]]) -> T:
    token, file = named.token, named.token_file
    # A file may be written anew while a command waits: it is read again when its token is over.
    refresh = None if file is None else partial(asyncio.to_thread, token_in, file)
    try:
        server = Penstock(
            named.server,
            token=token if file is None else await asyncio.to_thread(token_in, file),
            refresh=refresh,
            workspace=named.workspace,
        )
    except ValueError as error:
        raise Refused(str(error), code="ERR_CONFIGURATION") from error
    async with server:
        return await work(server)


def token_in(path: str) -> str:
    """The token a file holds, alone on its line."""
    try:
        with Path(path).open("rb") as file:
            token = file.read(TOKEN_BYTES_MAX).decode("ascii").strip()
    except OSError as error:
        raise Refused(
            f"the token cannot be read: {error.strerror}: {path}", code="ERR_CONFIGURATION"
        ) from error
    except UnicodeDecodeError:
        token = ""
    if not token or any(map(str.isspace, token)):
        raise Refused(f"{path} holds no token", code="ERR_CONFIGURATION")
    return token


def fault_of(error: PenstockError) -> Fault:
    """What a server told, in our own tree; whoever is not let in may be later, with another token."""
    kind: type[Fault]
    match error.status:
        case None:
            kind = Refused if error.code == "ERR_WORKSPACE_UNNAMED" else Unavailable
        case status if status in SIGN_IN or status in WAIT:
            kind = Unavailable
        case status if status < 500:
            kind = Refused
        case _:
            kind = Broken
    return kind(error.message, code=error.code, retry_after=error.retry_after)

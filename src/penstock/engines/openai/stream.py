"""Server-sent events: the data of each, read line by line within a bound."""

from __future__ import annotations

import codecs
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from penstock.engines.openai.endpoint import Endpoint

if TYPE_CHECKING:
    import httpx

OVERHEAD = 64
"""A word of an answer comes wrapped in some hundred bytes of JSON, so the stream may be so much longer."""


async def events(response: httpx.Response, endpoint: Endpoint, bytes_max: int) -> AsyncGenerator[str, None]:
    """The data of every event; Broken once the stream is far longer than the answer may be."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    rest, data, size = "", list[str](), 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > OVERHEAD * bytes_max:
            raise endpoint.nonsense("the stream does not end")
        lines = (rest + decoder.decode(part)).replace("\r\n", "\n").split("\n")
        rest = lines.pop()
        if len(rest) > bytes_max:
            raise endpoint.nonsense("a line that does not end")
        for line in lines:
            if line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
            elif not line and data:
                yield "\n".join(data)
                data = []
    # Some servers end without the blank line that closes an event.
    if rest.startswith("data:"):
        data.append(rest[5:].strip())
    if data:
        yield "\n".join(data)

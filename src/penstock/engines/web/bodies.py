"""A response's bytes, unpacked and counted as they come: neither form may grow beyond the limit."""

from __future__ import annotations

import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator

from penstock.model.errors import Refused, Unavailable

PIECE_BYTES = 1 << 16
_AUTO = zlib.MAX_WBITS | 32
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})


async def body(raw: AsyncIterator[bytes], encoding: str, limit: int) -> AsyncGenerator[bytes, None]:
    """The document's own bytes."""
    packed = encoding.strip().lower()
    if packed not in {"", "identity", *_PACKED}:
        raise Refused(f"the server packs the document as {packed[:40]!r}", code="ERR_FETCH_REFUSED")
    unpacker = _Unpacker() if packed in _PACKED else None
    came = made = 0
    async for piece in raw:
        came += len(piece)
        for part in unpacker.parts(piece) if unpacker else (piece,):
            made += len(part)
            if max(came, made) > limit:
                raise too_large(limit)
            yield part
    if unpacker is not None:
        unpacker.check_end()


def too_large(limit: int) -> Refused:
    """The sentence for a document over the limit."""
    return Refused(f"the document has more than the limit of {limit} bytes", code="ERR_FETCH_TOO_LARGE")


class _Unpacker:
    """Unpacks in small parts, so that a few bytes that stand for many are noticed in time."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_AUTO)

    def parts(self, piece: bytes) -> Iterator[bytes]:
        try:
            while piece:
                if self._stream.eof:
                    # A gzip file may hold several streams, one after another.
                    self._stream = zlib.decompressobj(_AUTO)
                yield self._stream.decompress(piece, PIECE_BYTES)
                piece = self._stream.unconsumed_tail or self._stream.unused_data
        except zlib.error as error:
            raise Unavailable(f"the document came damaged ({error})", code="ERR_FETCH_FAILED") from error

    def check_end(self) -> None:
        if not self._stream.eof:
            raise Unavailable("the document was cut off", code="ERR_FETCH_FAILED")

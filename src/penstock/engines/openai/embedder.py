"""Embeddings of an endpoint, checked before anything trusts them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from penstock.engines.openai.endpoint import Endpoint
from penstock.engines.openai.refusals import Refusal
from penstock.model.chunks import Piece, Vector
from penstock.model.errors import Refused
from penstock.ports.embedder import Oversized

if TYPE_CHECKING:
    from numpy.typing import NDArray

ANSWER_BYTES_MAX = 128 << 20


class _Item(msgspec.Struct):
    embedding: list[float] | str
    index: int | None = None


class _Answer(msgspec.Struct):
    data: list[_Item]


def endpoint_model(name: str, dimension: int | None) -> str:
    """By what the vectors of an endpoint's model are remembered; where it runs does not matter."""
    return f"endpoint:{name}" if dimension is None else f"endpoint:{name}:{dimension}"


class EndpointEmbedder:
    """Embeds by an endpoint; where fewer texts pass than it found too large (E6), later batches stay smaller.

    That a batch was too large may be one text's fault: then this text is too long alone, and batches are as
    large again as they were.
    """

    def __init__(
        self, endpoint: Endpoint, name: str, *, batch: int, calls: int, dimension: int | None = None
    ) -> None:
        self.model = endpoint_model(name, dimension)
        self.dimension = dimension
        self.batch = batch
        self._batch_max = batch
        self._refused: int | None = None
        """How many texts were too large at once, since one alone was last."""
        self.calls = calls
        self.ahead = 0
        self._endpoint = endpoint
        self._request: dict[str, object] = {"model": name, "encoding_format": "float"}
        if dimension is not None:
            self._request["dimensions"] = dimension

    async def embed(self, pieces: Sequence[Piece]) -> list[Vector]:
        """The vectors of some pieces, by one call to the endpoint, within its deadline."""
        if not pieces:
            return []
        body = {**self._request, "input": [piece.text for piece in pieces]}
        try:
            content = await self._endpoint.read(body, ANSWER_BYTES_MAX)
        except Refusal as refusal:
            if len(pieces) == 1:
                self.batch, self._refused = self._batch_max, None
                raise Refused(
                    f"a text of {len(pieces[0].text)} characters is too long for the embedding endpoint",
                    code="ERR_TEXT_TOO_LONG",
                ) from refusal
            self._refused = min(self._refused or len(pieces), len(pieces))
            raise Oversized from refusal
        if self._refused is not None and len(pieces) < self._refused:
            # Half of it, whatever passed: a short call may have been about other texts.
            self.batch, self._refused = min(self.batch, (self._refused + 1) // 2), None
        return self._checked(content, len(pieces))

    async def close(self) -> None:
        """Let go of the connections."""
        await self._endpoint.close()

    def _checked(self, content: bytes, count: int) -> list[Vector]:
        """The vectors of an answer in order of the texts, each of length one; Broken for anything else."""
        try:
            items = msgspec.json.decode(content, type=_Answer).data
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise self._endpoint.nonsense("no list of embeddings") from error
        if len(items) != count:
            raise self._endpoint.nonsense(f"{len(items)} embeddings for {count} texts")
        places = [place if item.index is None else item.index for place, item in enumerate(items)]
        if sorted(places) != list(range(count)):
            raise self._endpoint.nonsense("embeddings whose indexes are not those of the texts")
        ordered = sorted(zip(places, items, strict=True), key=lambda pair: pair[0])
        return [self._vector(item.embedding) for _, item in ordered]

    def _vector(self, embedding: list[float] | str) -> Vector:
        import numpy

        numbers = self._numbers(embedding)
        if self.dimension is None and len(numbers):
            self.dimension = len(numbers)
        if len(numbers) != self.dimension:
            raise self._endpoint.nonsense(f"a vector of {len(numbers)} numbers instead of {self.dimension}")
        length = float(numpy.linalg.norm(numbers))
        if not numpy.isfinite(length) or length == 0.0:
            raise self._endpoint.nonsense("a vector that is zero or not finite")
        return Vector((numbers / length).astype("<f4").tobytes())

    def _numbers(self, embedding: list[float] | str) -> NDArray[Any]:
        import numpy

        if not isinstance(embedding, str):
            return numpy.array(embedding, dtype=numpy.float64)
        try:
            return numpy.frombuffer(base64.b64decode(embedding, validate=True), "<f4").astype(numpy.float64)
        except (binascii.Error, ValueError) as error:
            raise self._endpoint.nonsense("an embedding that is no base64 of floats") from error

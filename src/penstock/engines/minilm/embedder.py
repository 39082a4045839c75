"""The bundled embedder: one model in memory, as many threads beside the loop as it was given."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from penstock.engines.minilm.graph import DIMENSION, INPUT, OUTPUT, model_bytes
from penstock.engines.minilm.tokenizer import BundledTokenizer
from penstock.engines.minilm.weights import read_weights
from penstock.model.chunks import Piece, Vector
from penstock.model.errors import Refused

if TYPE_CHECKING:
    from onnxruntime import InferenceSession  # type: ignore[import-untyped]  # it ships no types

MODEL = "all-MiniLM-L6-v2/int8-1"
"""The model and how its weights are used; the number counts changes of the graph that change vectors."""
BATCH = 16
"""Whoever comes next waits for those in work and the one ahead of him; fewer in each cost more turns."""
START_TOKEN = 101
END_TOKEN = 102


class BundledEmbedder:
    """Embeds with the bundled model; loaded at the first call, in a thread.

    A call runs in one thread, text after text: padding several into one costs more than it saves here, and a
    text's vector is the same bit for bit whatever it comes with.
    """

    model = MODEL
    dimension = DIMENSION
    batch = BATCH
    ahead = 1
    """A thread that ends finds its next texts there, and need not wait until the loop has heard of it."""

    def __init__(self, tokenizer: BundledTokenizer, *, threads: int = 1) -> None:
        self.calls = threads
        self._tokenizer = tokenizer
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="penstock-embed")
        self._loading = threading.Lock()
        self._session: InferenceSession | None = None

    async def embed(self, pieces: Sequence[Piece]) -> list[Vector]:
        """The vectors of some pieces; a cancelled call stops after the text it is at."""
        dropped = threading.Event()
        work = asyncio.get_running_loop().run_in_executor(self._threads, self._vectors, pieces, dropped)
        try:
            return await work
        finally:
            dropped.set()

    async def close(self) -> None:
        """End the threads once they are done with the text they are at."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        self._session = None

    def _vectors(self, pieces: Sequence[Piece], dropped: threading.Event) -> list[Vector]:
        session = self._loaded()
        vectors: list[Vector] = []
        for piece in pieces:
            if dropped.is_set():
                break
            vectors.append(self._vector(session, piece))
        return vectors

    def _vector(self, session: InferenceSession, piece: Piece) -> Vector:
        import numpy

        ids = piece.token_ids or self._tokenizer.tokens(piece.text).ids
        if len(ids) > self._tokenizer.tokens_max:
            raise Refused(
                f"a text of {len(ids)} tokens is too long for the model, which takes "
                f"{self._tokenizer.tokens_max}",
                code="ERR_TEXT_TOO_LONG",
            )
        given = numpy.array([[START_TOKEN, *ids, END_TOKEN]], dtype=numpy.int64)
        (found,) = session.run([OUTPUT], {INPUT: given})
        return Vector(found[0].astype("<f4", copy=False).tobytes())

    def _loaded(self) -> InferenceSession:
        with self._loading:
            if self._session is None:
                self._session = _session()
            return self._session


def _session() -> InferenceSession:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # One thread a run: two threads on one text cost more processor time than two texts side by side.
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(
        model_bytes(read_weights()), options, providers=["CPUExecutionProvider"]
    )

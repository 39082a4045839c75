"""From settings to models: what counts tokens, what embeds, what answers."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from penstock.engines.minilm import MODEL, BundledEmbedder, BundledTokenizer
from penstock.engines.minilm.tokenizer import TOKENS_MAX
from penstock.engines.system.clock import SystemClock
from penstock.pipeline.embed import EmbeddingDesk
from penstock.ports.answerer import Answerer
from penstock.ports.embedder import Embedder, Tokenizer
from penstock.ports.guard import Guard
from penstock.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models of one process; nothing is loaded or connected before its first use."""

    tokenizer: Tokenizer
    embedder: Embedder
    """For a question, which waits for nobody."""
    embedding: EmbeddingDesk
    """For documents, which share it in turns."""


@asynccontextmanager
async def open_models(settings: Settings, guard: Guard | None = None) -> AsyncIterator[Models]:
    """The models the settings name; let go at the end. The guard stands before what documents ask for."""
    tokenizer, embedder = _embedder(settings)
    desk = EmbeddingDesk(embedder, guard)
    try:
        yield Models(tokenizer=tokenizer, embedder=embedder, embedding=desk)
    finally:
        await desk.close()
        await embedder.close()


@asynccontextmanager
async def open_answerer(settings: Settings) -> AsyncIterator[Answerer | None]:
    """The language model the settings name; None where answers are quotations."""
    given = settings.answering
    if not settings.answerer.is_url or given.model is None:
        yield None
        return
    from penstock.engines.openai import Endpoint, EndpointAnswerer, Role

    endpoint = Endpoint(
        Role.ANSWERER,
        settings.answerer.reveal(),
        clock=SystemClock(),
        timeout=given.timeout,
        key=given.api_key.reveal() if given.api_key else None,
    )
    answerer = EndpointAnswerer(endpoint, given.model, tokens=given.tokens, bytes_max=given.answer_bytes)
    try:
        yield answerer
    finally:
        await answerer.close()


def model_name(settings: Settings) -> str:
    """By what vectors are remembered under these settings, without loading anything."""
    given = settings.embedding
    if not settings.embedder.is_url or given.model is None:
        return MODEL
    from penstock.engines.openai import endpoint_model

    return endpoint_model(given.model, given.dimension)


def tokens_max_of(settings: Settings) -> int:
    """The longest text the model in force takes, in tokens, without loading anything."""
    given = settings.embedding
    return given.tokens_max if settings.embedder.is_url and given.model is not None else TOKENS_MAX


def _embedder(settings: Settings) -> tuple[Tokenizer, Embedder]:
    given = settings.embedding
    if not settings.embedder.is_url or given.model is None:
        tokenizer = BundledTokenizer()
        return tokenizer, BundledEmbedder(tokenizer, threads=threads_of(settings))
    from penstock.engines.openai import Endpoint, EndpointEmbedder, Role

    endpoint = Endpoint(
        Role.EMBEDDER,
        settings.embedder.reveal(),
        clock=SystemClock(),
        timeout=given.timeout,
        key=given.api_key.reveal() if given.api_key else None,
    )
    return BundledTokenizer(tokens_max=given.tokens_max), EndpointEmbedder(
        endpoint, given.model, batch=given.batch, calls=given.calls, dimension=given.dimension
    )


def threads_of(settings: Settings) -> int:
    """Threads for the bundled model: as given, or this process's share of the cores."""
    cores = len(os.sched_getaffinity(0))
    return settings.embedding.threads or max(1, cores // settings.worker.count)

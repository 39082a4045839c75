"""From settings to models: what counts tokens, what embeds, what answers."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from penstock.engines.minilm import MODEL, BundledEmbedder, BundledTokenizer
from penstock.pipeline.embed import EmbeddingDesk
from penstock.ports.embedder import Embedder, Tokenizer
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
async def open_models(settings: Settings) -> AsyncIterator[Models]:
    """The models the settings name; let go at the end."""
    tokenizer = BundledTokenizer()
    embedder = BundledEmbedder(tokenizer, threads=threads_of(settings))
    desk = EmbeddingDesk(embedder)
    try:
        yield Models(tokenizer=tokenizer, embedder=embedder, embedding=desk)
    finally:
        await desk.close()
        await embedder.close()


def model_name(settings: Settings) -> str:
    """By what vectors are remembered under these settings, without loading anything."""
    return MODEL


def threads_of(settings: Settings) -> int:
    """Threads for the bundled model: as given, or this process's share of the cores."""
    cores = len(os.sched_getaffinity(0))
    return settings.embedding.threads or max(1, cores // settings.worker.count)

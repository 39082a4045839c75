"""The models' and the vector store's keys: how text is embedded, and how a server is asked."""

# ruff: noqa: RUF009 -- setting() returns dataclass fields, not shared values.

from dataclasses import dataclass

from penstock.settings.fields import setting
from penstock.settings.masking import Secret
from penstock.settings.numbers import Duration, Size, Whole
from penstock.settings.texts import Password, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """How text is embedded: by the bundled model, or by the endpoint `embedder` names."""

    threads: int = setting(
        Whole(0, 256),
        0,
        "Threads the bundled model uses in one process; 0 shares the cores among the worker processes.",
    )
    model: str | None = setting(Text(), None, "The endpoint's name of its model.")
    api_key: Secret | None = setting(Password(), None, "The key the endpoint asks for.")
    dimension: int | None = setting(
        Whole(1, 65_536), None, "Numbers in a vector, asked of the endpoint; its own choice if not set."
    )
    tokens_max: int = setting(
        Whole(16, 8192),
        480,
        "Longest text sent to the endpoint, in tokens of the bundled model, which only resemble its own.",
    )
    batch: int = setting(Whole(1, 2048), 64, "Texts sent to the endpoint in one call.")
    calls: int = setting(Whole(1, 64), 2, "Calls to the endpoint at once, from one process.")
    timeout: float = setting(Duration(), "1m", "Longest time one call to the endpoint may take.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """How the endpoint `answerer` names is asked for answers."""

    model: str | None = setting(Text(), None, "The endpoint's name of its model.")
    api_key: Secret | None = setting(Password(), None, "The key the endpoint asks for.")
    tokens: int = setting(Whole(1, 100_000), 1024, "Longest answer, in the model's tokens.")
    timeout: float = setting(Duration(), "2m", "Longest time one answer may take.")
    answer_bytes: int = setting(Size(64 << 20), "1MiB", "Longest answer taken from the endpoint.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Qdrant:
    """How the Qdrant server `vectors` names is asked."""

    api_key: Secret | None = setting(Password(), None, "The key the server asks for.")
    timeout: float = setting(Duration(), "10s", "Longest time one call to the server may take.")

"""The whole configuration tree: every key, once, with its kind, default and meaning."""

# ruff: noqa: RUF009 -- setting(), documented() and section() return dataclass fields, not shared values.

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from penstock.settings.addresses import (
    Address,
    AddressOf,
    Endpoint,
    HostPort,
    RedisAddress,
    RedisServer,
    redis_server,
)
from penstock.settings.auth import Auth, Http
from penstock.settings.collections import FILE_BYTES_MAX, Collections, DeclaredCollection
from penstock.settings.compound import ListOf
from penstock.settings.fetching import Fetching
from penstock.settings.fields import documented, section, setting, shown
from penstock.settings.live import Live
from penstock.settings.masking import Secret
from penstock.settings.models import Answering, Embedding, Qdrant
from penstock.settings.numbers import Duration, Share, Size, Switch, Whole
from penstock.settings.parser import Parser
from penstock.settings.texts import Choice, Extension, Folder, Password
from penstock.settings.worker import NAME, SPAN, Worker

WEB_SCHEMES = ("http", "https")


@dataclass(frozen=True, slots=True, kw_only=True)
class Redis:
    """The Redis server and how the program talks to it."""

    url: Address | None = setting(
        RedisAddress(), None, "The server as one URL, in place of addr, username and db."
    )
    addr: str = documented(HostPort(), "localhost:6379", "The server as host:port.")
    username: str | None = documented(NAME, None, "User to sign in as.")
    password: Secret | None = documented(Password(), None, "Password to sign in with.")
    db: int = documented(Whole(0, 9999), 0, "Number of the database.")
    pool_size_multiplier: int = documented(
        Whole(1, 1000),
        10,
        "Connections of one process at most, per processor core; it shares one, listens on another, "
        "and the rest may wait in reserve.",
    )
    min_idle_conns: int = documented(
        Whole(0, 10_000), 0, "Connections kept in reserve: a broken one is replaced without dialling."
    )
    dial_timeout: float = documented(SPAN, "5s", "Longest wait for a connection.")
    read_timeout: float = documented(
        SPAN, "3s", "Longest time of an operation: connecting, sending, waiting, trying again."
    )
    write_timeout: float = documented(
        SPAN,
        "3s",
        "Longest time the server may leave what was sent unread; then the connection is given up, and "
        "another one tried within redis.read_timeout. On Linux; elsewhere redis.read_timeout alone counts.",
    )
    max_retries: int = documented(
        Whole(0, 100), 3, "Times a command is sent again after a broken connection."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Producer:
    """The folder producer: files found become jobs."""

    scan_dir: Path | None = documented(Folder(), None, "Folder that is scanned for files; none if not set.")
    collection: str | None = setting(
        NAME, None, "Collection of files that lie in no collection's own or source folder."
    )
    include_globs: tuple[str, ...] = documented(
        ListOf(NAME), ["**/*"], "Files taken, relative to the folder."
    )
    exclude_globs: tuple[str, ...] = documented(
        ListOf(NAME),
        ["**/.*", "**/.*/**", "**/~$*", "**/*.tmp", "**/*.part"],
        "Files left out though included.",
    )
    default_priority: str = documented(
        NAME,
        "normal",
        "Priority of a file's job; if not given and there is no normal, the last of worker.priorities.",
    )
    high_priority_exts: tuple[str, ...] = documented(
        ListOf(Extension()), [], "File endings whose jobs take the first of worker.priorities."
    )
    rate_limit_per_sec: int = documented(
        Whole(0, 1_000_000), 100, "Jobs produced in a second, over all producers; 0 sets no limit."
    )
    rate_limit_key: str = documented(NAME, "rag:ingest:rate-limit", "Redis key of the shared rate limit.")


@dataclass(frozen=True, slots=True, kw_only=True)
class CircuitBreaker:
    """When calls to a failing dependency stop, and when they are tried again."""

    failure_threshold: float = documented(Share(), 0.5, "Share of failed calls that opens the breaker.")
    window: float = documented(SPAN, "1m", "Time over which calls are counted.")
    cooldown_period: float = documented(
        SPAN, "30s", "Time an open breaker waits before one call may try again."
    )
    min_samples: int = documented(Whole(1, 1_000_000), 20, "Calls in the window before the share counts.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracing:
    """Where spans go."""

    enabled: bool = documented(Switch(), False, "Send a span for every job.")
    endpoint: Address | None = documented(Endpoint(), None, "The collector spans are sent to.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observability:
    """Metrics, logs and traces."""

    metrics_port: int = documented(Whole(0, 65535), 0, "Port that serves metrics; 0 serves none.")
    log_level: str = documented(
        Choice(("debug", "info", "warning", "error"), aliases=(("warn", "warning"),)),
        "info",
        "Least level logged.",
    )
    queue_sample_interval: float = documented(SPAN, "5s", "Time between two measurements of queue lengths.")
    tracing: Tracing = section(Tracing)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaper:
    """How jobs of dead workers are looked for."""

    interval: float = setting(
        SPAN,
        "5s",
        "Time between two passes over the lists of all workers, give or take a quarter; "
        "workers that are known are looked at every half second, or as often as this if that is more.",
    )
    base_delay: float = setting(
        Duration(least=0), "10ms", "Pause between two pages of a pass, give or take a half."
    )
    scan_count: int = setting(Whole(1, 100_000), 100, "Keys looked at in one page.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sqlite:
    """The embedded database."""

    synchronous: str = setting(
        Choice(("full", "normal")), "full", "full survives a power cut, normal only a crash of the program."
    )
    busy_timeout: float = setting(SPAN, "10s", "Longest wait for another process's lock.")
    vectors_max: int = setting(
        Whole(0, 100_000_000),
        400_000,
        "Vectors one process keeps in memory to search them, counted as of 384 numbers: one of 3,072 counts "
        "as eight. Collections beyond are searched on the disk.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long finished things are kept."""

    done: float = setting(SPAN, "7d", "Time a done job is kept.")
    failed: float = setting(SPAN, "30d", "Time a failed job is kept.")
    events: float = setting(SPAN, "7d", "Time an event can be replayed.")
    interval: float = setting(SPAN, "1m", "Time between two rounds of pruning.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The largest things accepted."""

    payload_bytes: int = setting(Size(1 << 30), "1MiB", "Bytes of one job's payload.")
    metadata_bytes: int = setting(Size(1 << 30), "64KiB", "Bytes of one job's metadata.")
    bulk: int = setting(Whole(1, 1_000_000), 10_000, "Jobs in one bulk submit.")
    file_bytes: int = setting(Size(FILE_BYTES_MAX), "512MiB", "Bytes of one file.")
    folder_files: int = setting(Whole(1, 10_000_000), 100_000, "Files found in one folder.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The checked configuration; nothing in it can be changed."""

    data: Path = setting(Folder(), "./data", "Folder that holds everything of an embedded set-up.")
    profile: str = setting(
        Choice(("development", "production")),
        "development",
        "production refuses what development only warns about.",
    )
    database: Address = setting(
        AddressOf(("sqlite",), ("postgresql",), aliases=(("postgres", "postgresql"),), hostless=True),
        "sqlite",
        "The database that holds the truth.",
    )
    queue: Address = setting(
        RedisAddress(("database", "redis")),
        "database",
        "Where jobs wait: in the database, on the server the redis section names, or on the named Redis.",
    )
    blobs: Address = setting(AddressOf(("disk",), ("s3",)), "disk", "Where documents' bytes are kept.")
    vectors: Address = setting(
        AddressOf(("embedded",), WEB_SCHEMES), "embedded", "The vector store, a Qdrant by URL."
    )
    events: Address = setting(AddressOf(("none",), ("kafka",)), "none", "Where events are published as well.")
    embedder: Address = setting(
        AddressOf(("bundled",), WEB_SCHEMES),
        "bundled",
        "What embeds text, an OpenAI-compatible endpoint by URL.",
    )
    answerer: Address = setting(
        AddressOf(("extractive",), WEB_SCHEMES),
        "extractive",
        "What answers, an OpenAI-compatible endpoint by URL.",
    )
    redis: Redis = section(Redis)
    worker: Worker = section(Worker)
    producer: Producer = section(Producer)
    circuit_breaker: CircuitBreaker = section(CircuitBreaker)
    observability: Observability = section(Observability)
    reaper: Reaper = section(Reaper)
    sqlite: Sqlite = section(Sqlite)
    retention: Retention = section(Retention)
    limits: Limits = section(Limits)
    parser: Parser = section(Parser)
    fetching: Fetching = section(Fetching)
    embedding: Embedding = section(Embedding)
    answering: Answering = section(Answering)
    qdrant: Qdrant = section(Qdrant)
    auth: Auth = section(Auth)
    http: Http = section(Http)
    live: Live = section(Live)
    collections: Mapping[str, DeclaredCollection] = setting(
        Collections(), {}, "Collections that are there from the start, each as its own page describes."
    )

    def as_shown(self) -> dict[str, Any]:
        """The whole tree as a person would write it, passwords masked."""
        return shown(self)

    def redis_server(self) -> RedisServer:
        """The Redis in force: the queue's URL, else redis.url, else redis.addr.

        What a URL leaves open is filled from the section's username, password and db.
        """
        named = self.queue if self.queue.is_url else self.redis.url
        server = redis_server(named.reveal() if named else self.redis.addr)
        return replace(
            server,
            username=server.username or self.redis.username,
            password=server.password or self.redis.password,
            db=self.redis.db if server.db is None else server.db,
        )

"""Rules between keys: what each value alone cannot show."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from penstock.settings import auth_rules, redis_rules
from penstock.settings.addresses import RedisServer, redis_server
from penstock.settings.collections import DeclaredCollection, in_collections
from penstock.settings.durations import format_duration
from penstock.settings.given import Given
from penstock.settings.problems import Problem
from penstock.settings.tree import Settings

ROOT, QUEUE = "rag:ingest:", "rag:ingest:queue"
DEAD_LETTER, COMPLETED, RATE_LIMIT = f"{QUEUE}:dead-letter", f"{ROOT}completed", f"{ROOT}rate-limit"
"""What is documented below the root; the rest of it is the engine's."""
PRIORITIES_MAX = 9
"""As many numbers as there are from high to low: two names with one number would share a list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A condition over some keys, told at the first; `wrong` gives the fault in words, or None.

    A contradiction is asked only where a source gave all its keys: a default contradicts nobody.
    """

    keys: tuple[str, ...]
    wrong: Callable[[Settings], str | None]
    must: str
    contradiction: bool = False


def derive(settings: Settings, given: Collection[str]) -> Settings:
    """Fit the defaults that follow other keys, so that no given value clashes with what nobody wrote."""
    worker, producer = settings.worker, settings.producer
    if "worker.heartbeat_interval" not in given:
        worker = replace(worker, heartbeat_interval=min(worker.heartbeat_interval, worker.heartbeat_ttl / 3))
    if "producer.default_priority" not in given and producer.default_priority not in worker.priorities:
        producer = replace(producer, default_priority=worker.priorities[-1])
    return replace(settings, worker=worker, producer=producer)


def broken_rules(
    settings: Settings, given: Mapping[str, Given], failed: Collection[str]
) -> Iterator[Problem]:
    """Each broken rule; those that read a key already found wrong are not asked."""
    for rule in RULES:
        if any(key in failed for key in rule.keys):
            continue
        if rule.contradiction and not all(key in given for key in rule.keys):
            continue
        if wrong := rule.wrong(settings):
            yield Problem(
                key=rule.keys[0], source=_sources(rule, given), wrong=wrong, right=f"it {rule.must}"
            )


def _sources(rule: Rule, given: Mapping[str, Given]) -> str:
    named = [f"{key} from {given[key].source}" for key in rule.keys if key in given]
    return given[rule.keys[0]].source if len(named) == 1 and rule.keys[0] in given else "; ".join(named)


def _slow_fetch(settings: Settings) -> str | None:
    return _more_than_a_part(settings.worker.brpoplpush_timeout, settings.worker.heartbeat_ttl, 2)


def _slow_beat(settings: Settings) -> str | None:
    return _more_than_a_part(settings.worker.heartbeat_interval, settings.worker.heartbeat_ttl, 3)


def _more_than_a_part(span: float, whole: float, parts: int) -> str | None:
    return None if span <= whole / parts else f"{format_duration(span)} against {format_duration(whole)}"


def _falling_backoff(settings: Settings) -> str | None:
    backoff = settings.worker.backoff
    if backoff is None or backoff.max >= backoff.base:
        return None
    return f"{format_duration(backoff.max)} against {format_duration(backoff.base)}"


def _repeated_priorities(settings: Settings) -> str | None:
    priorities = settings.worker.priorities
    twice = sorted({name for name in priorities if priorities.count(name) > 1})
    return f"{', '.join(twice)} stands in the list twice" if twice else None


def _many_priorities(settings: Settings) -> str | None:
    many = len(settings.worker.priorities)
    return f"there are {many}" if many > PRIORITIES_MAX else None


def _missing_queues(settings: Settings) -> str | None:
    missing = [name for name in settings.worker.priorities if name not in settings.worker.queues]
    return f"worker.queues has no entry for {', '.join(missing)}" if missing else None


def _shared_names(settings: Settings) -> str | None:
    worker = settings.worker
    names = [
        *worker.queues.values(),
        worker.completed_list,
        worker.dead_letter_list,
        settings.producer.rate_limit_key,
    ]
    names += [worker.processing_list_pattern, worker.heartbeat_key_pattern]
    twice = sorted({name for name in names if names.count(name) > 1})
    return f"{', '.join(twice)} is used twice" if twice else None


def _names_of_ours(settings: Settings) -> str | None:
    worker, queues = settings.worker, set(settings.worker.queues.values())
    others = {worker.completed_list, settings.producer.rate_limit_key}
    others |= {worker.processing_list_pattern, worker.heartbeat_key_pattern}
    taken = {name for name in queues | others | {worker.dead_letter_list} if _is_ours(name)}
    taken |= {DEAD_LETTER} & (queues | others)
    taken |= {QUEUE} & (others | {worker.dead_letter_list})
    return f"{', '.join(sorted(taken))} has a use of its own" if taken else None


def _is_ours(name: str) -> bool:
    """Whether it is one of the engine's own names; see docs/reference/redis-keys.md."""
    if not name.startswith(ROOT) or name in (QUEUE, COMPLETED, RATE_LIMIT):
        return False
    return not name.startswith(f"{QUEUE}:") or name.startswith(f"{QUEUE}:priority-")


def _unknown_priority(settings: Settings) -> str | None:
    priority = settings.producer.default_priority
    return None if priority in settings.worker.priorities else f"{priority!r} is not among them"


def _traces_nowhere(settings: Settings) -> str | None:
    tracing = settings.observability.tracing
    return "there is no endpoint" if tracing.enabled and tracing.endpoint is None else None


def _hasty_look(settings: Settings) -> str | None:
    live = settings.live
    if live.hinted_look_interval >= live.look_interval:
        return None
    return f"{format_duration(live.hinted_look_interval)} against {format_duration(live.look_interval)}"


def _crowding_user(settings: Settings) -> str | None:
    live = settings.live
    if live.connections_per_user <= live.connections_max:
        return None
    return f"{live.connections_per_user} against {live.connections_max}"


def _unnamed_embedder(settings: Settings) -> str | None:
    return "no model is named" if settings.embedder.is_url and settings.embedding.model is None else None


def _unnamed_answerer(settings: Settings) -> str | None:
    return "no model is named" if settings.answerer.is_url and settings.answering.model is None else None


def _server_of_section(settings: Settings) -> RedisServer:
    redis = settings.redis
    return replace(redis_server(redis.addr), username=redis.username, password=redis.password, db=redis.db)


def _differ(one: RedisServer, other: RedisServer, *names: str) -> str | None:
    """Tell the parts two servers disagree on; what either leaves open is no disagreement."""
    pairs = {name: (getattr(one, name), getattr(other, name)) for name in names}
    unlike = [name for name, (mine, yours) in pairs.items() if None not in (mine, yours) and mine != yours]
    return f"the two name different servers or accounts ({', '.join(unlike)})" if unlike else None


def _files_too_large(settings: Settings) -> str | None:
    most = settings.limits.file_bytes

    def wrong(collection: DeclaredCollection) -> str | None:
        mine = collection.limits.file_bytes
        return None if mine is None or mine <= most else f"limits.file_bytes is {mine:,}, more than {most:,}"

    return in_collections(settings.collections, wrong)


def _sources_in_data(settings: Settings) -> str | None:
    data = Path(os.path.abspath(settings.data))

    def wrong(collection: DeclaredCollection) -> str | None:
        for number, source in enumerate(collection.sources, 1):
            if source.path.is_relative_to(data):
                return f"sources[{number}].path lies in the data folder"
        return None

    return in_collections(settings.collections, wrong)


def _against_section(key: str, *names: str) -> tuple[Rule, Rule]:
    """The rules that keep redis.url and a queue's URL from contradicting one key of the section."""

    def url_differs(settings: Settings) -> str | None:
        url = settings.redis.url
        return _differ(redis_server(url.reveal()), _server_of_section(settings), *names) if url else None

    def queue_differs(settings: Settings) -> str | None:
        queue = settings.queue
        return (
            _differ(redis_server(queue.reveal()), _server_of_section(settings), *names)
            if queue.is_url
            else None
        )

    must = f"must agree with {key}, or one of the two must go"
    return (
        Rule(keys=("redis.url", key), wrong=url_differs, must=must, contradiction=True),
        Rule(keys=("queue", key), wrong=queue_differs, must=must, contradiction=True),
    )


def _queue_against_url(settings: Settings) -> str | None:
    queue, url = settings.queue, settings.redis.url
    if url is None or not queue.is_url:
        return None
    parts = ("host", "port", "tls", "username", "password", "db")
    return _differ(redis_server(queue.reveal()), redis_server(url.reveal()), *parts)


_REDIS_NAMES = (
    "worker.queues",
    "worker.completed_list",
    "worker.dead_letter_list",
    "worker.processing_list_pattern",
    "worker.heartbeat_key_pattern",
    "producer.rate_limit_key",
)
"""Keys whose values are names in Redis."""

RULES = (
    Rule(
        keys=("worker.brpoplpush_timeout", "worker.heartbeat_ttl"),
        wrong=_slow_fetch,
        must="must be at most half of worker.heartbeat_ttl",
    ),
    Rule(
        keys=("worker.heartbeat_interval", "worker.heartbeat_ttl"),
        wrong=_slow_beat,
        must="must be at most a third of worker.heartbeat_ttl",
    ),
    Rule(
        keys=("worker.backoff.max", "worker.backoff.base"),
        wrong=_falling_backoff,
        must="must be at least worker.backoff.base",
    ),
    Rule(keys=("worker.priorities",), wrong=_repeated_priorities, must="must name each priority once"),
    Rule(
        keys=("worker.priorities",),
        wrong=_many_priorities,
        must=f"must name at most {PRIORITIES_MAX} priorities",
    ),
    Rule(
        keys=("worker.priorities", "worker.queues"),
        wrong=_missing_queues,
        must="must name only priorities that have an entry in worker.queues",
    ),
    Rule(
        keys=_REDIS_NAMES,
        wrong=_shared_names,
        must="must share no Redis name with another key of worker or with producer.rate_limit_key",
    ),
    Rule(
        keys=_REDIS_NAMES,
        wrong=_names_of_ours,
        must=f"must, below {ROOT}, be as documented, or a list of {QUEUE}: that is not priority-…",
    ),
    Rule(
        keys=("producer.default_priority", "worker.priorities"),
        wrong=_unknown_priority,
        must="must be one of worker.priorities",
    ),
    Rule(
        keys=("observability.tracing.endpoint", "observability.tracing.enabled"),
        wrong=_traces_nowhere,
        must="must be given when observability.tracing.enabled is true",
    ),
    Rule(
        keys=("embedding.model", "embedder"),
        wrong=_unnamed_embedder,
        must="must be given when embedder is a URL",
    ),
    Rule(
        keys=("answering.model", "answerer"),
        wrong=_unnamed_answerer,
        must="must be given when answerer is a URL",
    ),
    Rule(
        keys=("worker.retry_delays", "worker.backoff.base"),
        wrong=lambda _: "both are given",
        must="must not be given together with worker.backoff",
        contradiction=True,
    ),
    Rule(
        keys=("collections", "limits.file_bytes"),
        wrong=_files_too_large,
        must="must not ask for larger files than limits.file_bytes allows",
    ),
    Rule(
        keys=("limits.payload_bytes", "queue"),
        wrong=redis_rules.too_large(
            lambda settings: settings.limits.payload_bytes, redis_rules.PAYLOAD_BYTES_MAX
        ),
        must="must be at most 16MiB when queue is Redis",
    ),
    Rule(
        keys=("limits.metadata_bytes", "queue"),
        wrong=redis_rules.too_large(
            lambda settings: settings.limits.metadata_bytes, redis_rules.METADATA_BYTES_MAX
        ),
        must="must be at most 4MiB when queue is Redis",
    ),
    Rule(
        keys=("collections", "data"),
        wrong=_sources_in_data,
        must="must name folders outside the data folder as sources",
    ),
    Rule(
        keys=("auth.mode", "auth.secret", "auth.jwks_url", "auth.jwks_file"),
        wrong=auth_rules.no_key,
        must="must, if jwt, stand beside exactly one of auth.secret, auth.jwks_url and auth.jwks_file",
    ),
    Rule(
        keys=("auth.issuer", "auth.mode"),
        wrong=auth_rules.no_issuer,
        must="must be given when auth.mode is jwt",
    ),
    Rule(keys=("auth.leeway",), wrong=auth_rules.long_leeway, must="must be at most 1m"),
    Rule(keys=("auth.ticket_ttl",), wrong=auth_rules.long_ticket, must="must be at most 5m"),
    Rule(
        keys=("auth.jwks_stale", "auth.jwks_fresh"),
        wrong=auth_rules.short_staleness,
        must="must be at least auth.jwks_fresh",
    ),
    Rule(
        keys=("auth.jwks_url", "profile"),
        wrong=auth_rules.plain_keys,
        must="must be https, without a password; http will do on loopback, outside the production profile",
    ),
    Rule(
        keys=("auth.secret", "profile"),
        wrong=auth_rules.weak_secret,
        must="must, in the production profile, be one nobody can guess, such as `openssl rand -hex 32` makes",
    ),
    Rule(
        keys=("auth.allowed_origins", "profile"),
        wrong=auth_rules.every_origin,
        must="must name each page in the production profile",
    ),
    Rule(
        keys=("http.host", "profile", "auth.mode"),
        wrong=auth_rules.open_bind,
        must="must be a loopback address in the production profile while auth.mode is local",
    ),
    Rule(
        keys=("http.host", "profile", "http.allowed_hosts"),
        wrong=auth_rules.open_to_any_name,
        must="must be one address in the production profile while http.allowed_hosts is empty",
    ),
    Rule(
        keys=("live.hinted_look_interval", "live.look_interval"),
        wrong=_hasty_look,
        must="must be at least live.look_interval",
    ),
    Rule(
        keys=("live.connections_per_user", "live.connections_max"),
        wrong=_crowding_user,
        must="must be at most live.connections_max",
    ),
    *_against_section("redis.addr", "host", "port"),
    *_against_section("redis.username", "username"),
    *_against_section("redis.password", "password"),
    *_against_section("redis.db", "db"),
    Rule(
        keys=("queue", "redis.url"),
        wrong=_queue_against_url,
        must="must name the same server as redis.url, or one of the two must go",
        contradiction=True,
    ),
)

"""`penstock admin stats`, `stats-keys` and `peek`: a queue by its lists and keys."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import click

from penstock.doors.cli import output
from penstock.doors.cli.admin.shapes import KeyStats, Peeked, PeekedMessage, Stats
from penstock.doors.cli.given import Given
from penstock.doors.cli.grammar import verb
from penstock.doors.cli.session import with_store
from penstock.doors.cli.values import text
from penstock.model.errors import Refused

if TYPE_CHECKING:
    from penstock.settings import Settings
    from penstock.wiring.store import Store


def engine_of(settings: Settings) -> str:
    """Where the queue is, in a word."""
    return "database" if settings.queue.scheme == "database" else "redis"


@verb(
    "stats",
    examples=("penstock admin stats", "penstock admin stats --json | jq .dead_letters"),
    shape=Stats,
    notes=(
        "Piped, the first cell of a line says what the others are: `queue`, `processing`, `heartbeats`, "
        "`completed` or `dead_letters`.",
        "Where the queue is the database, its queues are high, normal and low, and failed jobs its letters.",
    ),
)
@click.pass_obj
def stats(given: Given) -> None:
    """How much lies in every list."""

    async def work(store: Store, settings: Settings) -> Stats:
        from penstock.wiring.admin import inventory_of

        found = await inventory_of(settings, store)
        return Stats(
            engine=engine_of(settings),
            queues=[{"queue": each.name, "key": each.key, "length": each.length} for each in found.queues],
            processing=dict(found.processing),
            heartbeats=found.heartbeats,
            completed=found.completed,
            dead_letters=found.dead_letters,
        )

    told = with_store(given, work)
    if given.as_json:
        output.document(told)
        return
    output.table(
        [
            *(("queue", each["queue"], each["length"], each["key"]) for each in told["queues"]),
            *(("processing", worker, held) for worker, held in told["processing"].items()),
            ("heartbeats", told["heartbeats"]),
            ("completed", told["completed"]),
            ("dead_letters", told["dead_letters"]),
        ]
    )


@verb(
    "stats-keys",
    examples=("penstock admin stats-keys", "penstock admin stats-keys --json"),
    shape=KeyStats,
    notes=("Keys are found by `SCAN` a page at a time; a server is never asked for all of them at once.",),
)
@click.option(
    "--max-keys",
    type=click.IntRange(1),
    default=1_000_000,
    show_default=True,
    metavar="N",
    help="Stop after so many keys, and say so.",
)
@click.pass_obj
def stats_keys(given: Given, max_keys: int) -> None:
    """Which keys a queue on Redis has, and how many."""

    async def work(store: Store, settings: Settings) -> KeyStats:
        from penstock.wiring.admin import survey_of

        survey = survey_of(settings, store)
        count, lists = await survey.count(max_keys), await survey.inventory()
        return KeyStats(
            queue_lengths={each.key or each.name: each.length for each in lists.queues},
            processing_lists=count.families.get("processing", 0),
            processing_items=count.processing_items,
            heartbeats=count.families.get("heartbeats", 0),
            rate_limit_key=settings.producer.rate_limit_key,
            rate_limit_ttl_seconds=await survey.rate_seconds_left(),
            keys=dict(sorted(count.families.items())),
            looked_at=count.looked_at,
            whole=count.whole,
        )

    told = with_store(given, work)
    if given.as_json:
        output.document(told)
        return
    output.table(row for name, value in told.items() for row in _rows(name, value))


def _rows(name: str, value: object) -> list[tuple[object, ...]]:
    """A fact as lines: one for each of several, none for what is absent."""
    if isinstance(value, dict):
        return [(name, key, number) for key, number in value.items()]
    if value is None:
        return []
    return [(name, output.json_text(value) if isinstance(value, bool) else value)]


@verb(
    "peek",
    examples=("penstock admin peek", "penstock admin peek --queue high --n 3", "penstock admin peek --json"),
    shape=Peeked,
    notes=(
        "A queue is a priority, a collection with a list of its own, or the whole name of a list.",
        "Piped, a line is one message.",
    ),
)
@click.option(
    "--queue", type=text, metavar="QUEUE", help="Queue to look into; rag:ingest:queue if not given."
)
@click.option(
    "--n",
    "most",
    type=click.IntRange(1, 1000),
    default=10,
    show_default=True,
    metavar="N",
    help="Messages shown.",
)
@click.pass_obj
def peek(given: Given, queue: str | None, most: int) -> None:
    """Show the messages of a queue on Redis that are next, and leave them there."""

    async def work(store: Store, settings: Settings) -> Peeked:
        from penstock.wiring.admin import survey_of

        survey = survey_of(settings, store)
        lists = {each.name: each.key or each.name for each in (await survey.inventory()).queues}
        name = next(iter(lists)) if queue is None else queue
        key = lists.get(name) or (name if name in lists.values() else None)
        if key is None:
            raise Refused(f"there is no queue {name!r}; there are {', '.join(lists)}")
        messages = await survey.peek(key, most)
        return Peeked(queue=name, key=key, messages=[_message(name, each) for each in messages])

    told = with_store(given, work)
    if given.as_json:
        output.document(told)
        return
    output.lines([each["message"] or each["message_base64"]] for each in told["messages"])
    if not told["messages"]:
        output.talk(f"{told['key']} is empty")


def _message(queue: str, data: bytes) -> PeekedMessage:
    try:
        return {"queue": queue, "message": data.decode(), "message_base64": None}
    except UnicodeDecodeError:
        return {"queue": queue, "message": None, "message_base64": base64.b64encode(data).decode()}

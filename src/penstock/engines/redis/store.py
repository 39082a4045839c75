"""The ports of a queue on Redis, opened together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from penstock.engines.redis.access import Access
from penstock.engines.redis.adopting import Translate
from penstock.engines.redis.bounds import fitting
from penstock.engines.redis.client import Client, connect
from penstock.engines.redis.desk import RedisBatches, RedisDesk
from penstock.engines.redis.dialling import Limits, Server
from penstock.engines.redis.letters import RedisMailbox
from penstock.engines.redis.measuring import RedisMeter
from penstock.engines.redis.names import Names
from penstock.engines.redis.queue import RedisQueue
from penstock.engines.redis.reaping import RedisReaper
from penstock.engines.redis.surveying import RedisSurvey
from penstock.engines.system.rolls import Rolls
from penstock.model.rules import Rules
from penstock.model.tallies import QUEUE_OF_RANK
from penstock.ports.clock import Clock
from penstock.ports.telemetry import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisPorts:
    """What lives in Redis when the queue does."""

    client: Client
    access: Access
    queue: RedisQueue
    desk: RedisDesk
    batches: RedisBatches

    def reaper(self, *, count: int = 100) -> RedisReaper:
        """What sweeps the lists of workers nobody knows, so many keys a page."""
        return RedisReaper(self.access, count=count)

    def survey(self, *, priorities: Mapping[str, str], rate_key: str) -> RedisSurvey:
        """What counts and shows the keys of the queue."""
        return RedisSurvey(self.access, priorities=priorities, rate_key=rate_key)

    def mailbox(self) -> RedisMailbox:
        """The lists of dead letters."""
        return RedisMailbox(self.access)

    def meter(self, book: Meter, queues: Sequence[str] = QUEUE_OF_RANK) -> RedisMeter:
        """What counts the messages that wait, beside a book that knows which jobs came in.

        `queues` names the queue of each priority.
        """
        return RedisMeter(self.access, book, queues)


def ports_on(
    client: Client,
    *,
    names: Names,
    rules: Rules,
    clock: Clock,
    translate: Translate | None = None,
    rolls: Rolls | None = None,
) -> RedisPorts:
    """The ports on a connected client; without a translator, foreign messages are refused.

    `rolls` is where workers write down what they begin, if no book beside the queue knows.
    """
    access = Access(client, names, fitting(rules), clock, rolls=rolls)
    return RedisPorts(
        client=client,
        access=access,
        queue=RedisQueue(access, translate),
        desk=RedisDesk(access),
        batches=RedisBatches(access),
    )


@asynccontextmanager
async def open_redis(
    server: Server,
    *,
    names: Names,
    rules: Rules,
    clock: Clock,
    translate: Translate | None = None,
    limits: Limits | None = None,
) -> AsyncIterator[RedisPorts]:
    """Connect, and let go at the end."""
    async with connect(server, clock, limits=limits) as client:
        yield ports_on(client, names=names, rules=rules, clock=clock, translate=translate)

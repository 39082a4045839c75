"""What the queue's parts share: the client, the names, the time every script is given."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from penstock.engines.redis.client import Client
from penstock.engines.redis.listening import Wake
from penstock.engines.redis.names import Names
from penstock.engines.redis.protocol import Reply, Word
from penstock.engines.redis.scripts import SCRIPTS, Asked
from penstock.engines.system.rolls import Rolls
from penstock.model.jobs import JobId
from penstock.model.rules import Rules
from penstock.model.statuses import stamped
from penstock.ports.clock import Clock
from penstock.ports.telemetry import SILENT, Telemetry

LANES_KEPT_MAX = 1_000
SUBMIT_ONE_ARGS = 8
"""Beside those that are the same for all jobs that come in by one door."""


Begun = Callable[[Sequence[JobId]], Awaitable[set[JobId]]]
"""Which of these jobs a handler has begun and not ended."""


class Lane(NamedTuple):
    """One list of one tenant."""

    name: str
    """By which it takes its turn."""
    keys: tuple[str, str]
    """The list, and the tenant's subjects."""


class Door(NamedTuple):
    """Where single jobs of one rank, tenant and collection come in."""

    waits_in: str
    submit_one: Asked


@dataclass(slots=True)
class Access:
    """One queue on one server."""

    client: Client
    names: Names
    rules: Rules
    clock: Clock
    bells: list[Wake] = field(default_factory=list)
    """Whoever in this process waits for news."""
    begun: Begun | None = None
    """Who knows which leased jobs a handler has begun, where a book does."""
    rolls: Rolls | None = None
    """Where workers write that down themselves; with neither, all of them count as begun."""
    telemetry: Telemetry = SILENT
    """Who is told of messages that became no jobs."""
    is_upgraded: bool = False
    keys_of_new: list[str] = field(init=False)
    keys_of_usual: list[str] = field(init=False)
    _lanes: dict[tuple[int, str], Lane] = field(default_factory=dict)
    _doors: dict[tuple[int, str, str], Door] = field(default_factory=dict)
    _keys: list[str] = field(init=False)
    _refused_on: int = 0
    _packed: bytes = field(init=False)

    def __post_init__(self) -> None:
        self.keys_of_new = self.names.keys_of_new()
        self.keys_of_usual = self.names.keys_of_usual()
        self._keys = self.names.keys()
        self._packed = self.names.packed()

    async def run(
        self, script: str, *args: Word, keys: Iterable[Word] = (), now: float | None = None
    ) -> Reply:
        """What a script says; every one of ours may be sent again, for doing it twice is doing it once.

        `keys` are those it needs beside the ones every script gets.
        """
        if not self.is_upgraded:
            await self.upgrade()
        at = self.clock.now() if now is None else now
        given = (self._packed, repr(at), stamped(at), *args)
        all_keys = [*self._keys, *keys] if keys else self._keys
        return await self.client.run(SCRIPTS[script], keys=all_keys, args=given, again=True)

    async def upgrade(self) -> None:
        """Once a process, before anything else: what an earlier version left is told as this one reads it."""
        await self.client.run(SCRIPTS["upgrade"], keys=self.keys_of_new[:1], again=True)
        self.is_upgraded = True

    def know(self, collections: Mapping[str, str]) -> None:
        """Take up the lists of further collections; one that is gone stays: its messages are refused."""
        if collections.items() <= self.names.collections.items():
            return
        self.names = replace(self.names, collections={**self.names.collections, **collections})
        self.__post_init__()
        self.client.watch_others([inbox.name for inbox in self.names.inboxes])
        self.ring()

    def lane_of(self, rank: int, tenant: str) -> Lane:
        """Where jobs of a rank and a tenant wait, kept for the next."""
        lane = self._lanes.get((rank, tenant))
        if lane is None:
            if len(self._lanes) >= LANES_KEPT_MAX:
                self._lanes.clear()
            name, lane_name = self.names.lane_of(rank, tenant)
            lane = Lane(lane_name, (name, self.names.subjects_of(tenant)))
            self._lanes[rank, tenant] = lane
        return lane

    def door_of(self, rank: int, tenant: str, collection: str) -> Door:
        """What submits one such job, kept for the next."""
        door = self._doors.get((rank, tenant, collection))
        if door is None:
            if len(self._doors) >= LANES_KEPT_MAX:
                self._doors.clear()
            lane = self.lane_of(rank, tenant)
            keys = (*self.keys_of_new, *lane.keys, self.names.blank_of(collection))
            door = Door(
                lane.keys[0], Asked(SCRIPTS["submit_one"], keys, (lane.name, collection), SUBMIT_ONE_ARGS)
            )
            self._doors[rank, tenant, collection] = door
        return door

    @property
    def sets_together(self) -> bool:
        """Whether this connection's server may know one command for many keys that expire (MSETEX)."""
        return self._refused_on != self.client.standing.connections

    def sets_one_by_one(self) -> None:
        """It does not, or we may not; another connection may lead to another server."""
        self._refused_on = self.client.standing.connections

    def bell(self) -> Wake:
        """A bell that rings for news of every process on this queue."""
        wake = self.client.subscribe(self.names.wake)
        self.bells.append(wake)
        return wake

    def ring(self) -> None:
        """News of our own making: nobody in this process need wait for the server to say so."""
        for wake in self.bells:
            wake.ring()

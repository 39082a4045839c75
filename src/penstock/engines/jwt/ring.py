"""Published keys, kept and asked for again.

    fresh    used, nobody is asked
    due      used, and asked for again beside it
    stale    used no longer: better no answer than that of a key taken back long ago

A name we do not know may be that of a new key, so the set is read again and the token waits for it. Anybody
can make up names, so that happens once in an interval, and those who come meanwhile share one reading.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass

from penstock.engines.jwt.keys import Key, key_set_of
from penstock.engines.jwt.sources import Source
from penstock.model.errors import Fault, Unavailable
from penstock.ports.clock import Clock

log = logging.getLogger("penstock.keys")


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often keys are asked for and how long they count, in seconds."""

    interval: float = 30.0
    """At least so long between two readings."""
    fresh: float = 600.0
    stale: float = 21_600.0


class KeyRing:
    """The keys of one source; belongs to one event loop."""

    def __init__(self, source: Source, clock: Clock, pace: Pace) -> None:
        self._source, self._clock, self._pace = source, clock, pace
        self._keys: Mapping[str, Key] = {}
        self._read_at: float | None = None
        self._tried_at: float | None = None
        self._failed = False
        self._reading: asyncio.Task[None] | None = None

    async def find(self, key_id: str | None) -> Key | None:
        """The key of this name, with one reading of the source at most."""
        if key_id is None:
            return None
        if self._age() >= self._pace.fresh:
            self._begin()
        known = self._known(key_id)
        if known is None and self._begin():
            known = await self._news(key_id)
        if known is None and (self._failed or self._age() >= self._pace.stale):
            raise Unavailable(
                "the keys that tokens are signed by cannot be read now",
                code="ERR_KEYS_UNAVAILABLE",
                retry_after=max(1.0, self._pace.interval - self._since(self._tried_at)),
            )
        return known

    async def load(self) -> int:
        """Read the source now; how many keys there are. A Fault tells what is wrong with it."""
        found = key_set_of(await self._source.read())
        for why in found.left_out:
            log.debug("left out of the keys at %s: %s", self._source.shown, why)
        self._keys, self._read_at = found.keys, self._clock.steady()
        return len(found.keys)

    async def close(self) -> None:
        """End a reading that is under way."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    def _known(self, key_id: str) -> Key | None:
        return self._keys.get(key_id) if self._age() < self._pace.stale else None

    def _begin(self) -> bool:
        """Start a reading unless one is under way or was tried just now; whether one is under way."""
        if self._reading is None and self._since(self._tried_at) >= self._pace.interval:
            self._tried_at = self._clock.steady()
            self._reading = asyncio.create_task(self._read())
        return self._reading is not None

    async def _news(self, key_id: str) -> Key | None:
        if self._reading is not None:
            # A caller that goes away must not take the reading from the others.
            await asyncio.shield(self._reading)
        return self._known(key_id)

    async def _read(self) -> None:
        try:
            await self.load()
            self._failed = False
        except Fault as fault:
            self._failed = True
            log.warning("%s", fault.message)
        finally:
            self._reading = None

    def _age(self) -> float:
        return self._since(self._read_at)

    def _since(self, moment: float | None) -> float:
        return float("inf") if moment is None else self._clock.steady() - moment

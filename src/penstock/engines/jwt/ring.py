"""Published keys, kept and asked for again.

    fresh    used, nobody is asked
    due      used, and asked for again beside it
    stale    used no longer: better no answer than that of a key taken back long ago

A name we do not know may be that of a new key, so the set is read again and the token waits for it. Anybody
can make up names, so that happens once in an interval and a few times more, and those who come meanwhile
share one reading. Only of a name that a reading was made for it is known that it is no key's; of another it
cannot be known before the next, and whoever shows it is told to come again.
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
AHEAD_MAX = 3
"""Readings made before an interval is over, for names nobody asked for before."""
ABSENT_MAX = 1_000
"""Names that are remembered to be no key's."""


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
        self._absent: set[str] = set()
        """Names that were asked for or known before, and that the last reading did not find."""
        self._ahead = 0
        self._read_at: float | None = None
        self._tried_at: float | None = None
        self._failed = False
        self._reading: asyncio.Task[None] | None = None

    async def find(self, key_id: str | None) -> Key | None:
        """The key of this name, with one reading of the source at most; None where it is known to be none."""
        if key_id is None:
            return None
        if self._age() >= self._pace.fresh:
            self._begin()
        known = self._known(key_id)
        if known is None and self._begin(ahead=key_id not in self._absent):
            known = await self._news(key_id)
        if known is None and (key_id not in self._absent or self._failed or self._age() >= self._pace.stale):
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
        if not found.keys:
            log.warning("no key at %s can be used: no token is accepted any more", self._source.shown)
        self._absent = (self._absent | self._keys.keys()) - found.keys.keys()
        self._keys, self._read_at = found.keys, self._clock.steady()
        return len(found.keys)

    async def close(self) -> None:
        """End a reading that is under way."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    def _known(self, key_id: str) -> Key | None:
        return self._keys.get(key_id) if self._age() < self._pace.stale else None

    def _begin(self, *, ahead: bool = False) -> bool:
        """Start a reading unless one is under way or was tried just now; whether one is under way.

        `ahead` does not wait for the interval to be over, as long as the source answers.
        """
        if self._reading is None:
            is_due = self._since(self._tried_at) >= self._pace.interval
            if is_due or (ahead and not self._failed and self._ahead < AHEAD_MAX):
                self._ahead = 0 if is_due else self._ahead + 1
                self._tried_at = self._clock.steady()
                self._reading = asyncio.create_task(self._read())
        return self._reading is not None

    async def _news(self, key_id: str) -> Key | None:
        if self._reading is not None:
            # A caller that goes away must not take the reading from the others.
            await asyncio.shield(self._reading)
        known = self._known(key_id)
        if known is None and not self._failed:
            if len(self._absent) >= ABSENT_MAX:
                self._absent.clear()
            self._absent.add(key_id)
        return known

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

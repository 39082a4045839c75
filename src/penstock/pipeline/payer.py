"""The payer: does what is owed until it is done — purges, moves of files, rebuilds of collections.

A debt is written in the transaction that makes it due, so a crash between a delete and its purge, or between
an outcome and the move of its file, loses neither. Every worker process has a payer; a debt is held by one
at a time and for ten seconds only, so one that dies is followed by another.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from penstock.model.catalogue import Debt, DebtKind
from penstock.model.errors import Fault
from penstock.ports.catalogue import Catalogue

log = logging.getLogger("penstock.payer")
LOOK_SECONDS = 1.0
REST_SECONDS_MAX = 60.0

Payment = Callable[[Debt], Awaitable[bool]]
"""Does a portion of what is owed; True when the debt is paid and gone."""


class Payer:
    """One round after the other; what cannot be paid now is put off, ever longer."""

    def __init__(self, catalogue: Catalogue, owner: str, payments: Mapping[DebtKind, Payment]) -> None:
        self._catalogue = catalogue
        self._owner = owner
        self._payments = payments

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            if not await self.look():
                await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> int:
        """One round; how many debts were worked on."""
        try:
            debts = await self._catalogue.take_debts(tuple(self._payments), self._owner)
        except Fault as fault:
            log.warning("cannot look for debts: %s", fault.message)
            await asyncio.sleep(LOOK_SECONDS)
            return 0
        for debt in debts:
            await self._pay(debt)
        return len(debts)

    async def _pay(self, debt: Debt) -> None:
        try:
            while not await self._payments[debt.kind](debt):
                pass
        except Later as later:
            await self._put_off(debt, "", later.seconds)
        except Fault as fault:
            log.warning("%s of %s is put off: %s", debt.kind, debt.about, fault.message)
            await self._put_off(debt, fault.message, min(2.0**debt.tries, REST_SECONDS_MAX))
        except Exception as error:
            log.exception("%s of %s failed", debt.kind, debt.about)
            await self._put_off(debt, repr(error), REST_SECONDS_MAX)

    async def _put_off(self, debt: Debt, reason: str, seconds: float) -> None:
        try:
            await self._catalogue.put_off(debt, reason, seconds=seconds)
        except Fault as fault:
            # Its hold runs out by itself and another round takes it.
            log.warning("cannot put off %s of %s: %s", debt.kind, debt.about, fault.message)


class Later(Exception):
    """Nothing is wrong, but there is nothing to do for it yet."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds

"""Which jobs the engine has in hand, many at a time: the book is compared with it now and then.

A job that is ready has a ticket in a list that anybody may take from or delete. Where fewer messages lie in
the lists than jobs are ready, the lists are read, and tickets that are in none are put back. A ticket that
comes or goes meanwhile is looked for once more, and one too many is passed over when its turn comes.

A server that lost its tail may have forgotten ends as well, and takes for running what no worker runs. Its
worker lives, so only the end of the lease would tell; the book knows sooner.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence

from penstock.engines.redis import settling
from penstock.engines.redis.access import Access
from penstock.engines.redis.names import packed
from penstock.model.jobs import JobId
from penstock.model.outcomes import Outcome
from penstock.model.rules import Verdict, after_attempt

log = logging.getLogger("penstock.redis")
PAGE = 1_000
_OURS = re.compile(rb'\{"job_id":"([\w.:-]+)","seq":\d+,"created_us":')


class Comparing:
    """Remembers the tickets it has seen, while some are missing: a book of many pages reads a list once."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._seen: set[bytes] = set()

    async def unheld(self, job_ids: Sequence[JobId]) -> set[JobId]:
        """Those that neither wait nor run here, unknown or ended; no other is left without a ticket."""
        if not job_ids:
            return set()
        found, ready = await self._access.run("unheld", packed(list(job_ids)))
        if ready:
            await self._put_back(ready)
        else:
            self._seen.clear()
        return {JobId(job_id.decode()) for job_id in found}

    async def running(self) -> list[JobId]:
        """Those that are leased here."""
        found = await self._access.client.call("ZRANGE", self._access.names.running, 0, -1, again=True)
        return [JobId(job_id.decode()) for job_id in found]

    async def end(self, ends: Mapping[JobId, Outcome]) -> int:
        """End leased jobs as the book says they ended; how many still were leased."""
        access, now = self._access, self._access.clock.now()

        def judge(running: settling.Running) -> Verdict:
            return after_attempt(running.attempt, ends[running.job_id], now, access.rules)

        known = await settling.read_running(access, list(ends))
        settled = await settling.settle_all(
            access, list(known.values()), judge, how=settling.How.TOLD, now=now
        )
        if settled:
            access.ring()
        return len(settled)

    async def _put_back(self, ready: Sequence[Sequence[bytes]]) -> None:
        unseen = [row for row in ready if _name_of(row) not in self._seen]
        if not unseen:
            return
        self._seen = await self._tickets({row[1] for row in ready})
        missing = [row[0].decode() for row in unseen if _name_of(row) not in self._seen]
        if missing and (put := await self._access.run("put_back", packed(missing))):
            log.warning("%d jobs had lost their place in the lists of Redis, and have it again", put)
            self._access.ring()

    async def _tickets(self, lists: set[bytes]) -> set[bytes]:
        """Every ticket in these lists; from the left, where what comes meanwhile only moves others on."""
        seen: set[bytes] = set()
        for name in lists:
            at = 0
            while page := await self._access.client.call("LRANGE", name, at, at + PAGE - 1, again=True):
                at += len(page)
                for element in page:
                    ours = _OURS.match(element)
                    seen.add(ours[1] if ours else element)
        return seen


def _name_of(row: Sequence[bytes]) -> bytes:
    """Our tickets are known by their job, another program's message by its bytes."""
    job_id, _, message = row
    ours = _OURS.match(message)
    return ours[1] if ours else message or job_id

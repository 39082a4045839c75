"""The lists of dead letters: the configured one, and the documented one beside it where they differ."""

from __future__ import annotations

from collections.abc import AsyncIterator

from penstock.engines.redis.access import Access
from penstock.engines.redis.names import DEAD_LETTER
from penstock.model.errors import Refused
from penstock.model.letters import Letter, letter_in
from penstock.model.records import stamp

PAGE = 200
PORTION = 1_000
"""Letters one script removes."""
BYTES_GONE = 2


class RedisMailbox:
    """Implements the mailbox port."""

    def __init__(self, access: Access) -> None:
        self._access = access
        self._lists = access.names.dead_letters

    async def walk(self) -> AsyncIterator[Letter]:
        """List by list; letters that come meanwhile push others further on, so some are met twice."""
        for name in self._lists:
            seen: set[bytes] = set()
            at = 0
            while page := await self._access.client.call("LRANGE", name, at, at + PAGE - 1, again=True):
                at += len(page)
                for sealed in page:
                    if sealed not in seen:
                        seen.add(sealed)
                        yield letter_in(sealed, name)

    async def send_back(self, letter: Letter) -> bool:
        """Put its message into the list it came by and remove it, in one; Refused if its bytes are gone."""
        names = self._access.names
        known = {inbox.name for inbox in names.inboxes}
        to = letter.origin if letter.origin in known else names.queue
        # Anybody may write a letter: only a key of ours is read and removed for one.
        key = letter.message_key if (letter.message_key or "").startswith(names.oversized) else None
        keys = [*self._keys_of(letter), to, *([key] if key else [])]
        went = await self._access.run("letter_back", letter.sealed, "", letter.message, keys=keys)
        if went == BYTES_GONE:
            raise Refused(
                f"the bytes of letter {letter.id} are gone, {key} has expired; push its message anew",
                code="ERR_LETTER_UNKNOWN",
            )
        self._access.ring()
        return bool(went)

    async def settle(self, letter: Letter, new: str) -> None:
        """Remove it, remember its job; a crash before leaves a letter whose next replay finds that job."""
        await self._access.run("letter_settle", letter.sealed, new, keys=self._keys_of(letter))

    async def outcome(self, name: str) -> str | None:
        """Which job came of a letter that was replayed, by its id or by its job's."""
        told = await self._access.client.call("GET", self._access.names.replayed(name), again=True)
        return None if told is None else str(told.decode())

    async def count(self, before: float) -> int:
        """How many there are from before that time; one that does not say is old."""
        return sum([_is_from_before(letter, before) async for letter in self.walk()])

    async def purge(self, before: float) -> int:
        """From the old end of each list, a portion a script."""
        removed = 0
        for name in self._lists:
            while gone := await self._access.run("letters_purge", stamp(before) or "", PORTION, keys=[name]):
                removed += int(gone)
        return removed

    def _keys_of(self, letter: Letter) -> list[str]:
        """The list it lies in, and what remembers it by its id and by its job's."""
        replayed = self._access.names.replayed
        return [letter.lies_in or DEAD_LETTER, replayed(letter.id), replayed(letter.job_id or letter.id)]


def _is_from_before(letter: Letter, before: float) -> bool:
    return letter.failed_at is None or letter.failed_at < before

"""Lingering: looking out for a reply for a moment before the loop is left to wait for it.

A server on the same machine answers a small command within some fifty microseconds. To fall asleep until
then and be woken takes longer than that, and hardly less of a processor than to keep looking. So who asks
alone, and waits for nothing else, may linger: the command goes straight to the socket, and the socket is read
until the reply is there or the moment is over. Then the loop waits for it as for any other.

Where a moment was in vain (a server elsewhere, or one that is busy) the next command does not linger, and
after every further one in vain twice as many do not: what that costs is soon nothing.
"""

from __future__ import annotations

import asyncio
import os
import time

MOMENT_SECONDS = 150e-6
SKIPPED_MAX = 4_096
READ_BYTES = 65_536


class Linger:
    """For the socket of one connection, which is the loop's too: what is not read here is read there."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._skips = 0
        """So many commands do not linger from now on."""
        self._vain = 1
        """So many will not after the next one in vain."""

    def is_worth_it(self) -> bool:
        """Whether the next command should; asked once for each."""
        if self._skips:
            self._skips -= 1
            return False
        return True

    def send(self, command: bytes) -> int:
        """How many of its bytes the socket took."""
        try:
            return os.write(self._descriptor, command)
        except OSError:
            return 0  # the loop sends it, and meets what is wrong

    def hear(self) -> bytes:
        """What came within a moment; nothing if the loop had better wait for it."""
        ends = time.perf_counter() + MOMENT_SECONDS
        while time.perf_counter() < ends:
            try:
                heard = os.read(self._descriptor, READ_BYTES)
            except BlockingIOError:
                continue
            except OSError:
                break
            if not heard:
                break
            self._vain = 1
            return heard
        self._skips, self._vain = self._vain, min(2 * self._vain, SKIPPED_MAX)
        return b""


def linger_on(transport: asyncio.Transport) -> Linger | None:
    """None where it cannot help: the server needs our processor, or what comes has to be deciphered."""
    if _processors() < 2 or transport.get_extra_info("sslcontext") is not None:
        return None
    plug = transport.get_extra_info("socket")
    return None if plug is None else Linger(plug.fileno())


def _processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1

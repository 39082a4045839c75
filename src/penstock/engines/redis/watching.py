"""Lists other programs push to, watched without polling: the server itself says when one of them changed.

A program we did not write publishes nothing. But a server remembers what a connection has read, if asked to,
and tells it once when that changes (client tracking, of every Redis since 6.0). So before somebody lies down
to wait, the listening connection asks whether the lists exist; the answer tells of what is there already,
and the server tells of the rest. A server that refuses is looked at from time to time instead.

Not taken: a blocking pop, which takes messages out and loses them with its caller; one blocking move a list,
which is a connection a list; keyspace notifications, which change the server's settings for everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from penstock.engines.redis.protocol import Reply, ReplyError, Wire, Word, packed


class Watch:
    """Watches keys over a connection that listens."""

    def __init__(self, keys: Sequence[Word], changed: Callable[[], None]) -> None:
        self._question = packed(("EXISTS", *keys))
        self._changed = changed
        self._wire: Wire | None = None
        self._armed = False
        self._refused = False

    @property
    def works(self) -> bool:
        """Whether the server tells of changes; if not, only looking does."""
        return self._wire is not None and self._wire.is_usable and not self._refused

    def begin(self, wire: Wire) -> None:
        """On a new connection: speak the protocol that can tell of changes, and ask for it."""
        self._wire, self._armed, self._refused = wire, False, False
        wire.tell(packed(("HELLO", 3)))
        wire.tell(packed(("CLIENT", "TRACKING", "ON")))

    def arm(self) -> None:
        """Be told of the next change; asking twice before it came asks once."""
        if self._armed or not self.works or self._wire is None:
            return
        self._armed = True
        self._wire.tell(self._question)

    def exchange(self, keys: Sequence[Word]) -> None:
        """Watch these keys instead, and be told at once if one of them is there."""
        self._question = packed(("EXISTS", *keys))
        self._armed = False
        self.arm()

    def heard(self, reply: Reply) -> bool:
        """Take what is meant for us; False leaves it to others."""
        if isinstance(reply, int):
            if reply:
                self._changed()
        elif isinstance(reply, ReplyError):
            self._refused = True
        elif isinstance(reply, list) and len(reply) == 2 and reply[0] == b"invalidate":
            self._armed = False
            self._changed()
        else:
            return False
        return True

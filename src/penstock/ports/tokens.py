"""Tokens and tickets: how somebody shows who he is.

T1  `read` returns a principal only for a token whose signature, by a key of ours with the algorithm of that
    key, covers it whole, and whose claims say all that `principal_of` asks. Everything else is Refused.
T2  Codes: ERR_TOKEN_MISSING for no text at all, ERR_TOKEN_EXPIRED for a token that is right but over, and
    ERR_TOKEN_INVALID for the rest; the message of the last is one sentence, whatever the reason.
T3  A token longer than TOKEN_LENGTH_MAX is refused before anything in it is read.
T4  Where the keys cannot be had, `read` raises Unavailable (ERR_KEYS_UNAVAILABLE): the token may be right.
T5  Nothing in a token makes us read a file, open an address or choose an algorithm; a key we do not know has
    the keys asked for again, within the limits of the engine, and no more.

T6  `issue` returns a text nobody can guess; only its hash is kept.
T7  `redeem` returns the principal it was issued for, once, whichever process asks first; after that, and when
    its time is over, it is Refused like any other text (ERR_TICKET_INVALID).
T8  A ticket never outlives the proof it was issued on, and hands on when that ends.
T9  Tickets and passes that are over are removed; one user holds so many of each at most, and then the oldest
    go.
T10 `issue_pass` returns a text like a ticket, for who has come by one. It is never a part of an address, so
    it may be shown again: until that proof ends, for a day at most. A ticket is no pass, nor a pass a ticket.
"""

from __future__ import annotations

from typing import Protocol

from penstock.model.principals import Principal


class Tokens(Protocol):
    """Reads tokens somebody else has signed."""

    async def read(self, token: str) -> Principal:
        """Who shows this token (T1 to T5)."""
        ...


class Tickets(Protocol):
    """Short words in place of a token, for places where a token could be written down."""

    async def issue(self, principal: Principal) -> str:
        """A ticket for him, good once and for a short time (T6, T9)."""
        ...

    async def redeem(self, ticket: str) -> Principal:
        """Who it was issued for (T7, T8)."""
        ...

    async def issue_pass(self, principal: Principal) -> str:
        """A pass for him (T6, T8, T9, T10)."""
        ...

    async def read_pass(self, shown: str) -> Principal:
        """Who it was issued for (T8, T10); Refused as a ticket is."""
        ...

"""Who is asking: the claims of a token, judged, and the person they stand for.

A library proves that a signature is right; what the signed words may say is decided here. Only what the
issuer alone can write is looked at: `user_metadata` and its like belong to the user, who could write anything
into them. Whoever is refused is told one sentence, whatever the reason; the reason is a note on the error,
for those who run the program. Only an expired token is told apart, after everything else about it was right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from penstock.model.catalogue import LOCAL_USER
from penstock.model.errors import Refused

TOKEN_LENGTH_MAX = 8192
"""Longer text is refused before anything in it is read."""
ROLE = "authenticated"
AUDIENCES_MAX = 16
INSTANT_MAX = 253_402_300_799
"""The last second of the year 9999; a later one is no date."""

TICKET = re.compile(r"pst_[A-Za-z0-9_-]{43}")
"""How tickets and passes are written; their beginning shows them where they must not be, as in a log."""
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_NOBODY = "00000000-0000-0000-0000-000000000000"


class Proof(StrEnum):
    """By what somebody showed who he is."""

    TOKEN = "token"  # noqa: S105  # a word, no password
    TICKET = "ticket"
    PASS = "pass"  # noqa: S105  # the same
    LOCAL = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Somebody whose requests are answered."""

    user: str
    """A UUID in lower case, as the events and workspaces of the user name it."""
    role: str = ROLE
    expires_at: float | None = None
    """Seconds since the epoch, after which he must show a new proof; None is never."""
    proof: Proof = Proof.TOKEN

    def is_over(self, now: float) -> bool:
        """Whether the proof no longer counts."""
        return self.expires_at is not None and now >= self.expires_at


LOCAL = Principal(user=LOCAL_USER, proof=Proof.LOCAL)
"""The one person of a program that listens on loopback alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the claims of a token must say."""

    issuer: str
    audience: str
    leeway: float
    """Seconds by which the issuer's clock may differ from ours."""


def principal_of(claims: Mapping[str, object], expected: Expected, now: float) -> Principal:
    """The user these signed claims stand for; Refused where they do not say all they must."""
    if claims.get("iss") != expected.issuer:
        raise invalid_token("iss is not the configured issuer")
    if expected.audience not in _audiences(claims.get("aud")):
        raise invalid_token("aud does not name us")
    if claims.get("role") != ROLE:
        raise invalid_token(f"role is not {ROLE}")
    if claims.get("is_anonymous", False) is not False:
        raise invalid_token("the user is anonymous")
    user = _user(claims.get("sub"))
    issued, expires = _instant(claims, "iat"), _instant(claims, "exp")
    begins = _instant(claims, "nbf") if "nbf" in claims else issued
    if max(issued, begins) > now + expected.leeway:
        raise invalid_token("iat or nbf lies in the future")
    if expires <= max(issued, begins):
        raise invalid_token("exp does not lie after iat and nbf")
    ends = expires + expected.leeway
    if now >= ends:
        raise Refused("the token has expired", code="ERR_TOKEN_EXPIRED")
    return Principal(user=user, expires_at=ends, proof=Proof.TOKEN)


def invalid_token(why: str) -> Refused:
    """The refusal of a token; `why` is a note for logs and never part of the message."""
    refused = Refused("the token is not accepted", code="ERR_TOKEN_INVALID")
    refused.add_note(why)
    return refused


def missing_token() -> Refused:
    """The refusal where there is no token at all."""
    return Refused("a token is needed", code="ERR_TOKEN_MISSING")


def invalid_ticket() -> Refused:
    """The one refusal of a ticket or pass: unknown, used and expired ones look the same."""
    return Refused("the ticket is not accepted", code="ERR_TICKET_INVALID")


def is_user_id(text: object) -> bool:
    """Whether this is a UUID in the one form we compare and store: lower case, with dashes, not all zero."""
    return isinstance(text, str) and _UUID.fullmatch(text) is not None and text != _NOBODY


def _user(subject: object) -> str:
    if not isinstance(subject, str) or not is_user_id(subject):
        raise invalid_token("sub is not a UUID in lower case")
    return subject


def _audiences(given: object) -> tuple[str, ...]:
    if isinstance(given, str):
        return (given,)
    if isinstance(given, list) and len(given) <= AUDIENCES_MAX:
        names = tuple(each for each in given if isinstance(each, str))
        return names if len(names) == len(given) else ()
    return ()


def _instant(claims: Mapping[str, object], name: str) -> int:
    """A whole number of seconds; what is written otherwise could be read otherwise by the next program."""
    value = claims.get(name)
    # A bool is an int to Python, and true is no time.
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value <= INSTANT_MAX:
        raise invalid_token(f"{name} is not a time in whole seconds")
    return value

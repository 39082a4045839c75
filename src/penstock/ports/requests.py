"""Requests that may be sent again.

Q1  An answer kept under a key is given again to the same user, for the same request, for KEPT_SECONDS.
Q2  The same key for another request is Refused ERR_IDEMPOTENCY_MISMATCH, and nothing is done.
Q3  An answer is kept in the transaction that did the work: a crash or a refusal leaves neither.
Q4  Keys are a user's own: nobody meets another's.
Q5  Answers are bounded in size and number; what is too old, or the oldest of too many, is forgotten.
"""

from __future__ import annotations

from typing import Protocol

from penstock.model.requests import Answered


class Requests(Protocol):
    """The verbs, inside a transaction."""

    def earlier(self, user: str, key: str, fingerprint: str) -> Answered | None:
        """What the same request was answered before (Q1, Q2, Q4); None if it is new."""
        ...

    def knows(self, user: str, key: str) -> bool:
        """Whether some request of the user was answered under the key and is kept (Q1, Q4)."""
        ...

    def keep(self, user: str, key: str, fingerprint: str, answered: Answered) -> None:
        """Keep the answer to a new request (Q3, Q5); one too large is Refused ERR_ANSWER_TOO_LARGE."""
        ...

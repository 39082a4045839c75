"""Reading tokens: spelling, key, signature, claims, in this order and no other.

The key says which algorithm counts; the token's header must only agree. So a public key can never be taken
for a secret, and there is no algorithm called none.
"""

from __future__ import annotations

import logging

from penstock.engines.jwt.compact import Compact, compact_of
from penstock.engines.jwt.keys import Keys
from penstock.model.errors import Refused
from penstock.model.principals import Expected, Principal, invalid_token, principal_of
from penstock.ports.clock import Clock

log = logging.getLogger("penstock.tokens")


class JwtTokens:
    """Implements `Tokens` for JSON Web Tokens, signed by one of the keys."""

    def __init__(self, keys: Keys, expected: Expected, clock: Clock) -> None:
        self._keys, self._expected, self._clock = keys, expected, clock

    async def read(self, token: str) -> Principal:
        """Who shows this token."""
        try:
            compact = compact_of(token)
            await self._check_signature(compact)
            return principal_of(compact.claims(), self._expected, self._clock.now())
        except Refused as refused:
            log.debug("a token was refused: %s", "; ".join(getattr(refused, "__notes__", [refused.code])))
            raise

    async def _check_signature(self, compact: Compact) -> None:
        key = await self._keys.find(compact.key_id)
        if key is None:
            raise invalid_token("no key of ours has its kid")
        if compact.algorithm != key.algorithm:
            raise invalid_token("alg is not that of its key")
        if not key.verifies(compact.signed, compact.signature):
            raise invalid_token("its signature is wrong")

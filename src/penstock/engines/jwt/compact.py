"""A token as it is written: three parts, each in the one spelling it can have.

Base64 has spare bits and padding, JSON has repeated keys; a token that can be written in two ways can be read
in two ways. Whatever is not spelt as every signer spells it is refused here, before a key is looked for.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field

from penstock.model.errors import Refused
from penstock.model.principals import TOKEN_LENGTH_MAX, invalid_token, missing_token
from penstock.model.strict_json import object_of

_COMPACT = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
_HEADER = frozenset({"alg", "typ", "kid"})
"""Every other member asks for something: a key from elsewhere, another packing, an extension."""
_TYPES = frozenset({"jwt", "at+jwt"})
_KEY_ID = re.compile(r"(?!.*(?:\.\.|//))[A-Za-z0-9_+=:-][A-Za-z0-9_+/=:.-]{0,127}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """A token taken apart; nothing in it is believed yet."""

    algorithm: str
    key_id: str | None
    signed: bytes = field(repr=False)
    signature: bytes = field(repr=False)
    payload: bytes = field(repr=False)

    def claims(self) -> dict[str, object]:
        """What it says; to be asked only after the signature was found right."""
        return _object(self.payload, "payload")


def compact_of(token: str) -> Compact:
    """Take a token apart; Refused if it is not written as tokens are."""
    if not token:
        raise missing_token()
    if len(token) > TOKEN_LENGTH_MAX:
        raise invalid_token(f"it is longer than {TOKEN_LENGTH_MAX} characters")
    if _COMPACT.fullmatch(token) is None:
        raise invalid_token("it is not three parts of base64url")
    signed, _, signature = token.rpartition(".")
    header, _, payload = signed.partition(".")
    told = _object(decoded(header), "header")
    return Compact(
        algorithm=_algorithm(told),
        key_id=_key_id(told),
        signed=signed.encode("ascii"),
        signature=decoded(signature),
        payload=decoded(payload),
    )


def decoded(text: str) -> bytes:
    """The bytes of base64url without padding, in the one spelling they have."""
    try:
        data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise invalid_token("a part is no base64url") from None
    if urlsafe_b64encode(data).rstrip(b"=") != text.encode("ascii", "replace"):
        raise invalid_token("a part is base64url in another spelling than its own")
    return data


def is_key_id(text: object) -> bool:
    """Whether this can be the name of a key: short, plain, and no path."""
    return isinstance(text, str) and _KEY_ID.fullmatch(text) is not None


def _algorithm(header: dict[str, object]) -> str:
    if header.keys() - _HEADER:
        raise invalid_token("the header holds more than alg, typ and kid")
    typ, algorithm = header.get("typ", "JWT"), header.get("alg")
    if not isinstance(typ, str) or typ.lower() not in _TYPES:
        raise invalid_token("typ is not JWT")
    if not isinstance(algorithm, str):
        raise invalid_token("alg is no text")
    return algorithm


def _key_id(header: dict[str, object]) -> str | None:
    if "kid" not in header:
        return None
    key_id = header["kid"]
    if not isinstance(key_id, str) or not is_key_id(key_id):
        raise invalid_token("kid is no name of a key")
    return key_id


def _object(data: bytes, part: str) -> dict[str, object]:
    try:
        return object_of(data, bytes_max=TOKEN_LENGTH_MAX)
    except Refused:
        # What strict JSON has to say quotes the token.
        raise invalid_token(f"the {part} is no JSON object that reads one way alone") from None

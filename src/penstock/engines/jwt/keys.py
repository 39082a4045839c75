"""Keys, each with the one algorithm it is for, and the published sets they come in.

A set may hold keys for other purposes, and keys we would not trust: too short, off their curve, private,
symmetric. Those are left out, each with a reason. A name two keys share names neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import get_default_algorithms
from jwt.exceptions import InvalidKeyError

from penstock.engines.jwt.compact import decoded, is_key_id
from penstock.model.errors import Broken, Refused
from penstock.model.strict_json import object_of

SET_BYTES_MAX = 65_536
KEYS_MAX = 64
MODULUS_BITS = (2048, 8192)
"""Fewer can be broken, more cost us time on every token somebody makes up."""
EXPONENT = 65_537
COORDINATE_BYTES = 32
_PRIVATE = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_ALGORITHMS = get_default_algorithms()


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """What verifies a signature, and by which algorithm alone."""

    algorithm: str
    material: Any = field(repr=False)

    def verifies(self, signed: bytes, signature: bytes) -> bool:
        """Whether the signature is this key's."""
        return bool(_ALGORITHMS[self.algorithm].verify(signed, self.material, signature))


class Keys(Protocol):
    """Where the key of a token is found."""

    async def find(self, key_id: str | None) -> Key | None:
        """The key of this name, if it is ours; Unavailable where that cannot be known now."""
        ...


class SecretKey:
    """One secret for every token; names of keys mean nothing to it."""

    def __init__(self, secret: str) -> None:
        try:
            material = _ALGORITHMS["HS256"].prepare_key(secret)
        except InvalidKeyError as error:
            raise Refused(f"auth.secret cannot be used: {error}", code="ERR_CONFIGURATION") from None
        self._key = Key(algorithm="HS256", material=material)

    async def find(self, key_id: str | None) -> Key | None:
        """The secret."""
        return self._key


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySet:
    """The keys of a set we can use, by name, and why others were left out."""

    keys: Mapping[str, Key]
    left_out: tuple[str, ...] = ()


class _Unfit(Exception):
    """Why a key is left out."""


def key_set_of(data: bytes) -> KeySet:
    """Read a published set; Broken if it is none. One that holds nothing for us says that no key counts."""
    try:
        entries = object_of(data, bytes_max=SET_BYTES_MAX).get("keys")
    except Refused as refused:
        raise _no_set(refused.message) from None
    if not isinstance(entries, list) or len(entries) > KEYS_MAX:
        raise _no_set(f"keys is no list of at most {KEYS_MAX}")
    names = Counter(_name(entry) for entry in entries)
    keys: dict[str, Key] = {}
    left_out: list[str] = []
    for number, entry in enumerate(entries, 1):
        name = _name(entry)
        try:
            if name is None or not isinstance(entry, dict):
                raise _Unfit("it has no kid")
            if names[name] > 1:
                raise _Unfit("another key has the same kid")
            keys[name] = _key(entry)
        except _Unfit as unfit:
            left_out.append(f"key {number}: {unfit}")
    return KeySet(keys=keys, left_out=tuple(left_out))


def _name(entry: object) -> str | None:
    name = entry.get("kid") if isinstance(entry, dict) else None
    return name if isinstance(name, str) and is_key_id(name) else None


def _key(entry: dict[str, object]) -> Key:
    if entry.get("kty") not in ("EC", "RSA"):
        raise _Unfit("kty is neither EC nor RSA")
    if entry.keys() & _PRIVATE:
        raise _Unfit("it is private, and no longer secret")
    if entry.get("use", "sig") != "sig":
        raise _Unfit("use is not sig")
    if "key_ops" in entry and entry["key_ops"] != ["verify"]:
        raise _Unfit("key_ops is not verify alone")
    algorithm = "ES256" if entry["kty"] == "EC" else "RS256"
    if entry.get("alg", algorithm) != algorithm:
        raise _Unfit(f"alg is not {algorithm}")
    material = _point(entry) if algorithm == "ES256" else _modulus(entry)
    return Key(algorithm=algorithm, material=material)


def _point(entry: dict[str, object]) -> ec.EllipticCurvePublicKey:
    if entry.get("crv") != "P-256":
        raise _Unfit("crv is not P-256")
    x, y = _octets(entry, "x"), _octets(entry, "y")
    if len(x) != COORDINATE_BYTES or len(y) != COORDINATE_BYTES:
        raise _Unfit("x or y has another length than the curve's")
    try:
        return ec.EllipticCurvePublicNumbers(
            int.from_bytes(x), int.from_bytes(y), ec.SECP256R1()
        ).public_key()
    except ValueError:
        raise _Unfit("its point is not on the curve") from None


def _modulus(entry: dict[str, object]) -> rsa.RSAPublicKey:
    n, e = (int.from_bytes(_octets(entry, name)) for name in ("n", "e"))
    if not MODULUS_BITS[0] <= n.bit_length() <= MODULUS_BITS[1]:
        raise _Unfit(f"its modulus has {n.bit_length()} bits")
    if e != EXPONENT or n % 2 == 0:
        raise _Unfit("its exponent or modulus is odd in no good way")
    try:
        return rsa.RSAPublicNumbers(e, n).public_key()
    except ValueError:
        raise _Unfit("its numbers are no RSA key") from None


def _octets(entry: dict[str, object], name: str) -> bytes:
    value = entry.get(name)
    try:
        return decoded(value) if isinstance(value, str) else b""
    except Refused:
        raise _Unfit(f"{name} is no base64url") from None


def _no_set(why: str) -> Broken:
    return Broken(f"this is no set of keys we can use: {why}", code="ERR_KEYS_UNAVAILABLE")

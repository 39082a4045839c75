"""Tokens made by hand, byte by byte: what an honest issuer signs, and what an attacker sends."""

from __future__ import annotations

import hashlib
import hmac
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from functools import cache

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from penstock.model.principals import Expected
from tests.support.clock import START

SECRET = "4f1c0b7a9e5d83260c7be1f4a85d3927"
USER = "3f2b8c1e-5a4d-4e6f-9b7a-1c2d3e4f5a6b"
ISSUER = "https://auth.example/auth/v1"
AUDIENCE = "authenticated"
EXPECTED = Expected(issuer=ISSUER, audience=AUDIENCE, leeway=10)
KEY_ID = "b9f3a2c4-key-1"


def claims(*, without: tuple[str, ...] = (), **changed: object) -> dict[str, object]:
    """What an access token says, with some claims changed or left out."""
    usual: dict[str, object] = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": USER,
        "role": "authenticated",
        "iat": int(START) - 60,
        "exp": int(START) + 3540,
        "email": "ann@example.org",
        "app_metadata": {"provider": "email"},
        "user_metadata": {"name": "Ann"},
        "is_anonymous": False,
        "session_id": "5f0c3d5e-6a51-4d0e-8f66-0a9a7a1f4c55",
    }
    return {name: value for name, value in {**usual, **changed}.items() if name not in without}


def encoded(data: bytes) -> str:
    """Base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def text_of(value: object) -> str:
    """A value as JSON in base64url; bytes are taken as they are."""
    return encoded(value if isinstance(value, bytes) else json.dumps(value).encode())


def hs256(payload: object = None, *, secret: str | bytes = SECRET, header: object = None) -> str:
    """A token signed with a secret."""
    told = {"alg": "HS256", "typ": "JWT"} if header is None else header
    signed = f"{text_of(told)}.{text_of(claims() if payload is None else payload)}"
    key = secret.encode() if isinstance(secret, str) else secret
    return f"{signed}.{encoded(hmac.new(key, signed.encode(), hashlib.sha256).digest())}"


def es256(
    payload: object = None, *, key: ec.EllipticCurvePrivateKey | None = None, header: object = None
) -> str:
    """A token signed with a key on P-256."""
    told = {"alg": "ES256", "typ": "JWT", "kid": KEY_ID} if header is None else header
    signed = f"{text_of(told)}.{text_of(claims() if payload is None else payload)}"
    return f"{signed}.{encoded(raw_signature(key or curve_key(), signed.encode()))}"


def raw_signature(key: ec.EllipticCurvePrivateKey, signed: bytes) -> bytes:
    """r and s side by side, as tokens carry them."""
    r, s = decode_dss_signature(key.sign(signed, ec.ECDSA(hashes.SHA256())))
    return r.to_bytes(32) + s.to_bytes(32)


def rs256(payload: object = None, *, key: rsa.RSAPrivateKey | None = None, header: object = None) -> str:
    """A token signed with an RSA key."""
    told = {"alg": "RS256", "typ": "JWT", "kid": KEY_ID} if header is None else header
    signed = f"{text_of(told)}.{text_of(claims() if payload is None else payload)}"
    signature = (key or rsa_key()).sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signed}.{encoded(signature)}"


@cache
def curve_key(number: int = 1) -> ec.EllipticCurvePrivateKey:
    """One of several keys, the same for the whole run."""
    return ec.derive_private_key(number * 0x1234567, ec.SECP256R1())


def rsa_key(bits: int = 2048) -> rsa.RSAPrivateKey:
    """The same for the whole run: making one takes its time."""
    return _made(bits)


@cache
def _made(bits: int) -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65_537, key_size=bits)


def curve_jwk(number: int = 1, *, key_id: str = KEY_ID, **changed: object) -> dict[str, object]:
    """The public half as a set publishes it."""
    point = curve_key(number).public_key().public_numbers()
    usual: dict[str, object] = {
        "kty": "EC",
        "crv": "P-256",
        "x": encoded(point.x.to_bytes(32)),
        "y": encoded(point.y.to_bytes(32)),
        "kid": key_id,
        "use": "sig",
        "alg": "ES256",
        "key_ops": ["verify"],
    }
    return {**usual, **changed}


def rsa_jwk(*, bits: int = 2048, key_id: str = KEY_ID, **changed: object) -> dict[str, object]:
    """The same of an RSA key."""
    numbers = rsa_key(bits).public_key().public_numbers()
    usual: dict[str, object] = {
        "kty": "RSA",
        "n": encoded(numbers.n.to_bytes((numbers.n.bit_length() + 7) // 8)),
        "e": encoded(numbers.e.to_bytes(3)),
        "kid": key_id,
        "use": "sig",
        "alg": "RS256",
    }
    return {**usual, **changed}


def key_set(*keys: Mapping[str, object]) -> bytes:
    """A published set."""
    return json.dumps({"keys": list(keys)}).encode()

"""Published sets of keys: what is taken of them, and what is left out."""

import json

import pytest

from penstock.engines.jwt.keys import KEYS_MAX, SET_BYTES_MAX, SecretKey, key_set_of
from penstock.model.errors import Broken, Refused
from tests.support.tokens import curve_jwk, curve_key, encoded, key_set, rsa_jwk, rsa_key

GOOD = curve_jwk(9, key_id="good")


def bare(jwk: dict[str, object], *without: str) -> dict[str, object]:
    return {name: value for name, value in jwk.items() if name not in without}


def off_curve() -> str:
    y = curve_key().public_key().public_numbers().y
    return encoded((y ^ 1).to_bytes(32))


@pytest.mark.parametrize(
    ("jwk", "algorithm"),
    [
        (curve_jwk(), "ES256"),
        (rsa_jwk(), "RS256"),
        (bare(curve_jwk(), "use", "alg", "key_ops"), "ES256"),
        (bare(rsa_jwk(), "use", "alg"), "RS256"),
        (curve_jwk(note="more members are no harm"), "ES256"),
    ],
)
def test_a_key_for_signatures_is_taken_with_its_algorithm(jwk: dict[str, object], algorithm: str) -> None:
    """What the set does not say follows from the kind of key."""
    (key,) = key_set_of(key_set(jwk)).keys.values()

    assert key.algorithm == algorithm


UNFIT: list[object] = [
    bare(curve_jwk(), "kid"),
    curve_jwk(kid=""),
    curve_jwk(kid=7),
    curve_jwk(kid="../../x"),
    curve_jwk(kid="k" * 129),
    bare(curve_jwk(), "kty"),
    curve_jwk(kty="ec"),
    curve_jwk(kty="OKP"),
    {"kty": "oct", "k": encoded(b"x" * 32), "kid": "s", "alg": "HS256"},
    {"kty": "RSA", "k": encoded(b"x" * 32), **rsa_jwk()},
    curve_jwk(d=encoded(b"x" * 32)),
    rsa_jwk(d=encoded(b"x" * 256)),
    curve_jwk(use="enc"),
    curve_jwk(use=None),
    curve_jwk(key_ops=["sign"]),
    curve_jwk(key_ops=["verify", "sign"]),
    curve_jwk(key_ops=["verify", "verify"]),
    curve_jwk(key_ops=[]),
    curve_jwk(key_ops="verify"),
    curve_jwk(alg="ES384"),
    curve_jwk(alg="HS256"),
    curve_jwk(alg="RS256"),
    rsa_jwk(alg="PS256"),
    rsa_jwk(alg="RSA-OAEP"),
    rsa_jwk(alg="none"),
    curve_jwk(crv="P-384"),
    curve_jwk(crv="secp256k1"),
    bare(curve_jwk(), "x"),
    curve_jwk(y=off_curve()),
    curve_jwk(x=encoded(bytes(32)), y=encoded(bytes(32))),
    curve_jwk(x=encoded(b"\xff" * 32)),
    curve_jwk(x=encoded(b"\0" + b"x" * 32)),
    curve_jwk(x=encoded(b"x" * 31)),
    curve_jwk(x=f"{curve_jwk()['x']}="),
    curve_jwk(x=f" {curve_jwk()['x']}"),
    curve_jwk(x=7),
    rsa_jwk(bits=1024),
    rsa_jwk(n=encoded(b"\xff" * 1025)),
    rsa_jwk(n=encoded((rsa_key().public_key().public_numbers().n - 1).to_bytes(256))),
    rsa_jwk(n=""),
    rsa_jwk(e=encoded(b"\x01")),
    rsa_jwk(e=encoded(b"\x03")),
    rsa_jwk(e=encoded(b"\x01\x00\x00")),
    "a key",
    None,
    [],
]


@pytest.mark.parametrize("jwk", UNFIT, ids=range(len(UNFIT)))
def test_a_key_we_would_not_trust_is_left_out_with_a_reason(jwk: object) -> None:
    """Private, symmetric, weak, off its curve, for another purpose, or oddly written; others still count."""
    found = key_set_of(json.dumps({"keys": [jwk, GOOD]}).encode())

    assert list(found.keys) == ["good"]
    assert [why.partition(":")[0] for why in found.left_out] == ["key 1"]


def test_a_name_two_keys_share_names_neither() -> None:
    """Nobody can say which was meant."""
    found = key_set_of(key_set(curve_jwk(1), curve_jwk(2), GOOD))

    assert list(found.keys) == ["good"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"keys": {}}',
        b'{"keys": [], "keys": []}',
        b"<html>",
        b"\xff",
        b"[" * 5000,
        key_set(*[curve_jwk(key_id=f"k{number}") for number in range(KEYS_MAX + 1)]),
        key_set(curve_jwk(note="x" * SET_BYTES_MAX)),
    ],
    ids=range(11),
)
def test_what_is_no_set_is_refused_whole(data: bytes) -> None:
    """So that whoever holds keys already keeps them."""
    with pytest.raises(Broken) as broken:
        key_set_of(data)

    assert broken.value.code == "ERR_KEYS_UNAVAILABLE"


@pytest.mark.parametrize("data", [b'{"keys": []}', key_set(curve_jwk(use="enc"))], ids=["empty", "unfit"])
def test_a_set_without_a_key_for_us_is_an_answer(data: bytes) -> None:
    """Whoever publishes it takes back the keys we held."""
    assert dict(key_set_of(data).keys) == {}


@pytest.mark.parametrize("secret", ["", "-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n"])
def test_a_key_is_no_secret(secret: str) -> None:
    """A published key taken for a secret would let everybody sign."""
    with pytest.raises(Refused) as refused:
        SecretKey(secret)

    assert refused.value.code == "ERR_CONFIGURATION"
    assert "MFkw" not in refused.value.message

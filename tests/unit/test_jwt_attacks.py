"""Tokens as attackers send them, against every kind of key: none gets in, and none learns why."""

import json
import time

import pytest
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding

from penstock.engines.jwt.compact import compact_of
from penstock.engines.jwt.keys import Key, Keys, SecretKey, key_set_of
from penstock.engines.jwt.tokens import JwtTokens
from penstock.model.errors import Refused
from penstock.model.principals import TOKEN_LENGTH_MAX, Proof
from tests.support.clock import FakeClock
from tests.support.tokens import (
    EXPECTED,
    KEY_ID,
    SECRET,
    USER,
    claims,
    curve_jwk,
    curve_key,
    encoded,
    es256,
    hs256,
    key_set,
    raw_signature,
    rs256,
    rsa_jwk,
    rsa_key,
    text_of,
)

ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
"""Of the curve P-256."""
HEADER = {"alg": "HS256", "typ": "JWT"}
CURVE_HEADER = {"alg": "ES256", "typ": "JWT", "kid": KEY_ID}


class Held:
    """Keys that are simply there."""

    def __init__(self, data: bytes) -> None:
        self._keys = key_set_of(data).keys

    async def find(self, key_id: str | None) -> Key | None:
        return self._keys.get(key_id or "")


def reader(keys: Keys) -> JwtTokens:
    return JwtTokens(keys, EXPECTED, FakeClock())


def by_secret() -> JwtTokens:
    return reader(SecretKey(SECRET))


def by_curve() -> JwtTokens:
    return reader(Held(key_set(curve_jwk())))


def by_rsa() -> JwtTokens:
    return reader(Held(key_set(rsa_jwk())))


async def code_of(tokens: JwtTokens, token: str) -> str:
    with pytest.raises(Refused) as refused:
        await tokens.read(token)
    if refused.value.code == "ERR_TOKEN_INVALID":
        assert refused.value.message == "the token is not accepted"
        assert not refused.value.__cause__
    return refused.value.code


async def test_honest_tokens_of_every_kind_are_read() -> None:
    """T1: by secret, by curve, by RSA."""
    found = [
        await by_secret().read(hs256()),
        await by_secret().read(hs256(header={**HEADER, "kid": "any/name=="})),
        await by_secret().read(hs256(header={"alg": "HS256"})),
        await by_curve().read(es256()),
        await by_rsa().read(rs256()),
    ]

    assert {(each.user, each.proof) for each in found} == {(USER, Proof.TOKEN)}


async def test_no_token_and_an_old_one_are_told_apart() -> None:
    """T2: the only things a caller learns."""
    over = claims(iat=1_700_000_000, exp=1_700_003_600)

    assert await code_of(by_secret(), "") == "ERR_TOKEN_MISSING"
    assert await code_of(by_secret(), hs256(over)) == "ERR_TOKEN_EXPIRED"
    assert await code_of(by_secret(), hs256(over, secret="x" * 32)) == "ERR_TOKEN_INVALID"


def swapped(token: str, part: int, text: str) -> str:
    parts = token.split(".")
    parts[part] = text
    return ".".join(parts)


def changed(token: str, at: int) -> str:
    """The token with one character of its signature another."""
    other = "A" if token[at] != "A" else "B"
    return token[:at] + other + (token[at + 1 :] if at != -1 else "")


def public_pem() -> bytes:
    return (
        rsa_key()
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def public_der() -> bytes:
    return (
        rsa_key()
        .public_key()
        .public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    )


def unsigned(alg: object) -> list[str]:
    signed = f"{text_of({'alg': alg, 'typ': 'JWT', 'kid': KEY_ID})}.{text_of(claims())}"
    return [f"{signed}.", signed, f"{signed}.{encoded(b'x')}", hs256(header={"alg": alg}, secret=b"")]


def malleable(token: str) -> str:
    """The same signature in another spelling: the last character's spare bits set."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return token[:-1] + alphabet[alphabet.index(token[-1]) | 1]


ALGORITHMS: list[object] = [
    *("none", "None", "NONE", "nOnE", "none ", "", "HS256 ", "hs256"),
    *(None, 0, ["HS256"], {}),
]
NO_ALGORITHM = [token for alg in ALGORITHMS for token in unsigned(alg)]

CONFUSED = [
    *(
        hs256(secret=material, header={"alg": "HS256", "typ": "JWT", "kid": KEY_ID})
        for material in (
            public_pem(),
            public_pem().strip(),
            public_der(),
            json.dumps(rsa_jwk()).encode(),
            str(rsa_jwk()["n"]).encode(),
            KEY_ID.encode(),
            b"",
        )
    ),
    es256(header={"alg": "RS256", "kid": KEY_ID}),
    rs256(header={"alg": "PS256", "kid": KEY_ID}),
    rs256(header={"alg": "RS512", "kid": KEY_ID}),
    rs256(header={"alg": "HS256", "kid": KEY_ID}),
    es256(header={"alg": "ES384", "kid": KEY_ID}),
    es256(header={"alg": "EdDSA", "kid": KEY_ID}),
]

KEY_NAMES: list[object] = [
    "../../../../dev/null",
    "/dev/null",
    "a/../../b",
    "x' UNION SELECT 'secret' --",
    "a; rm -rf /",
    "| cat /etc/passwd",
    "http://evil.example/keys",
    "k" * 129,
    "k" * 4000,
    "",
    " ",
    "a\0b",
    "kl\u00fcssel",
    None,
    7,
    True,
    [KEY_ID],
    {"kid": KEY_ID},
]

HEADERS: list[object] = [
    *({**HEADER, "kid": name} for name in KEY_NAMES),
    *(
        {**HEADER, name: value}
        for name, value in (
            ("jku", "https://evil.example/keys"),
            ("jwk", curve_jwk(2)),
            ("x5u", "https://evil.example/chain"),
            ("x5c", ["MIIB"]),
            ("x5t", "abc"),
            ("x5t#S256", "abc"),
            ("crit", ["exp"]),
            ("crit", []),
            ("b64", False),
            ("b64", True),
            ("zip", "DEF"),
            ("enc", "A256GCM"),
            ("cty", "JWT"),
            ("epk", {}),
            ("__proto__", {}),
        )
    ),
    {"typ": "JWT"},
    {"alg": "HS256", "typ": "JWE"},
    {"alg": "HS256", "typ": "dpop+jwt"},
    {"alg": "HS256", "typ": 1},
    b'{"alg":"HS256","alg":"HS256"}',
    b'{"alg":"none","alg":"HS256"}',
    b'{"alg":"HS256","ALG":"none"}',
    b'["alg","HS256"]',
    b'"HS256"',
    b"null",
    b"",
    b"\xff\xfe",
    b'\xef\xbb\xbf{"alg":"HS256"}',
    b'{"alg":"HS256"}trailing',
    b'{"alg":"HS256",}',
    b'{"alg":"HS256\\u0000"}',
    b'{"alg":"\\ud800"}',
    b'{"alg":NaN}',
    b"[" * 3000,
    b'{"a":' * 600 + b"1" + b"}" * 600,
]

PAYLOADS: list[object] = [
    json.dumps(claims())[:-1].encode() + b',"sub":"' + USER.encode() + b'"}',
    json.dumps(claims(role="anon"))[:-1].encode() + b',"role":"authenticated"}',
    json.dumps(claims()).encode() + b"{}",
    json.dumps([claims()]).encode(),
    json.dumps({"nested": claims()}).encode(),
    json.dumps(json.dumps(claims())).encode(),
    json.dumps(claims(deep=[[[[[[[[]]]]]]]]))
    .encode()
    .replace(b"[[[[[[[[]]]]]]]]", b"[" * 2000 + b"]" * 2000),
    json.dumps(claims()).encode().replace(b'"exp": ', b'"exp": 1e3'),
    json.dumps(claims()).encode().replace(b'"exp": ', b'"exp": ' + b"9" * 400),
    json.dumps(claims()).encode().replace(b'"exp": ', b'"exp": -'),
    json.dumps(claims(exp=None)).encode().replace(b"null", b"Infinity"),
    json.dumps(claims()).encode("utf-16"),
    b"{}",
    b"null",
    b"1",
]


def spellings() -> list[str]:
    honest = hs256()
    header, payload, signature = honest.split(".")
    return [
        f" {honest}",
        f"{honest} ",
        f"{honest}\n",
        f"\t{honest}",
        f"{header} .{payload}.{signature}",
        f"{header}\n.{payload}.{signature}",
        f"{honest}=",
        f"{header}==.{payload}.{signature}",
        f"{header}.{payload}=.{signature}",
        honest.replace(".", ".."),
        honest.replace(".", "\u2024"),
        f".{payload}.{signature}",
        f"{header}..{signature}",
        f"{header}.{payload}",
        f"{header}.{payload}.{signature}.",
        f"{honest}.{signature}",
        f"{honest}.{signature}.{signature}",  # the five parts of an encrypted one
        f"Bearer {honest}",
        f'"{honest}"',
        f"{honest}\0",
        honest.lower(),
        malleable(honest),
        swapped(honest, 2, signature + "A"),
        swapped(honest, 2, signature + "AAAA"),
        swapped(honest, 2, signature[:-1]),
        swapped(honest, 2, signature[:-4]),
        swapped(honest, 2, signature[:21]),
        swapped(honest, 2, "AAAA"),
        swapped(honest, 2, "A" * 43),
        swapped(honest, 2, encoded(signature.encode())),
        changed(honest, -1),
        changed(honest, -20),
        changed(honest, -43),
        swapped(honest, 1, text_of(claims(sub="11111111-2222-4333-8444-555555555555"))),
        hs256(secret="another secret of thirty-two bytes"),
        hs256(secret=SECRET.upper()),
        json.dumps({"payload": payload, "signatures": [{"protected": header, "signature": signature}]}),
        "..",
        "a.b.c",
        "null",
        "\ud800",
    ]


SPELLINGS = spellings()
FOR_SECRETS = [
    *NO_ALGORITHM,
    *SPELLINGS,
    *(hs256(header=header) for header in HEADERS),
    *(hs256(payload) for payload in PAYLOADS),
    es256(),
    rs256(),
]


@pytest.mark.parametrize("token", FOR_SECRETS, ids=range(len(FOR_SECRETS)))
async def test_no_attack_passes_a_secret(token: str) -> None:
    """T1, T2: odd algorithms, names of keys, headers, payloads and spellings, each rightly signed or not."""
    assert await code_of(by_secret(), token) == "ERR_TOKEN_INVALID"


@pytest.mark.parametrize("token", CONFUSED + NO_ALGORITHM, ids=range(len(CONFUSED + NO_ALGORITHM)))
async def test_a_public_key_is_never_taken_for_a_secret(token: str) -> None:
    """T1: the key says which algorithm counts, not the token."""
    for tokens in (by_rsa(), by_curve()):
        assert await code_of(tokens, token) == "ERR_TOKEN_INVALID"


def curve_signatures() -> dict[str, bytes]:
    """What could stand where r and s should."""
    honest = es256()
    signed = honest.rpartition(".")[0].encode()
    raw = raw_signature(curve_key(), signed)
    r, s = int.from_bytes(raw[:32]), int.from_bytes(raw[32:])

    def both(one: int, other: int) -> bytes:
        return one.to_bytes(32) + other.to_bytes(32)

    return {
        "r and s are zero": bytes(64),
        "r is zero": both(0, s),
        "s is zero": both(r, 0),
        "both are one": both(1, 1),
        "r is the order": both(ORDER, s),
        "s is the order": both(r, ORDER),
        "r is one more than the order": both(ORDER + 1, s),
        "the largest numbers": b"\xff" * 64,
        "s and r change places": both(s, r),
        "r twice": both(r, r),
        "DER": curve_key().sign(signed, ec.ECDSA(hashes.SHA256())),
        "another hash": raw_signature_sha512(signed),
        "another key": raw_signature(curve_key(2), signed),
        "of other words": raw_signature(curve_key(), signed + b"x"),
        "of the payload alone": raw_signature(curve_key(), signed.partition(b".")[2]),
        "a byte short": raw[:-1],
        "a byte long": raw + b"\0",
        "padded in the middle": raw[:32] + b"\0" + raw[32:],
        "r alone": raw[:32],
        "twice": raw + raw,
        "48-byte halves": r.to_bytes(48) + s.to_bytes(48),
    }


def raw_signature_sha512(signed: bytes) -> bytes:
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    r, s = decode_dss_signature(curve_key().sign(signed, ec.ECDSA(hashes.SHA512())))
    return r.to_bytes(32) + s.to_bytes(32)


@pytest.mark.parametrize("name", curve_signatures())
async def test_no_odd_signature_passes_a_curve(name: str) -> None:
    """T1: numbers out of range, other encodings, other lengths, other keys and hashes."""
    header, payload, _ = es256().split(".")
    forged = f"{header}.{payload}.{encoded(curve_signatures()[name])}"

    assert await code_of(by_curve(), forged) == "ERR_TOKEN_INVALID"


async def test_the_other_signature_of_a_curve_is_the_same_users() -> None:
    """ECDSA has two for every message; both are the key's, and neither says anything else."""
    header, payload, _ = es256().split(".")
    raw = raw_signature(curve_key(), f"{header}.{payload}".encode())
    twin = raw[:32] + (ORDER - int.from_bytes(raw[32:])).to_bytes(32)

    assert (await by_curve().read(f"{header}.{payload}.{encoded(twin)}")).user == USER


def rsa_signatures() -> dict[str, bytes]:
    signed = rs256().rpartition(".")[0].encode()
    honest = rsa_key().sign(signed, padding.PKCS1v15(), hashes.SHA256())
    size = len(honest)
    return {
        "zero": bytes(size),
        "one": (1).to_bytes(size),
        "the modulus": rsa_key().public_key().public_numbers().n.to_bytes(size),
        "signature and modulus": (
            (int.from_bytes(honest) + rsa_key().public_key().public_numbers().n) % (1 << 8 * size)
        ).to_bytes(size),
        "PSS": rsa_key().sign(signed, padding.PSS(padding.MGF1(hashes.SHA256()), 32), hashes.SHA256()),
        "SHA-1": rsa_key().sign(signed, padding.PKCS1v15(), hashes.SHA1()),  # noqa: S303  # the attack
        "SHA-512": rsa_key().sign(signed, padding.PKCS1v15(), hashes.SHA512()),
        "a byte short": honest[1:],
        "a byte long": b"\0" + honest,
        "a byte behind": honest + b"\0",
        "of other words": rsa_key().sign(signed + b"x", padding.PKCS1v15(), hashes.SHA256()),
    }


@pytest.mark.parametrize("name", rsa_signatures())
async def test_no_odd_signature_passes_an_rsa_key(name: str) -> None:
    """T1: other paddings, hashes, lengths and numbers."""
    signed = rs256().rpartition(".")[0]

    assert await code_of(by_rsa(), f"{signed}.{encoded(rsa_signatures()[name])}") == "ERR_TOKEN_INVALID"


async def test_a_large_token_is_refused_before_it_is_read() -> None:
    """T3: a megabyte costs no more than a look at its length."""
    huge = [
        "A" * (1 << 20),
        ".".join(["A" * 400_000] * 3),
        "." * (1 << 20),
        hs256(claims(note="x" * (1 << 20))),
        hs256(header={**HEADER, "kid": "k" * (1 << 20)}),
    ]
    began = time.process_time()
    for token in huge:
        assert await code_of(by_secret(), token) == "ERR_TOKEN_INVALID"

    assert time.process_time() - began < 0.5


async def test_a_token_may_be_as_long_as_the_limit_and_no_longer() -> None:
    """T3: to the character."""
    room = TOKEN_LENGTH_MAX - len(hs256(claims(note="")))
    fits = hs256(claims(note="x" * (room * 3 // 4)))
    assert len(fits) <= TOKEN_LENGTH_MAX
    assert (await by_secret().read(fits)).user == USER

    longer = hs256(claims(note="x" * (room * 3 // 4 + 8)))
    assert len(longer) > TOKEN_LENGTH_MAX
    assert await code_of(by_secret(), longer) == "ERR_TOKEN_INVALID"


async def test_every_changed_character_is_noticed() -> None:
    """T1: the signature covers the whole, and has one spelling."""
    honest = es256()
    for at in range(0, len(honest), 7):
        await code_of(by_curve(), changed(honest, at))


def test_nothing_is_believed_before_the_signature() -> None:
    """Taking a token apart reads its header; its claims stay bytes."""
    assert compact_of(swapped(hs256(), 1, encoded(b"not json"))).payload == b"not json"


async def test_a_refusal_is_logged_without_the_token(caplog: pytest.LogCaptureFixture) -> None:
    """Those who run the program learn the reason, and nothing they could use."""
    caplog.set_level("DEBUG", "penstock")
    token = hs256(claims(role="service_role"))

    await code_of(by_secret(), token)

    assert "role is not authenticated" in caplog.text
    assert not any(part in caplog.text for part in token.split("."))

"""Forged, borrowed and broken tokens shown to the running program, by every way a token can come in."""

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from penstock.model.principals import TOKEN_LENGTH_MAX
from tests.support.command_line import PATIENCE, Program
from tests.support.live import a_user
from tests.support.served import Served, serving
from tests.support.stalls import Machine
from tests.support.tenants import SIGNED_IN
from tests.support.tokens import (
    KEY_ID,
    claims,
    curve_jwk,
    curve_key,
    encoded,
    es256,
    hs256,
    key_set,
    rs256,
    rsa_jwk,
    text_of,
)
from tests.unit.test_jwt_attacks import public_pem, swapped

pytestmark = pytest.mark.xdist_group("api_tokens")
NOW = int(time.time())
USER = a_user()
RSA_ID = "b9f3a2c4-key-2"
INVALID, EXPIRED, MISSING = "ERR_TOKEN_INVALID", "ERR_TOKEN_EXPIRED", "ERR_TOKEN_MISSING"


def now(*, without: tuple[str, ...] = (), **changed: object) -> dict[str, object]:
    """Claims that are right at this moment, with some changed."""
    return claims(without=without, **{"sub": USER, "iat": NOW - 60, "exp": NOW + 3_600, **changed})


def headed(**changed: object) -> dict[str, object]:
    return {"alg": "ES256", "typ": "JWT", "kid": KEY_ID, **changed}


HONEST = es256(now())
UNSIGNED = f"{text_of(headed(alg='none'))}.{text_of(now())}."
ATTACKS = {
    "no algorithm": (UNSIGNED, INVALID),
    "no algorithm, with a signature": (UNSIGNED + encoded(b"x" * 64), INVALID),
    "public key as a secret": (
        hs256(now(), secret=public_pem(), header={"alg": "HS256", "kid": RSA_ID}),
        INVALID,
    ),
    "another key's algorithm": (rs256(now(), header={"alg": "RS256", "kid": KEY_ID}), INVALID),
    "a file as the key's name": (
        hs256(now(), secret=b"", header={"alg": "HS256", "kid": "../../../../dev/null"}),
        INVALID,
    ),
    "SQL as the key's name": (es256(now(), header=headed(kid="x' UNION SELECT 'k' --")), INVALID),
    "a key of its own": (es256(now(), key=curve_key(2), header=headed(jwk=curve_jwk(2))), INVALID),
    "a key from elsewhere": (es256(now(), header=headed(jku="https://evil.example/keys")), INVALID),
    "an unknown key": (es256(now(), key=curve_key(2), header=headed(kid="another")), INVALID),
    "another audience": (es256(now(aud="anon")), INVALID),
    "another issuer": (es256(now(iss="https://evil.example/auth/v1")), INVALID),
    "another role": (es256(now(role="service_role")), INVALID),
    "a role the user wrote": (
        es256(now(without=("role",), user_metadata={"role": "authenticated"})),
        INVALID,
    ),
    "a user who is no UUID": (es256(now(sub="1 OR 1=1")), INVALID),
    "nobody": (es256(now(sub="00000000-0000-0000-0000-000000000000")), INVALID),
    "a list of users": (es256(now(sub=[USER])), INVALID),
    "no user": (es256(now(without=("sub",))), INVALID),
    "no end": (es256(now(without=("exp",))), INVALID),
    "not yet": (es256(now(nbf=NOW + 3_600)), INVALID),
    "over": (es256(now(iat=NOW - 7_200, exp=NOW - 3_600)), EXPIRED),
    "over, and forged": (es256(now(iat=NOW - 7_200, exp=NOW - 3_600), key=curve_key(2)), INVALID),
    "another's words under the signature": (swapped(HONEST, 1, text_of(now(sub=a_user()))), INVALID),
    "no token at all": ("nonsense", INVALID),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A program that reads tokens by published keys; at its end its words are read for any token's."""
    folder = tmp_path_factory.mktemp("tokens")
    keys = folder / "keys.json"
    keys.write_bytes(key_set(curve_jwk(), rsa_jwk(key_id=RSA_ID)))
    environment = {name: value for name, value in SIGNED_IN.items() if name != "PENSTOCK_AUTH_SECRET"}
    environment["PENSTOCK_AUTH_JWKS_FILE"] = str(keys)
    with serving(Program(folder), "serve", env=environment) as served:
        yield served
        served.stop()
        assert served.process.stdout is not None
        said = served.process.stdout.read() + "".join(served.lines)
        assert "a token was refused" in said, "the log is not at its most talkative"
        for token in (HONEST, *(token for token, _ in ATTACKS.values())):
            assert not any(part in said for part in token.split(".") if len(part) > 8), token


def by_header(served: Served, token: str) -> tuple[int, str]:
    return refusal(served, "/api/me", {"Authorization": f"Bearer {token}"})


def by_stream(served: Served, token: str) -> tuple[int, str]:
    return refusal(served, "/api/events", {"Authorization": f"Bearer {token}"})


def by_stream_address(served: Served, token: str) -> tuple[int, str]:
    return refusal(served, f"/api/events?{httpx.QueryParams(token=token)}", {})


def by_socket_header(served: Served, token: str) -> tuple[int, str]:
    return end(served, "/ws", headers={"Authorization": f"Bearer {token}"})


def by_socket_address(served: Served, token: str) -> tuple[int, str]:
    return end(served, f"/ws?{httpx.QueryParams(token=token)}")


def by_first_message(served: Served, token: str) -> tuple[int, str]:
    return end(served, "/ws", first=json.dumps({"type": "auth", "token": token}))


HTTP_WAYS = (by_header, by_stream, by_stream_address)
SOCKET_WAYS = (by_socket_header, by_socket_address, by_first_message)


def refusal(served: Served, path: str, headers: dict[str, str]) -> tuple[int, str]:
    """Status and code of a request that must not be answered."""
    with closing(HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as raw:
        raw.request("GET", path, headers=headers)
        reply = raw.getresponse()
        assert reply.headers["www-authenticate"] == "Bearer"
        return reply.status, json.loads(reply.read())["code"]


def end(
    served: Served, path: str, *, headers: dict[str, str] | None = None, first: str | None = None
) -> tuple[int, str]:
    """How a connection that must not be let in is closed, before it was told anything."""
    address = f"ws://{served.host}{path}"
    with connect(address, additional_headers=headers, compression=None, proxy=None) as tab:
        if first is not None:
            tab.send(first)
        with pytest.raises(ConnectionClosed):
            tab.recv(PATIENCE)
        return tab.close_code or 0, tab.close_reason or ""


def greeted(
    served: Served, path: str, *, headers: dict[str, str] | None = None, first: str | None = None
) -> str:
    """The type of the first message to a connection that must be let in."""
    address = f"ws://{served.host}{path}"
    with connect(address, additional_headers=headers, compression=None, proxy=None) as tab:
        if first is not None:
            tab.send(first)
        said: dict[str, str] = json.loads(tab.recv(PATIENCE))
        return said["type"]


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_attack_comes_in_by_any_way(served: Served, attack: str) -> None:
    """401 or 4401 with one code, whatever was wrong with the token and however it came."""
    token, code = ATTACKS[attack]
    for way in HTTP_WAYS:
        assert way(served, token) == (401, code), way
    for way in SOCKET_WAYS:
        assert way(served, token) == (4401, code), way


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
def test_an_honest_token_comes_in(served: Served, scheme: str) -> None:
    """So that the refusals above mean something; a scheme has no case."""
    headers = {"Authorization": f"{scheme} {HONEST}"}
    assert httpx.get(f"{served.address}/api/me", headers=headers).json()["user_id"] == USER
    for path, shown in (("/ws", headers), (f"/ws?token={HONEST}", None)):
        with connect(f"ws://{served.host}{path}", additional_headers=shown, proxy=None) as tab:
            assert json.loads(tab.recv(PATIENCE))["type"] == "ready"


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", "")],
        [("Authorization", "Bearer")],
        [("Authorization", HONEST)],
        [("Authorization", f"Basic {HONEST}")],
        [("Authorization", f"Token {HONEST}")],
        [("Authorization", f"Bearer {HONEST}"), ("Authorization", f"Bearer {HONEST}")],
        [("Authorization", f"Bearer {HONEST}"), ("authorization", "Bearer other")],
        [("X-Authorization", f"Bearer {HONEST}")],
        [("Cookie", f"access_token={HONEST}")],
        [("X-Forwarded-User", USER)],
    ],
    ids=[
        *("none", "empty", "scheme", "no scheme", "basic", "another scheme"),
        *("twice", "two", "another header", "cookie", "forwarded"),
    ],
)
def test_what_is_no_token_is_told_so(served: Served, headers: list[tuple[str, str]]) -> None:
    """None, an empty one, another scheme's, or two: then nobody is shown."""
    for path in ("/api/me", "/api/events"):
        reply = httpx.get(f"{served.address}{path}", headers=headers)
        assert (reply.status_code, reply.json()["code"]) == (401, MISSING)


def test_nobody_is_told_of_a_body_before_who_sends_it_is_known(served: Served) -> None:
    """Every operation that takes a body refuses a stranger by the head alone, before any of it has come."""
    described = httpx.get(f"{served.address}/api/openapi.json").json()["paths"]
    taking = [
        (method.upper(), re.sub(r"{\w+}", "x", path))
        for path, methods in described.items()
        for method, operation in methods.items()
        if "requestBody" in operation
    ]
    assert len(taking) > 10
    forged = ATTACKS["an unknown key"][0]

    for method, path in taking:
        for shown, code in (((), MISSING), ((("Authorization", f"Bearer {forged}"),), INVALID)):
            with closing(HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)) as raw:
                raw.putrequest(method, path)
                for name, value in (("Content-Type", "application/json"), ("Content-Length", "9"), *shown):
                    raw.putheader(name, value)
                raw.endheaders()
                reply = raw.getresponse()
                assert (reply.status, json.loads(reply.read())["code"]) == (401, code), (method, path)


def test_a_token_in_the_address_counts_only_for_events(served: Served) -> None:
    """Elsewhere it would be written into every history and log on the way."""
    reply = httpx.get(f"{served.address}/api/me?token={HONEST}")
    assert (reply.status_code, reply.json()["code"]) == (401, MISSING)
    twice = httpx.get(f"{served.address}/api/events?token={HONEST}&token={HONEST}")
    assert (twice.status_code, twice.json()["code"]) == (401, MISSING)


@pytest.mark.parametrize("way", ["header", "address", "socket header", "socket address"])
def test_a_megabyte_of_token_is_not_read(served: Served, machine: Machine, way: str) -> None:
    """The connection is refused or closed within moments, and the next one is served."""
    token = "A" * (1 << 20)
    path = "/ws" if "socket" in way else "/api/events"
    upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    lines = [
        f"GET {path}{f'?token={token}' if 'address' in way else ''} HTTP/1.1\r\nHost: {served.host}\r\n",
        f"{upgrade}Sec-WebSocket-Key: {'A' * 22}==\r\n" if "socket" in way else "",
        f"Authorization: Bearer {token}\r\n" if "header" in way else "",
        "\r\n",
    ]
    reply = b""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE) as raw:
        try:
            raw.sendall("".join(lines).encode())
            while piece := raw.recv(65536):
                reply += piece
        except ConnectionError:  # closed while we still wrote
            pass
    assert not reply or reply.startswith(b"HTTP/1.1 4")
    assert time.monotonic() - began < 10 + machine.lost(began)
    assert by_header(served, "nonsense") == (401, INVALID)


def test_a_token_longer_than_any_is_refused_by_every_way(served: Served) -> None:
    """With the same words as any other that is none."""
    token = es256(now(note="x" * 8_000))
    for way in HTTP_WAYS:
        assert way(served, token) == (401, INVALID)
    for way in SOCKET_WAYS:
        assert way(served, token) == (4401, INVALID)


@pytest.mark.parametrize("path", ["/ws", "/api/ws"])
def test_a_token_as_long_as_may_be_comes_in_by_every_way(served: Served, path: str) -> None:
    """Each way takes the length that is documented."""
    short = es256(now(note=""))
    token = es256(now(note="x" * ((TOKEN_LENGTH_MAX - len(short)) * 3 // 4 - 4)))
    assert TOKEN_LENGTH_MAX - 10 < len(token) <= TOKEN_LENGTH_MAX
    assert httpx.get(f"{served.address}/api/me", headers={"Authorization": f"Bearer {token}"}).is_success
    assert greeted(served, path, headers={"Authorization": f"Bearer {token}"}) == "ready"
    assert greeted(served, f"{path}?token={token}") == "ready"
    assert greeted(served, path, first=json.dumps({"type": "auth", "token": token})) == "ready"


def test_a_megabyte_as_the_first_message_is_not_read(served: Served) -> None:
    """Closed as too large, with nobody let in."""
    code, _ = end(served, "/ws", first=json.dumps({"type": "auth", "token": "A" * (1 << 20)}))
    assert code == 1009


def test_every_published_key_counts(served: Served) -> None:
    """Both published keys let in whom they signed for: no attack failed for want of a key."""
    for token in (HONEST, rs256(now(), header={"alg": "RS256", "typ": "JWT", "kid": RSA_ID})):
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx.get(f"{served.address}/api/me", headers=headers).json()["user_id"] == USER

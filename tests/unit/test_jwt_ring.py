"""Keys that change: read from a real server on loopback, again when they must be, and no oftener."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.engines.jwt import FileSource, JwtTokens, KeyRing, Pace, UrlSource
from penstock.engines.jwt.keys import SET_BYTES_MAX
from penstock.engines.jwt.ring import AHEAD_MAX
from penstock.model.errors import Fault, Refused, Unavailable
from tests.support.certificates import serving, trusting
from tests.support.clock import START, FakeClock
from tests.support.tokens import EXPECTED, USER, claims, curve_jwk, curve_key, es256, key_set
from tests.support.web_server import WebServer, reply, web_server

PACE = Pace(interval=30, fresh=600, stale=3600)
PATIENCE = 20.0
KEYS = "/keys"


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with web_server() as server:
        server.answers[KEYS] = reply(key_set(curve_jwk(1, key_id="one")))
        yield server


@pytest.fixture
async def ring(web: WebServer, clock: FakeClock) -> AsyncIterator[KeyRing]:
    ring = KeyRing(UrlSource(f"http://127.0.0.1:{web.port}{KEYS}", seconds=3 * PATIENCE), clock, PACE)
    yield ring
    await ring.close()


@pytest.fixture
def tokens(ring: KeyRing, clock: FakeClock) -> JwtTokens:
    return JwtTokens(ring, EXPECTED, clock)


def signed(number: int, key_id: str) -> str:
    lasting = claims(exp=int(START) + 1_000_000)
    return es256(lasting, key=curve_key(number), header={"alg": "ES256", "typ": "JWT", "kid": key_id})


async def code_of(tokens: JwtTokens, token: str) -> str:
    with pytest.raises(Fault) as fault:
        await tokens.read(token)
    return fault.value.code


async def settled(ring: KeyRing) -> None:
    """Wait for a reading beside the answers, if there is one."""
    if (reading := vars(ring)["_reading"]) is not None:
        await reading


async def test_keys_are_read_once_and_kept(tokens: JwtTokens, web: WebServer, clock: FakeClock) -> None:
    """While they are fresh nobody is asked."""
    for _ in range(5):
        assert (await tokens.read(signed(1, "one"))).user == USER
        clock.advance(100)

    assert len(web.asked) == 1


async def test_a_new_key_is_found_at_once_and_an_old_one_ends(
    tokens: JwtTokens, web: WebServer, clock: FakeClock
) -> None:
    """Rotation: a name we do not know has the set read again; what is gone from it counts no more."""
    assert (await tokens.read(signed(1, "one"))).user == USER
    web.answers[KEYS] = reply(key_set(curve_jwk(1, key_id="one"), curve_jwk(2, key_id="two")))
    clock.advance(31)
    assert (await tokens.read(signed(2, "two"))).user == USER
    assert (await tokens.read(signed(1, "one"))).user == USER

    web.answers[KEYS] = reply(key_set(curve_jwk(3, key_id="three")))
    clock.advance(31)
    assert (await tokens.read(signed(3, "three"))).user == USER

    assert await code_of(tokens, signed(1, "one")) == "ERR_TOKEN_INVALID"
    assert len(web.asked) == 3


async def test_made_up_names_ask_once_in_an_interval(
    tokens: JwtTokens, web: WebServer, clock: FakeClock
) -> None:
    """T5: a thousand tokens with names of their own, side by side, are one request."""
    forged = [signed(7, f"made-up-{number}") for number in range(1000)]

    codes = await asyncio.gather(*(code_of(tokens, token) for token in forged))
    assert (set(codes), len(web.asked)) == ({"ERR_TOKEN_INVALID"}, 1)

    clock.advance(29)
    assert await code_of(tokens, forged[0]) == "ERR_TOKEN_INVALID"
    assert len(web.asked) == 1

    clock.advance(1)
    assert await code_of(tokens, forged[0]) == "ERR_TOKEN_INVALID"
    assert len(web.asked) == 2


async def test_a_new_key_is_not_taken_for_a_made_up_one(
    tokens: JwtTokens, web: WebServer, clock: FakeClock
) -> None:
    """T4: after a few names nobody has, another waits for the next reading, and is told when that is."""
    assert (await tokens.read(signed(1, "one"))).user == USER
    for number in range(AHEAD_MAX):
        assert await code_of(tokens, signed(7, f"made-up-{number}")) == "ERR_TOKEN_INVALID"
        assert await code_of(tokens, signed(7, f"made-up-{number}")) == "ERR_TOKEN_INVALID"
    web.answers[KEYS] = reply(key_set(curve_jwk(2, key_id="two")))
    clock.advance(10)
    with pytest.raises(Unavailable) as unavailable:
        await tokens.read(signed(2, "two"))
    assert (unavailable.value.code, unavailable.value.retry_after) == ("ERR_KEYS_UNAVAILABLE", 20)
    assert len(web.asked) == 1 + AHEAD_MAX

    clock.advance(20)
    assert (await tokens.read(signed(2, "two"))).user == USER
    assert await code_of(tokens, signed(1, "one")) == "ERR_TOKEN_INVALID"


async def test_an_emptied_set_takes_every_key_back(
    tokens: JwtTokens, ring: KeyRing, web: WebServer, clock: FakeClock
) -> None:
    """It is an answer, not an outage: tokens are refused as soon as it was read."""
    assert (await tokens.read(signed(1, "one"))).user == USER
    web.answers[KEYS] = reply(b'{"keys": []}')
    clock.advance(601)
    await tokens.read(signed(1, "one"))
    await settled(ring)

    assert await code_of(tokens, signed(1, "one")) == "ERR_TOKEN_INVALID"


async def test_a_key_under_anothers_name_does_not_count(tokens: JwtTokens) -> None:
    """The name finds the key, and the key decides."""
    assert await code_of(tokens, signed(2, "one")) == "ERR_TOKEN_INVALID"
    assert await code_of(tokens, es256(header={"alg": "ES256"})) == "ERR_TOKEN_INVALID"


async def test_old_keys_serve_while_the_server_is_away_but_not_for_ever(
    tokens: JwtTokens, ring: KeyRing, web: WebServer, clock: FakeClock
) -> None:
    """T4: an outage is noticed beside the answers; after the bound there are none, told as our trouble."""
    await tokens.read(signed(1, "one"))
    web.answers[KEYS] = reply(status="503 Service Unavailable")

    clock.advance(700)
    assert (await tokens.read(signed(1, "one"))).user == USER
    await settled(ring)
    assert await code_of(tokens, signed(2, "two")) == "ERR_KEYS_UNAVAILABLE"

    clock.advance(2899)
    assert (await tokens.read(signed(1, "one"))).user == USER
    await settled(ring)
    clock.advance(1)
    assert await code_of(tokens, signed(1, "one")) == "ERR_KEYS_UNAVAILABLE"

    web.answers[KEYS] = reply(key_set(curve_jwk(1, key_id="one")))
    clock.advance(30)
    assert (await tokens.read(signed(1, "one"))).user == USER


async def test_due_keys_are_used_while_they_are_read_again(
    tokens: JwtTokens, ring: KeyRing, web: WebServer, clock: FakeClock
) -> None:
    """A server that hangs holds nobody up whose key is known."""
    await tokens.read(signed(1, "one"))
    asked, hang = asyncio.Event(), asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        asked.set()
        await hang.wait()

    web.answers[KEYS] = slow
    clock.advance(601)

    assert (await asyncio.wait_for(tokens.read(signed(1, "one")), PATIENCE)).user == USER
    await asyncio.wait_for(asked.wait(), PATIENCE)
    assert (await asyncio.wait_for(tokens.read(signed(1, "one")), PATIENCE)).user == USER
    hang.set()


async def test_a_caller_who_goes_takes_the_reading_from_nobody(tokens: JwtTokens, web: WebServer) -> None:
    """Two wait for one reading; one is cancelled, the other is answered."""
    asked, go = asyncio.Event(), asyncio.Event()

    async def slow(writer: asyncio.StreamWriter) -> None:
        asked.set()
        await go.wait()
        writer.write(reply(key_set(curve_jwk(1, key_id="one"))))
        await writer.drain()

    web.answers[KEYS] = slow
    gone, stays = (asyncio.create_task(tokens.read(signed(1, "one"))) for _ in range(2))
    await asyncio.wait_for(asked.wait(), PATIENCE)
    gone.cancel()
    go.set()

    assert (await asyncio.wait_for(stays, PATIENCE)).user == USER
    with pytest.raises(asyncio.CancelledError):
        await gone


@pytest.mark.parametrize(
    "answer",
    [
        reply(key_set(curve_jwk(1, key_id="one")), status="302 Found", location="/elsewhere"),
        reply(status="301 Moved", location="https://evil.example/keys"),
        reply(key_set(curve_jwk(1, key_id="one")), status="404 Not Found"),
        reply(key_set(curve_jwk(1, key_id="one")), status="204 No Content"),
        reply(b"<html>sign in</html>"),
        reply(key_set(curve_jwk(1, key_id="one", note="x" * SET_BYTES_MAX))),
        reply(b"{", content_length="100000"),
        b"not http at all\r\n\r\n",
        b"",
    ],
    ids=range(9),
)
async def test_an_answer_that_is_no_set_leaves_the_old_keys(
    answer: bytes, tokens: JwtTokens, web: WebServer, clock: FakeClock
) -> None:
    """T4: redirects are not followed, errors, pages and floods are no keys."""
    await tokens.read(signed(1, "one"))
    web.answers[KEYS] = answer
    web.answers["/elsewhere"] = reply(key_set(curve_jwk(2, key_id="two")))
    clock.advance(31)

    assert await code_of(tokens, signed(2, "two")) == "ERR_KEYS_UNAVAILABLE"
    assert (await tokens.read(signed(1, "one"))).user == USER
    assert not any("/elsewhere" in head for head in web.asked)


async def test_a_server_that_is_not_there_is_no_fault_of_the_token(clock: FakeClock) -> None:
    """T4: told as unavailable, with when to try again."""
    ring = KeyRing(UrlSource("http://127.0.0.1:9/keys", seconds=2), clock, PACE)

    with pytest.raises(Unavailable) as unavailable:
        await JwtTokens(ring, EXPECTED, clock).read(signed(1, "one"))

    assert (unavailable.value.code, unavailable.value.retry_after) == ("ERR_KEYS_UNAVAILABLE", 30)


async def test_a_server_that_drips_is_given_up_in_time(web: WebServer) -> None:
    """The limit is on the whole, not on each byte."""

    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)

    web.answers[KEYS] = drip

    with pytest.raises(Unavailable, match=r"no answer in 0.3 s"):
        await asyncio.wait_for(UrlSource(f"http://127.0.0.1:{web.port}{KEYS}", seconds=0.3).read(), PATIENCE)


@pytest.mark.parametrize(
    "url",
    [
        "http://auth.example/keys",
        "http://10.0.0.1/keys",
        "http://localhost.evil/keys",
        "http://127.0.0.1.evil/keys",
        "ftp://127.0.0.1/keys",
        "file:///etc/passwd",
        "https://user:word@auth.example/keys",
        "https://",
        "https:///keys",
        "http://[::1/keys",
        "https://auth.example:99999/keys",
        "",
    ],
)
def test_keys_come_by_https_or_from_loopback(url: str) -> None:
    """Anywhere else they could be exchanged on the way."""
    with pytest.raises(Refused) as refused:
        UrlSource(url, seconds=1)

    assert refused.value.code == "ERR_CONFIGURATION"


async def test_a_certificate_nobody_trusts_ends_the_reading(tmp_path: Path) -> None:
    """Over https the server must be the one that was named."""
    async with web_server(serving(tmp_path)) as server:
        server.answers[KEYS] = reply(key_set(curve_jwk()))
        with pytest.raises(Unavailable):
            await UrlSource(f"https://127.0.0.1:{server.port}{KEYS}", seconds=5).read()
        with pytest.raises(Unavailable):  # trusted, but for another name
            await UrlSource(f"https://127.0.0.1:{server.port}{KEYS}", seconds=5, tls=trusting()).read()

    assert server.asked == []


async def test_a_file_of_keys_can_be_exchanged(tmp_path: Path, clock: FakeClock) -> None:
    """Whoever replaces it rotates the keys; while it is gone the old ones serve."""
    path = tmp_path / "keys.json"
    path.write_bytes(key_set(curve_jwk(1, key_id="one")))
    ring = KeyRing(FileSource(path), clock, PACE)
    tokens = JwtTokens(ring, EXPECTED, clock)
    assert (await tokens.read(signed(1, "one"))).user == USER

    path.unlink()
    clock.advance(31)
    assert await code_of(tokens, signed(2, "two")) == "ERR_KEYS_UNAVAILABLE"
    path.write_bytes(key_set(curve_jwk(2, key_id="two")))
    clock.advance(31)

    assert (await tokens.read(signed(2, "two"))).user == USER
    assert await code_of(tokens, signed(1, "one")) == "ERR_TOKEN_INVALID"

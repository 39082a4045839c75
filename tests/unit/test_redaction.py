"""No token, ticket or password reaches a log line, a traceback or what a command says of an error."""

import asyncio
import io
import json
import logging
import time
from collections.abc import Callable

import pytest

from penstock.doors.cli.exits import tell
from penstock.doors.logs import set_up_logging
from penstock.doors.redaction import redacted
from penstock.model.errors import Broken
from tests.support.streams import Terminal

pytestmark = pytest.mark.usefixtures("logs_as_before")
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.Q0FOQVJZc2lnbmF0dXJl"
TICKET = "pst_" + "Canary-_0" * 5
OPAQUE = "s3cr3tCanaryValue"

WRITTEN = [
    f"GET /ws?token={TOKEN} HTTP/1.1",
    f"GET /ws?since=3&token={OPAQUE}&x=1",
    f"GET /ws?access_token={OPAQUE}",
    f"/ws?TOKEN={OPAQUE}",
    f"/ws%3Ftoken%3D{OPAQUE}",
    f"/ws?ticket={TICKET}",
    f"ticket {TICKET} was refused",
    f"Authorization: Bearer {OPAQUE}",
    f"authorization: bearer  {OPAQUE}",
    f"Proxy-Authorization: Basic {OPAQUE}",
    f"{{'authorization': 'Bearer {OPAQUE}'}}",
    f"[(b'host', b'a'), (b'authorization', b'Bearer {OPAQUE}')]",
    f"Cookie: session={OPAQUE}; other={OPAQUE}",
    f"Sec-WebSocket-Protocol: bearer, {OPAQUE}",
    f'{{"type": "auth", "token": "{OPAQUE}"}}',
    f"refresh_token: {OPAQUE}",
    f"api_key={OPAQUE} apikey={OPAQUE}",
    f"the text {TOKEN} is no token",
    f"half of one: {TOKEN[:30]}",
    f"no signature: {TOKEN.rpartition('.')[0]}.",
    f"a password={OPAQUE}",
]


def alone(target: io.StringIO) -> None:
    """Ours is the only handler: the test's own would stumble over a wrong log call."""
    logging.getLogger().handlers[:] = []
    set_up_logging("debug", target, strict=False)


def is_clean(text: str) -> bool:
    signs = (OPAQUE, TICKET, *TOKEN.split("."), TOKEN[:30])
    return "***" in text and not any(sign in text for sign in signs)


@pytest.mark.parametrize("text", WRITTEN)
def test_a_secret_is_masked_however_it_is_written(text: str) -> None:
    """In URLs, headers, their reprs, JSON, and bare."""
    assert is_clean(redacted(text))


@pytest.mark.parametrize(
    "text",
    [
        "job j1 is done in 3 s",
        "the token is not accepted",
        "tokens: 512, chunks: 3",
        "eye: eyJ is too short",
        "GET /api/documents?limit=3&sort=name",
        "a bearer",
        "",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    """Nothing else is lost."""
    assert redacted(text) == text


def test_a_long_hostile_line_is_read_in_no_time() -> None:
    """No pattern goes back and forth over a line."""
    began = time.process_time()
    for piece in (
        "authorization ",
        "token",
        "eyJ",
        "bearer ",
        "eyJaaaaaaaa.",
        "token = ",
        "pst_",
        "cookie: ",
    ):
        redacted(piece * (200_000 // len(piece)))

    assert time.process_time() - began < 5


def by_message(log: logging.Logger, secret: str) -> None:
    log.warning("refused %s", secret)


def by_fact(log: logging.Logger, secret: str) -> None:
    log.warning("refused", extra={"request_id": secret})


def by_mapping(log: logging.Logger, secret: str) -> None:
    log.warning("refused %(said)s", {"said": secret})


def by_exception(log: logging.Logger, secret: str) -> None:
    try:
        try:
            raise ValueError(secret)
        except ValueError as error:
            raise RuntimeError(f"while reading {secret}") from error
    except RuntimeError as error:
        error.add_note(secret)
        log.exception("failed on %s", secret)


def by_mistake(log: logging.Logger, secret: str) -> None:
    log.warning("%d of them", secret)


def by_library(log: logging.Logger, secret: str) -> None:
    logging.getLogger("websockets.server").warning('%s - "%s %s" %d', "127.0.0.1", "GET", secret, 401)


def by_loop(log: logging.Logger, secret: str) -> None:
    loop = asyncio.new_event_loop()
    loop.call_exception_handler({"message": f"lost {secret}", "exception": RuntimeError(secret)})
    loop.close()


WAYS = [by_message, by_fact, by_mapping, by_exception, by_mistake, by_library, by_loop]


@pytest.mark.parametrize("stream", [io.StringIO, Terminal])
@pytest.mark.parametrize("debug", ["0", "1"])
@pytest.mark.parametrize("way", WAYS)
def test_no_way_into_a_log_shows_a_secret(
    way: Callable[[logging.Logger, str], None],
    debug: str,
    stream: type[io.StringIO],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Messages, facts, tracebacks, mistakes in a log call, libraries and the loop, as text and as JSON."""
    monkeypatch.setenv("PENSTOCK_DEBUG", debug)
    target = stream()
    alone(target)

    for secret in WRITTEN:
        way(logging.getLogger("penstock.test"), secret)

    text = target.getvalue()
    assert text.count("\n") >= len(WRITTEN)
    assert not any(sign in text for sign in (OPAQUE, TICKET, TOKEN[:30], *TOKEN.split(".")))
    assert capfd.readouterr().err == ""


def test_a_log_call_that_is_wrong_names_its_place() -> None:
    """Whoever wrote it finds it, and nobody else reads what it was given."""
    target = io.StringIO()
    alone(target)

    by_mistake(logging.getLogger("penstock.test"), TOKEN)

    assert "a log line of test_redaction.py:" in json.loads(target.getvalue())["msg"]


@pytest.mark.parametrize("as_json", [True, False])
def test_a_command_says_no_secret(
    as_json: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither in its error nor in the traceback one may ask for."""
    monkeypatch.setenv("PENSTOCK_DEBUG", "1")

    tell(Broken(f"the server answers GET /ws?token={TOKEN}"), as_json=as_json)

    assert is_clean(capsys.readouterr().err)

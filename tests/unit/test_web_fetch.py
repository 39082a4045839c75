"""Fetching by URL against real servers on loopback: what is kept, what is refused, what cannot be tricked."""

import asyncio
import gzip
import socket
import threading
import time
from collections.abc import AsyncIterator
from email.utils import formatdate
from hashlib import sha256
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from penstock.engines.disk import DiskBlobs
from penstock.engines.web import FetchLimits, WebFetcher
from penstock.engines.web.lookup import LOOKUPS_MAX
from penstock.model.errors import Broken, Fault, Refused, Unavailable
from tests.support.certificates import serving, trusting
from tests.support.web_server import WebServer, reply, web_server

LOOPBACK = ip_network("127.0.0.1/32")
SMALL = FetchLimits(size=100_000, deadline=30)
TEXT = b"water under control"
PATIENCE = 60.0


class Names:
    """A resolver that answers from a list, one answer after another, and counts."""

    def __init__(self, **answers: list[str]) -> None:
        self.answers = answers
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        found = self.answers.get(host.split(".")[0])
        if found is None:
            raise socket.gaierror(socket.EAI_NONAME, "unknown")
        return found


@pytest.fixture
async def web() -> AsyncIterator[WebServer]:
    async with web_server() as server:
        yield server


@pytest.fixture
def blobs(tmp_path: Path) -> DiskBlobs:
    return DiskBlobs(tmp_path / "blobs")


@pytest.fixture
def names() -> Names:
    return Names(docs=["127.0.0.1"], other=["127.0.0.1"], inside=["10.1.2.3"])


@pytest.fixture
def fetcher(blobs: DiskBlobs, names: Names) -> WebFetcher:
    return WebFetcher(blobs, SMALL, allowed=[LOOPBACK], resolver=names)


async def refusal(fetcher: WebFetcher, url: str) -> Fault:
    with pytest.raises(Fault) as refused:
        await fetcher.fetch(url)
    return refused.value


def nothing_is_left(tmp_path: Path) -> bool:
    return not [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]


async def test_a_document_is_kept_with_its_name(
    web: WebServer, fetcher: WebFetcher, blobs: DiskBlobs, names: Names
) -> None:
    """The bytes are a blob; the server hears the name, which was looked up once."""
    web.answers["/a/guide.txt?v=1"] = reply(TEXT)

    fetched = await fetcher.fetch(f"http://docs.example:{web.port}/a/guide.txt?v=1#part")

    assert (fetched.blob.hash, fetched.name) == (sha256(TEXT).hexdigest(), "guide.txt")
    assert (await blobs.verify(fetched.blob.hash)).size == len(TEXT)
    assert f"host: docs.example:{web.port}\r\n" in web.asked[0].lower()
    assert names.asked == ["docs.example"]


@pytest.mark.parametrize(
    ("path", "headers", "name"),
    [
        ("/x", {"content_disposition": 'attachment; filename="report 1.pdf"'}, "report 1.pdf"),
        ("/x", {"content_disposition": "attachment; filename*=UTF-8''%e2%82%ac.pdf"}, "€.pdf"),
        ("/x", {"content_disposition": 'attachment; filename="../../etc/passwd"'}, "passwd"),
        ("/x", {"content_disposition": 'attachment; filename="C:\\\\dir\\\\.hid.txt"'}, "hid.txt"),
        ("/x", {"content_disposition": "attachment; filename*=nonsense''%ff"}, None),
        ("/x", {"content_disposition": "attachment; filename*0=a; filename*"}, "x"),
        ("/a/b%2Fc.pdf", {}, "c.pdf"),
        ("/", {"content_type": "text/html; charset=utf-8"}, "document.html"),
        ("/guide", {"content_type": "application/pdf"}, "guide.pdf"),
        ("/" + "x" * 400 + ".pdf", {}, "x" * 146 + ".pdf"),
        ("/a%00%1b%0ab.txt", {}, "ab.txt"),
        ("/..", {}, "document"),
    ],
)
async def test_names_are_plain(
    web: WebServer, fetcher: WebFetcher, path: str, headers: dict[str, str], name: str | None
) -> None:
    """From the server, else from the address; never a path, hidden, endless or unprintable."""
    web.answers[path] = web.answers["/"] = reply(TEXT, **headers)

    fetched = await fetcher.fetch(f"http://docs.example:{web.port}{path}")

    assert "/" not in fetched.name
    assert name is None or fetched.name == name


@pytest.mark.parametrize(
    "url",
    [
        "ftp://docs.example/x",
        "file:///etc/passwd",
        "docs.example/x",
        "http://",
        "http:///x",
        "http://ann:secret@docs.example/x",
        "http://docs.example/a b",
        "http://docs.example\\@127.0.0.1/",
        "http://docs.example/\r\nHost: x",
        "http://docs.example:99999/",
        "http://[::1/",
        "http://[",
        "http://0177.0.0.1/",
        "http://docs%2eexample/",
        "http://docs.example/" + "x" * 5000,
        "",
    ],
)
async def test_what_is_no_plain_web_address_is_refused(fetcher: WebFetcher, names: Names, url: str) -> None:
    """Before anything is looked up, and without repeating a secret."""
    fault = await refusal(fetcher, url)

    assert (type(fault), fault.code) == (Refused, "ERR_URL_INVALID")
    assert "secret" not in fault.message
    assert names.asked == []


@pytest.mark.parametrize(
    "host",
    [
        *("127.0.0.2", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.1"),
        *("224.0.0.1", "240.0.0.1", "255.255.255.255", "192.0.0.192", "198.18.0.1", "168.63.129.16"),
        *("[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]", "[fec0::1]"),
        *("[::ffff:10.0.0.1]", "[::ffff:127.0.0.2]", "[64:ff9b::10.0.0.1]", "[64:ff9b:1::1]", "[::10.0.0.1]"),
        *("[2002:0a00:0001::]", "[2001:0:0a00:1::]", "[2001:db8::1]"),
        *(
            "2130706434",
            "0x7f.1",
            "127.1",
            "127.0.0.0x2",
            "017700000002",
            "1.2.3",
            "127.0.0.2.",
        ),
    ],
)
async def test_no_address_leads_into_the_house(blobs: DiskBlobs, host: str) -> None:
    """Private, shared, reserved, wrapped in another family, or written to be misread."""
    fault = await refusal(WebFetcher(blobs, SMALL, allowed=[LOOPBACK]), f"http://{host}/x")

    assert (type(fault), fault.code) == (Refused, "ERR_URL_FORBIDDEN")


@pytest.mark.parametrize("found", [["10.0.0.1"], ["93.184.216.34", "10.0.0.1"], ["::1"], ["fe80::1%eth0"]])
async def test_a_name_with_one_closed_address_is_refused(blobs: DiskBlobs, found: list[str]) -> None:
    """Also if another of its addresses is open."""
    fetcher = WebFetcher(blobs, SMALL, resolver=Names(docs=found))

    assert (await refusal(fetcher, "http://docs.example/x")).code == "ERR_URL_FORBIDDEN"


async def test_loopback_is_closed_unless_it_was_allowed(web: WebServer, blobs: DiskBlobs) -> None:
    """The list of the operator is the only way in."""
    web.answers["/x"] = reply(TEXT)
    url = f"http://127.0.0.1:{web.port}/x"

    assert (await refusal(WebFetcher(blobs, SMALL), url)).code == "ERR_URL_FORBIDDEN"
    assert web.asked == []
    assert (await WebFetcher(blobs, SMALL, allowed=[LOOPBACK]).fetch(url)).name == "x"
    mapped = f"http://[::ffff:127.0.0.1]:{web.port}/x"
    assert (await WebFetcher(blobs, SMALL, allowed=[LOOPBACK]).fetch(mapped)).name == "x"


async def test_a_name_that_changes_its_address_meanwhile_deceives_nobody(
    web: WebServer, blobs: DiskBlobs
) -> None:
    """The connection goes to the address that was checked; the name is not looked up again."""
    web.answers["/x"] = reply(TEXT)
    names = Names(docs=["127.0.0.1"])
    asked = names.__call__

    async def rebinding(host: str, port: int) -> list[str]:
        found = await asked(host, port)
        names.answers["docs"] = ["127.0.0.99"]
        return found

    fetcher = WebFetcher(blobs, SMALL, allowed=[LOOPBACK], resolver=rebinding)
    assert (await fetcher.fetch(f"http://docs.example:{web.port}/x")).blob.size == len(TEXT)
    assert names.asked == ["docs.example"]
    assert (await refusal(fetcher, f"http://docs.example:{web.port}/x")).code == "ERR_URL_FORBIDDEN"


async def test_redirects_are_followed_within_the_rules(web: WebServer, fetcher: WebFetcher) -> None:
    """Relative and to another host; the name is that of the last address."""
    web.answers["/a"] = reply(status="302 Found", location="/b?x=1")
    web.answers["/b?x=1"] = reply(status="308 Moved", location=f"http://other.example:{web.port}/end.txt")
    web.answers["/end.txt"] = reply(TEXT)

    assert (await fetcher.fetch(f"http://docs.example:{web.port}/a")).name == "end.txt"
    assert "host: other.example" in web.asked[2].lower()


@pytest.mark.parametrize(
    ("location", "code"),
    [
        ("http://inside.example/x", "ERR_URL_FORBIDDEN"),
        ("http://169.254.169.254/latest/meta-data", "ERR_URL_FORBIDDEN"),
        ("//[::1]/x", "ERR_URL_FORBIDDEN"),
        ("http://2130706433/", "ERR_URL_FORBIDDEN"),
        ("file:///etc/passwd", "ERR_URL_INVALID"),
        ("http://ann:secret@other.example/", "ERR_URL_INVALID"),
        ("http://[", "ERR_URL_INVALID"),
        ("", "ERR_FETCH_REFUSED"),
        ("/a", "ERR_FETCH_REFUSED"),
    ],
)
async def test_a_redirect_leads_nowhere_a_url_could_not(
    web: WebServer, fetcher: WebFetcher, location: str, code: str
) -> None:
    """Private, malformed, with credentials, without a target, or in a circle."""
    web.answers["/a"] = reply(status="301 Moved", location=location)

    fault = await refusal(fetcher, f"http://docs.example:{web.port}/a")

    assert (type(fault), fault.code) == (Refused, code)
    assert len(web.asked) == (6 if location == "/a" else 1)


@pytest.mark.parametrize("status", ["404 Not Found", "410 Gone", "403 Forbidden", "204 No Content", "501 No"])
async def test_a_no_is_final(web: WebServer, fetcher: WebFetcher, status: str) -> None:
    """Trying again would not help."""
    web.answers["/x"] = reply(status=status, content_length="" if status.startswith("204") else "0")

    fault = await refusal(fetcher, f"http://docs.example:{web.port}/x?token=secret")

    assert (type(fault), fault.code) == (Refused, "ERR_FETCH_REFUSED")
    assert status[:3] in fault.message
    assert "secret" not in fault.message


@pytest.mark.parametrize(
    ("after", "least", "most"),
    [
        ("7", 7, 7),
        ("99999999999999999999", 86_400, 86_400),
        ("date in 600", 300, 600),
        ("date in -600", 0, 0),
    ],
)
async def test_not_now_is_said_with_the_time_to_wait(
    web: WebServer, fetcher: WebFetcher, after: str, least: float, most: float
) -> None:
    """Seconds or a date, bounded; for a limit and for an outage."""
    if after.startswith("date in "):
        after = formatdate(time.time() + int(after.removeprefix("date in ")), usegmt=True)
    for status in ("429 Too Many", "503 Unavailable"):
        web.answers["/x"] = reply(status=status, retry_after=after)
        fault = await refusal(fetcher, f"http://docs.example:{web.port}/x")

        assert isinstance(fault, Unavailable)
        assert fault.retry_after is not None
        assert least <= fault.retry_after <= most


async def test_no_word_about_waiting_is_none(web: WebServer, fetcher: WebFetcher) -> None:
    """Missing or nonsense."""
    for answer in (reply(status="500 Oops"), reply(status="500 Oops", retry_after="soon")):
        web.answers["/x"] = answer
        assert (await refusal(fetcher, f"http://docs.example:{web.port}/x")).retry_after is None


async def test_an_unknown_host_is_tried_again_and_a_silent_port_waited_for(
    web: WebServer, blobs: DiskBlobs, fetcher: WebFetcher
) -> None:
    """A name may be unknown for a while, or wrong, which a few retries tell; a server may come back."""
    unknown = await refusal(fetcher, "http://nowhere.example/x")
    assert (type(unknown), unknown.code) == (Broken, "ERR_FETCH_FAILED")

    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        fault = await refusal(fetcher, f"http://docs.example:{held.getsockname()[1]}/x")
    assert (type(fault), fault.code) == (Unavailable, "ERR_FETCH_FAILED")


async def test_a_name_server_that_says_nothing_holds_up_nobody_else(
    web: WebServer, blobs: DiskBlobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lookups that hang end in time for their own documents; files and other names go on meanwhile."""
    answers, asked = threading.Event(), 2 * LOOKUPS_MAX
    resolver = socket.getaddrinfo

    def slow(host: str, *words: Any, **named: Any) -> Any:
        answers.wait(PATIENCE)
        return resolver("127.0.0.1", *words, **named)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    hasty = WebFetcher(blobs, FetchLimits(connect=0.3))
    hanging = [
        asyncio.create_task(refusal(hasty, f"http://slow{number}.example/")) for number in range(asked)
    ]
    try:
        async with asyncio.timeout(PATIENCE / 2):
            await asyncio.gather(*(blobs.put_bytes(b"%d" % number) for number in range(asked)))
            codes = [(await each).code for each in hanging]
    finally:
        answers.set()

    assert codes == ["ERR_FETCH_TIMEOUT"] * asked


async def test_the_next_address_is_tried(web: WebServer, blobs: DiskBlobs) -> None:
    """One dead address of a host does not hide the living one."""
    web.answers["/x"] = reply(TEXT)
    names = Names(docs=["127.0.0.77", "127.0.0.1"])
    fetcher = WebFetcher(blobs, SMALL, allowed=[ip_network("127.0.0.0/8")], resolver=names)

    assert (await fetcher.fetch(f"http://docs.example:{web.port}/x")).blob.size == len(TEXT)


async def test_a_packed_document_is_unpacked(web: WebServer, fetcher: WebFetcher) -> None:
    """In one stream or several."""
    web.answers["/x"] = reply(gzip.compress(TEXT) + gzip.compress(TEXT), content_encoding="gzip")

    fetched = await fetcher.fetch(f"http://docs.example:{web.port}/x")

    assert fetched.blob.hash == sha256(TEXT * 2).hexdigest()


async def endless(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while True:
        writer.write(b"x" * 10_000)
        await writer.drain()


async def dripping(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
    while True:
        writer.write(b"x")
        await writer.drain()
        await asyncio.sleep(0.05)


async def silent(writer: asyncio.StreamWriter) -> None:
    await asyncio.Event().wait()


async def heads(writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        writer.write(b"x-more: " + b"x" * 1000 + b"\r\n")
        await writer.drain()


BOMB = gzip.compress(bytes(50_000_000))


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (endless, "ERR_FETCH_TOO_LARGE"),
        (reply(bytes(100_001)), "ERR_FETCH_TOO_LARGE"),
        (reply(BOMB, content_encoding="gzip"), "ERR_FETCH_TOO_LARGE"),
        (reply(gzip.compress(BOMB), content_encoding="gzip, gzip"), "ERR_FETCH_REFUSED"),
        (reply(b"x", content_encoding="br"), "ERR_FETCH_REFUSED"),
        (reply(gzip.compress(TEXT)[:-5], content_encoding="gzip"), "ERR_FETCH_FAILED"),
        (reply(b"no gzip at all", content_encoding="gzip"), "ERR_FETCH_FAILED"),
        (reply(TEXT, content_length="100"), "ERR_FETCH_FAILED"),
        (b"SSH-2.0-OpenSSH\r\n", "ERR_FETCH_FAILED"),
        (heads, "ERR_FETCH_FAILED"),
    ],
)
async def test_a_bad_body_ends_within_the_limits_and_leaves_nothing(
    web: WebServer, fetcher: WebFetcher, tmp_path: Path, answer: bytes, code: str
) -> None:
    """Endless, too large, packed to burst, packed twice, cut off, not HTTP at all."""
    web.answers["/x"] = answer

    assert (await refusal(fetcher, f"http://docs.example:{web.port}/x")).code == code
    assert nothing_is_left(tmp_path)


@pytest.mark.parametrize("answer", [dripping, silent])
async def test_time_is_counted_for_the_whole(
    web: WebServer, blobs: DiskBlobs, names: Names, tmp_path: Path, answer: bytes
) -> None:
    """A server that gives a byte now and then is ended by the deadline, as is one that says nothing."""
    web.answers["/x"] = answer
    limits = FetchLimits(deadline=0.5)
    fetcher = WebFetcher(blobs, limits, allowed=[LOOPBACK], resolver=names)

    fault = await refusal(fetcher, f"http://docs.example:{web.port}/x")

    assert (type(fault), fault.code) == (Unavailable, "ERR_FETCH_TIMEOUT")
    assert nothing_is_left(tmp_path)


async def test_silence_has_a_limit_of_its_own(web: WebServer, blobs: DiskBlobs, names: Names) -> None:
    """Long before the deadline."""
    web.answers["/x"] = silent
    fetcher = WebFetcher(blobs, FetchLimits(silence=0.2), allowed=[LOOPBACK], resolver=names)

    fault = await refusal(fetcher, f"http://docs.example:{web.port}/x")

    assert (type(fault), fault.code) == (Unavailable, "ERR_FETCH_TIMEOUT")


async def test_proxies_of_the_environment_are_not_asked(
    web: WebServer, fetcher: WebFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy would connect wherever it likes."""
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    web.answers["/x"] = reply(TEXT)

    assert (await fetcher.fetch(f"http://docs.example:{web.port}/x")).name == "x"


async def test_tls_is_checked_against_the_name(tmp_path: Path, blobs: DiskBlobs, names: Names) -> None:
    """The certificate must be trusted and made out to the host, although the address is a number."""
    async with web_server(serving(tmp_path)) as web:
        web.answers["/x"] = reply(TEXT)
        trusted = WebFetcher(blobs, SMALL, allowed=[LOOPBACK], resolver=names, tls=trusting())
        stranger = WebFetcher(blobs, SMALL, allowed=[LOOPBACK], resolver=names)

        assert (await trusted.fetch(f"https://docs.example:{web.port}/x")).name == "x"
        for fetcher, host in ((trusted, "other.example"), (trusted, "127.0.0.1"), (stranger, "docs.example")):
            fault = await refusal(fetcher, f"https://{host}:{web.port}/x")
            assert (type(fault), fault.code) == (Refused, "ERR_FETCH_REFUSED")
            assert "certificate" in fault.message


async def test_https_is_not_left_for_http(
    tmp_path: Path, web: WebServer, blobs: DiskBlobs, names: Names
) -> None:
    """A redirect cannot take the protection away."""
    async with web_server(serving(tmp_path)) as secure:
        secure.answers["/x"] = reply(status="302 Found", location=f"http://docs.example:{web.port}/y")
        fetcher = WebFetcher(blobs, SMALL, allowed=[LOOPBACK], resolver=names, tls=trusting())

        fault = await refusal(fetcher, f"https://docs.example:{secure.port}/x")

    assert fault.code == "ERR_URL_FORBIDDEN"
    assert web.asked == []

"""Whether a request may come in: by peer, Host and Origin, spelt as a browser spells them."""

import pytest

from penstock.model.errors import Refused
from penstock.model.principals import LOCAL
from penstock.model.visits import Threshold, Visit, check_visit, local_principal

PORT = 8080


def here(
    host: str | None = "127.0.0.1:8080", origin: str | None = None, peer: str | None = "127.0.0.1"
) -> Visit:
    return Visit(peer=peer, host=host, origin=origin)


@pytest.mark.parametrize(
    "visit",
    [
        here(),
        here("localhost:8080"),
        here("LocalHost:8080"),
        here("127.0.0.2:8080"),
        here("[::1]:8080", peer="::1"),
        here(origin="http://127.0.0.1:8080"),
        here("localhost:8080", origin="http://localhost:8080"),
        here("[::1]:8080", origin="http://[::1]:8080", peer="::1"),
    ],
)
def test_the_person_at_this_machine_needs_no_token(visit: Visit) -> None:
    """By a loopback name of the bound port, from no page or from our own."""
    assert local_principal(visit, PORT) == LOCAL


def test_the_usual_port_need_not_be_named() -> None:
    """A browser leaves 80 out."""
    assert local_principal(here("localhost", origin="http://localhost"), 80) == LOCAL


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example:8080",  # a name pointed here for a moment
        "localhost.evil:8080",
        "evil-localhost:8080",
        "a.localhost:8080",
        "localhost.:8080",
        "127.0.0.1.:8080",
        "127.0.0.1.evil.example:8080",
        "localhost",
        "localhost:80",
        "localhost:08080",
        "localhost:8081",
        "localhost:8080:8080",
        "localhost:",
        "localhost: 8080",
        " localhost:8080",
        "localhost:8080 ",
        "localhost:8080\r\nX: y",
        "localhost:8080/",
        "localhost:8080@evil.example",
        "user@localhost:8080",
        "localhost:8080,evil.example",
        "http://localhost:8080",
        "0.0.0.0:8080",
        "10.0.0.1:8080",
        "127.1:8080",
        "0x7f.0.0.1:8080",
        "0177.0.0.1:8080",
        "2130706433:8080",
        "[::]:8080",
        "[::ffff:127.0.0.1]:8080",
        "[::1%25eth0]:8080",
        "::1:8080",
        "[::1:8080",
        "l\u00f6calhost:8080",
        "loca\u017fhost:8080",  # a letter that becomes another in lower case
        "localhost:\u0668080",
        "localhost\0:8080",
        "localhost:8080" + "0" * 300,
    ],
)
def test_any_other_host_is_refused(host: str | None) -> None:
    """A page whose name was pointed at loopback cannot choose what its browser writes there."""
    with pytest.raises(Refused) as refused:
        local_principal(here(host), PORT)

    assert refused.value.code == "ERR_HOST_FORBIDDEN"


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "",
        "http://evil.example",
        "http://localhost",
        "http://localhost:8080",  # ours, but not by the name that was called
        "http://127.0.0.1",
        "http://127.0.0.1:8081",
        "https://127.0.0.1:8080",
        "http://127.0.0.1:8080.evil.example",
        "http://127.0.0.1:8080@evil.example",
        "http://evil.example#127.0.0.1:8080",
        "http://127.0.0.1:8080/",
        "http://127.0.0.1:8080/path",
        "http://127.0.0.1:8080, http://evil.example",
        "http://127.0.0.1.:8080",
        "file://",
        "chrome-extension://abcdef",
        "http:127.0.0.1:8080",
        "//127.0.0.1:8080",
        "http://127.0.0.1:8080\\@evil.example",
        "http://127.0.0.1:8080" + "0" * 300,
    ],
)
def test_any_other_origin_is_refused(origin: str) -> None:
    """A foreign page, a page without an origin, and whatever only looks like ours."""
    with pytest.raises(Refused) as refused:
        local_principal(here(origin=origin), PORT)

    assert refused.value.code == "ERR_ORIGIN_FORBIDDEN"


@pytest.mark.parametrize(
    "peer", [None, "", "192.168.1.7", "::ffff:10.0.0.1", "fe80::1%eth0", "localhost", "unix"]
)
def test_another_machine_is_refused_whatever_it_says(peer: str | None) -> None:
    """Where the program is bound wider than loopback, the neighbours still are not the local user."""
    with pytest.raises(Refused) as refused:
        local_principal(here(peer=peer), PORT)

    assert refused.value.code == "ERR_PEER_FORBIDDEN"


OPEN = Threshold()
STRICT = Threshold(hosts=("app.example.org", "other.example:8443"), origins=("https://page.example",))


@pytest.mark.parametrize(
    ("host", "origin", "scheme", "threshold"),
    [
        ("anything.example", None, "http", OPEN),
        ("anything.example", "http://anything.example", "http", OPEN),
        ("app.example.org", None, "https", STRICT),
        ("APP.example.org:8443", None, "https", STRICT),
        ("other.example:8443", None, "https", STRICT),
        ("app.example.org", "https://app.example.org", "https", STRICT),
        ("app.example.org", "https://app.example.org:443", "https", STRICT),
        ("app.example.org", "https://page.example", "https", STRICT),
        ("app.example.org", "https://any.example", "https", Threshold(origins=("*",))),
    ],
)
def test_where_tokens_are_asked_for_named_hosts_and_pages_may_come(
    host: str, origin: str | None, scheme: str, threshold: Threshold
) -> None:
    """The token still says who it is."""
    check_visit(Visit(peer="10.0.0.1", host=host, origin=origin, scheme=scheme), threshold)


@pytest.mark.parametrize(
    ("host", "origin", "code"),
    [
        (None, None, "ERR_HOST_FORBIDDEN"),
        ("evil.example", None, "ERR_HOST_FORBIDDEN"),
        ("other.example", None, "ERR_HOST_FORBIDDEN"),
        ("app.example.org.", None, "ERR_HOST_FORBIDDEN"),
        ("app.example.org", "null", "ERR_ORIGIN_FORBIDDEN"),
        ("app.example.org", "http://app.example.org", "ERR_ORIGIN_FORBIDDEN"),
        ("app.example.org", "https://page.example.evil", "ERR_ORIGIN_FORBIDDEN"),
        ("app.example.org", "https://page.example:444", "ERR_ORIGIN_FORBIDDEN"),
    ],
)
def test_others_are_refused_there_too(host: str | None, origin: str | None, code: str) -> None:
    """A token does not make a foreign page ours."""
    with pytest.raises(Refused) as refused:
        check_visit(Visit(peer="10.0.0.1", host=host, origin=origin, scheme="https"), STRICT)

    assert refused.value.code == code

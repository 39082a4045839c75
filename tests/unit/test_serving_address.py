"""What the program prints as its address can be pasted."""

import socket

import pytest

from penstock.doors.http.beside import address_of
from penstock.settings import load


@pytest.mark.parametrize(
    ("host", "family", "told"),
    [
        ("127.0.0.1", socket.AF_INET, "http://127.0.0.1"),
        ("localhost", socket.AF_INET, "http://localhost"),
        ("0.0.0.0", socket.AF_INET, "http://127.0.0.1"),  # noqa: S104  # nothing is bound there
        ("::1", socket.AF_INET6, "http://[::1]"),
        ("::", socket.AF_INET6, "http://[::1]"),
    ],
)
def test_every_address_of_the_machine_is_told_as_its_own(
    host: str, family: socket.AddressFamily, told: str
) -> None:
    """A server that listens everywhere is reached by no name of that kind, and refuses it."""
    with socket.socket(family) as listening:
        listening.bind(("127.0.0.1" if family is socket.AF_INET else "::1", 0))
        port = listening.getsockname()[1]

        assert address_of(load(None, {}, {"http.host": host}), listening) == f"{told}:{port}"

"""The socket requests come in by."""

from __future__ import annotations

import errno
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager

from penstock.model.errors import Refused
from penstock.settings import Settings
from penstock.wiring.sign_in import open_without_sign_in

log = logging.getLogger("penstock.http")
WAITING_MAX = 2048
PORT_MAX = 65535


@contextmanager
def bound(settings: Settings) -> Iterator[socket.socket]:
    """The socket the settings name; Refused, with what to do, where it cannot be had."""
    host, port = settings.http.host, settings.http.port
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
    except OSError as error:
        raise _unusable(host, port, error) from error
    with listening:
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(WAITING_MAX)
        except OSError as error:
            raise _unusable(host, port, error) from error
        if (why := open_without_sign_in(settings)) is not None:
            log.warning("%s; bind http.host to 127.0.0.1, or set auth.mode to jwt", why)
        yield listening


def _unusable(host: str, port: int, error: OSError) -> Refused:
    whose = ""
    if error.errno == errno.EADDRINUSE:
        whose = ": another program listens there, perhaps a Penstock of this folder"
    another = port % PORT_MAX + 1
    return Refused(
        f"{host}:{port} cannot be listened on ({error.strerror}){whose}; choose another port with --port or "
        f"http.port, or for make run: PENSTOCK_HTTP_PORT={another} make run",
        code="ERR_CONFIGURATION",
    )

"""Whose project is it? The tenant of a project is a hash of where it comes from."""

from __future__ import annotations

import re
from urllib.parse import unquote

from penstock.model.fingerprints import hash16

BRANCH_DEFAULT = "main"
_SCHEME = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.*)", re.DOTALL)
_SCP = re.compile(r"(?:[^@/]*@)?(?P<host>\[[^\]]*\]|[^:/\[\]]+):(?P<path>.*)", re.DOTALL)
_PORTS = {"ssh": "22", "git+ssh": "22", "ssh+git": "22", "https": "443", "http": "80", "git": "9418"}


def normalised_remote(url: str) -> str | None:
    """A remote's address as `host/path`, the same for its ssh and https forms and without credentials.

    The host is lower case, the scheme, its own port, a final `.git` and slashes are gone; a path on this
    machine stays a path. None for what names nothing.
    """
    url = url.strip()
    if match := _SCHEME.fullmatch(url):
        scheme = match["scheme"].lower()
        if scheme == "file":
            return _path(unquote(match["rest"])) or None
        authority, _, path = re.split(r"[?#]", match["rest"])[0].partition("/")
        host, port = _host_and_port(authority.rpartition("@")[2])
        if port and port != _PORTS.get(scheme):
            host = f"{host}:{port}"
        return _joined(host, unquote(path))
    # A slash before the first colon makes it a path, as git has it.
    if (match := _SCP.fullmatch(url)) and not url.startswith(("/", ".")):
        return _joined(match["host"].lower(), match["path"])
    return _path(url) or None


def tenant_of_project(root: str, remote: str | None) -> str:
    """The 16 digits that name a project: of its normalised remote, else of its root's path."""
    known = normalised_remote(remote) if remote else None
    return hash16(known or root)


def _joined(host: str, path: str) -> str | None:
    inner = _path(path).strip("/")
    if not host:
        return None
    return f"{host}/{inner}" if inner else host


def _path(path: str) -> str:
    path = re.sub(r"/{2,}", "/", path).rstrip("/")
    return path.removesuffix(".git").rstrip("/")


def _host_and_port(authority: str) -> tuple[str, str]:
    if authority.startswith("["):
        host, _, rest = authority.partition("]")
        return host.lower() + "]", rest.removeprefix(":")
    host, _, port = authority.partition(":")
    return host.lower(), port

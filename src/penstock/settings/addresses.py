"""Where engines are: a word for what is built in, or a URL whose password never shows."""

import re
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from penstock.settings.kinds import Kind, plain_text, quoted
from penstock.settings.masking import Secret, masked
from penstock.settings.problems import Unfit

REDIS_PORT = 6379


@dataclass(frozen=True, slots=True)
class Address:
    """A word (`sqlite`) or a URL; `scheme` is the word itself or the URL's scheme, `reveal()` all of it."""

    scheme: str
    _text: str = field(repr=False)

    @property
    def is_url(self) -> bool:
        return "://" in self._text

    def reveal(self) -> str:
        return self._text

    def __str__(self) -> str:
        return masked(self._text)

    def __repr__(self) -> str:
        return f"Address({str(self)!r})"


@dataclass(frozen=True)
class AddressOf(Kind[Address]):
    """One of the built-in words, or a URL with one of the schemes (an alias is rewritten to the scheme).

    `hostless` allows a URL without a host, which a driver takes for a socket on this machine.
    """

    built_in: tuple[str, ...]
    schemes: tuple[str, ...]
    aliases: tuple[tuple[str, str], ...] = ()
    hostless: bool = False

    @property
    def words(self) -> str:
        return " or ".join([*self.built_in, *(f"{scheme}://…" for scheme in self.schemes)])

    def read(self, raw: object) -> Address:
        text = raw.reveal() if isinstance(raw, Address) else plain_text(raw).strip()
        if text in self.built_in:
            return Address(text, text)
        scheme, separator, rest = text.partition("://")
        scheme = dict(self.aliases).get(scheme.lower(), scheme.lower())
        if not separator or scheme not in self.schemes:
            raise Unfit(_refusal(text))
        if not (self.hostless and rest.startswith("/")):
            _check_hosts(rest)
        return Address(scheme, f"{scheme}://{rest}")

    def show(self, value: Address) -> str:
        return str(value)


@dataclass(frozen=True)
class RedisAddress(AddressOf):
    """A Redis URL, whose path, if any, is the number of a database."""

    built_in: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ("redis", "rediss")

    def read(self, raw: object) -> Address:
        address = AddressOf.read(self, raw)
        if address.is_url:
            redis_server(address.reveal())
        return address


class Endpoint(Kind[Address]):
    """An http URL; a bare host:port, as collectors are often named, is read as one."""

    words = "http://… or https://… or host:port"

    def read(self, raw: object) -> Address:
        text = raw.reveal() if isinstance(raw, Address) else plain_text(raw).strip()
        bare = re.fullmatch(r"[\w.\-\[\]:]+:[0-9]+", text)
        return AddressOf((), ("http", "https")).read(f"http://{text}" if bare else text)

    def show(self, value: Address) -> str:
        return str(value)


class HostPort(Kind[str]):
    """A server as host:port; the port may be left out."""

    words = f"host:port (the port is {REDIS_PORT} if left out)"

    def read(self, raw: object) -> str:
        text = plain_text(raw).strip()
        # Not quoted in the refusal: whoever writes a user here may write a password too.
        if re.search(r"[@/?#\s]", text):
            raise Unfit("the value holds more than a host and a port")
        _check_hosts(text)
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class RedisServer:
    """One Redis server as a driver needs it; None is what the text did not say."""

    host: str
    port: int = REDIS_PORT
    tls: bool = False
    username: str | None = None
    password: Secret | None = None
    db: int | None = None


def redis_server(text: str) -> RedisServer:
    """Take a redis:// URL or a bare host:port apart; Unfit if its path is no database number."""
    parts = urlsplit(text if "://" in text else f"//{text}")
    path = parts.path.strip("/")
    if not re.fullmatch(r"[0-9]{0,4}", path):
        raise Unfit("the path is not a database number")
    return RedisServer(
        host=parts.hostname or "localhost",
        port=parts.port or REDIS_PORT,
        tls=parts.scheme == "rediss",
        username=unquote(parts.username) if parts.username else None,
        password=Secret(unquote(parts.password)) if parts.password else None,
        db=int(path) if path else None,
    )


def _refusal(text: str) -> str:
    """Say what an address is not, quoting only what cannot hold a password."""
    scheme, separator, _ = text.partition("://")
    if separator and re.fullmatch(r"[a-zA-Z][a-zA-Z0-9+.-]{0,20}", scheme):
        return f"{quoted(f'{scheme}://…')} is not an address for this key"
    if re.fullmatch(r"[a-zA-Z-]{1,20}", text):
        return f"{quoted(text)} is not an address for this key"
    return "the value is not an address for this key"


def _check_hosts(rest: str) -> None:
    """Refuse what follows `://` unless each of its hosts has a name and, if any, a port a server can have."""
    hosts = re.split(r"[/?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    if any(character.isspace() or not character.isprintable() for character in rest):
        raise Unfit("the address holds spaces or characters that cannot be seen")
    for host in hosts.split(","):
        found = re.fullmatch(r"(?:\[[0-9a-fA-F:.]+\]|[^\[\]:@]+)(?::([0-9]{1,5}))?", host)
        if found is None or not 1 <= int(found[1] or 1) <= 65535:
            raise Unfit(
                "the address names no host, or a port outside 1 to 65535; escape / ? # @ in passwords"
            )

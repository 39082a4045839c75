"""The keys of who may ask: nobody but the person at this machine, or whoever shows a token."""

# ruff: noqa: RUF009 -- setting() returns dataclass fields, not shared values.

import re
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from penstock.model.visits import ANY, origin_of
from penstock.settings.addresses import Address, AddressOf
from penstock.settings.compound import ListOf
from penstock.settings.fields import setting
from penstock.settings.kinds import Kind, plain_text, quoted
from penstock.settings.masking import Secret
from penstock.settings.numbers import Duration, Size, Whole
from penstock.settings.problems import Unfit
from penstock.settings.texts import Choice, Password, Text

SECRET_BYTES_LEAST = 32
SECRET_BYTES_MOST = 4096
_NAME = re.compile(r"(?=.*[a-z])[a-z0-9_.-]{1,253}")
_HOST_NAME = re.compile(r"(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9_.-]{1,253})(:[0-9]{1,5})?")


class SigningSecret(Password):
    """A secret long enough for HS256, and no key of another kind."""

    words = f"text of at least {SECRET_BYTES_LEAST} bytes, kept secret"

    def read(self, raw: object) -> Secret:
        secret = Password.read(self, raw)
        size = len(secret.reveal().encode(errors="replace"))
        if not SECRET_BYTES_LEAST <= size <= SECRET_BYTES_MOST:
            raise Unfit(f"it has {size} bytes")
        if "-----BEGIN" in secret.reveal() or secret.reveal().startswith(("ssh-", "ecdsa-")):
            raise Unfit("it is a key in a file format, not a secret")
        return secret


class File(Kind[Path]):
    """A file's path, relative to where the program was started."""

    words = "the path of a file"

    def read(self, raw: object) -> Path:
        return raw if isinstance(raw, Path) else Path(Text().read(raw))

    def show(self, value: Path) -> str:
        return str(value)


class Origin(Kind[str]):
    """A page's origin as a browser writes it, or `*`."""

    words = "an origin such as https://app.example.org, or *"

    def read(self, raw: object) -> str:
        text = plain_text(raw).strip().rstrip("/").lower()
        if text != ANY and origin_of(text) is None:
            raise Unfit(f"{quoted(raw)} is no origin")
        return text


class BindAddress(Kind[str]):
    """An address or a name to listen on, without brackets and port."""

    words = "an address such as 127.0.0.1 or ::1, or a name"

    def read(self, raw: object) -> str:
        text = plain_text(raw).strip().lower()
        bare = text[1:-1] if text.startswith("[") and text.endswith("]") else text
        try:
            return str(ip_address(bare))
        except ValueError:
            if _NAME.fullmatch(text) is None:
                raise Unfit(f"{quoted(raw)} is no address") from None
        return text


class HostName(Kind[str]):
    """A name or an address, with or without a port."""

    words = "a host such as app.example.org or app.example.org:8080"

    def read(self, raw: object) -> str:
        text = plain_text(raw).strip().lower()
        if _HOST_NAME.fullmatch(text) is None:
            raise Unfit(f"{quoted(raw)} is no host")
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Auth:
    """Who may ask."""

    mode: str = setting(
        Choice(("local", "jwt")),
        "local",
        "local answers the one person at this machine, without sign-in; jwt answers whoever shows a token.",
    )
    secret: Secret | None = setting(SigningSecret(), None, "The secret tokens are signed with (HS256).")
    jwks_url: Address | None = setting(
        AddressOf((), ("https", "http")),
        None,
        "Where the keys are published that tokens are signed with (ES256, RS256); http only on loopback.",
    )
    jwks_file: Path | None = setting(File(), None, "A file with such keys, in place of an address.")
    issuer: str | None = setting(Text(), None, "What a token's iss must say.")
    audience: str = setting(Text(), "authenticated", "What a token's aud must name.")
    leeway: float = setting(
        Duration(least=0), "10s", "How much the issuer's clock may differ from ours; a minute at most."
    )
    jwks_fresh: float = setting(Duration(), "10m", "Time after which keys are asked for again.")
    jwks_interval: float = setting(
        Duration(least=1), "30s", "Least time between two readings of the keys, whatever tokens say."
    )
    jwks_stale: float = setting(
        Duration(), "6h", "Time keys are used at most while they cannot be read again."
    )
    jwks_timeout: float = setting(Duration(), "5s", "Longest time one reading of the keys may take.")
    ticket_ttl: float = setting(
        Duration(least=1), "30s", "Time a ticket is good for, once; five minutes at most."
    )
    allowed_origins: tuple[str, ...] = setting(
        ListOf(Origin()),
        [],
        "Pages of other sites that may ask where tokens are asked for; our own always may.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Http:
    """Where the program listens for requests."""

    host: str = setting(BindAddress(), "127.0.0.1", "The address it is bound to.")
    port: int = setting(Whole(0, 65535), 8080, "The port it is bound to; 0 takes any that is free.")
    allowed_hosts: tuple[str, ...] = setting(
        ListOf(HostName()), [], "Names it may be called by, where tokens are asked for; none allows all."
    )
    quota_documents: int | None = setting(
        Whole(1, 1_000_000_000), None, "Documents one workspace may be given by the API; none is no limit."
    )
    quota_bytes: int | None = setting(
        Size(1 << 60), None, "Bytes of documents one workspace may be given by the API; none is no limit."
    )
    quota_collections: int = setting(
        Whole(0, 1_000_000),
        200,
        "Collections one workspace may have where another is made by the API; 0 is no limit.",
    )
    quota_conversations: int = setting(
        Whole(0, 1_000_000_000),
        10_000,
        "Conversations one workspace may have where another is begun by the API; 0 is no limit.",
    )
    priority_max: int = setting(
        Whole(0, 10),
        5,
        "The highest priority one may ask for where tokens are asked for: higher ones go before everybody's.",
    )
    upload_patience: float = setting(
        Duration(least=1),
        "30s",
        "How long files are waited for in all while less than upload_rate_min comes; then 408 is answered.",
    )
    upload_rate_min: int = setting(
        Size(1 << 30), "1KiB", "Bytes of files that give back a second of that patience."
    )
    requests_per_minute: int = setting(
        Whole(0, 1_000_000),
        1200,
        "Requests one user may make in a minute, of all processes on a data folder together; 0 is no limit.",
    )

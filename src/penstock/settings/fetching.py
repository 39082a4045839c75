"""The keys of fetching documents by URL."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network

from penstock.settings.compound import ListOf
from penstock.settings.fields import setting
from penstock.settings.kinds import Kind, plain_text, quoted
from penstock.settings.numbers import Duration, Size
from penstock.settings.problems import Unfit


class Network(Kind[IPv4Network | IPv6Network]):
    """A network of addresses, or one address."""

    words = "a network such as 10.1.0.0/16, or an address"

    def read(self, raw: object) -> IPv4Network | IPv6Network:
        try:
            return ip_network(plain_text(raw))
        except ValueError as error:
            raise Unfit(f"{quoted(raw)} is no network ({error})") from error

    def show(self, value: IPv4Network | IPv6Network) -> str:
        return str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetching:
    """How documents are fetched by URL."""

    size: int = setting(Size(1 << 40), "100MiB", "Bytes of one document, unpacked.")
    deadline: float = setting(Duration(), "2m", "Longest time one document may take, redirects included.")
    allowed: tuple[IPv4Network | IPv6Network, ...] = setting(
        ListOf(Network()), [], "Private networks that may be reached all the same; all others are refused."
    )

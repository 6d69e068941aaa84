"""Which addresses may be requested: of what suppliers typed, only the public internet and the sandbox in use.

A supplier can type any address: that of a router, of a database in the same network, or of a cloud's metadata service,
which hands out keys. Requesting such an address on a supplier's behalf is known as server-side request forgery.
"""

from __future__ import annotations

import ipaddress
import json
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote, urljoin, urlsplit

from prodex.errors import MediaRefused
from prodex.untrusted_text import on_one_line

#: Scheme, host and port.
Origin: TypeAlias = tuple[str, str, int]
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

#: Statuses of a reply that redirects to another address, and how many redirects may follow one another.
REDIRECTS = frozenset({301, 302, 303, 307, 308})
MOST_REDIRECTS = 5

_PORTS = {"http": 80, "https": 443}
_LONGEST = 4_000
_SHOWN = 100
#: Characters of a path or a query that are not quoted; "%" is one, since most addresses are quoted already.
_PLAIN = "/%:@!$&'()*+,;=~?"

#: IPv6 networks whose addresses end in an IPv4 address: a gateway would forward the request to it.
_EMBEDDING = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
#: Translation inside a private network (RFC 8215).
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")
#: The 32 bits before an IPv4 address in an ISATAP address (RFC 5214), which may be of any network.
_ISATAP = {0x0000_5EFE, 0x0200_5EFE}
#: Networks that some versions of Python call global and that are not public: protocol assignments, which include a
#: metadata service; the host address of virtual machines in another cloud; documentation; the 6to4 relay.
_NOT_PUBLIC = tuple(
    map(ipaddress.ip_network, ("192.0.0.0/24", "168.63.129.16/32", "3fff::/20", "192.88.99.0/24"))
)


@dataclass(frozen=True)
class Address:
    """A parsed address: what is checked and what is requested are the same, which two parsers might read differently.

    Attributes
    ----------
    scheme, host, port
        The host is in lower case, in ASCII, without brackets.
    target
        Path and query, quoted.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def origin(self) -> Origin:
        return self.scheme, self.host, self.port

    @property
    def netloc(self) -> str:
        """Host and port as in the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def resolve(self, location: str) -> Address:
        """Return the address that a redirect from this one leads to.

        Raises
        ------
        MediaRefused
            As `read_address`.
        """
        try:
            url = urljoin(self.url, location)
        except ValueError as error:
            raise MediaRefused(f"{self} redirects to an address that cannot be parsed.") from error
        return read_address(url)

    @property
    def url(self) -> str:
        """The address as it is requested."""
        return f"{self.scheme}://{self.netloc}{self.target}"

    def __str__(self) -> str:
        return shortened(self.url)


def read_address(url: str) -> Address:
    """Parse an address that a supplier typed.

    Raises
    ------
    MediaRefused
        When it is not an http(s) address, cannot be parsed, or contains credentials.

    Examples
    --------
    >>> str(read_address("https://Media.Example/a b.jpg#top"))
    'https://media.example/a%20b.jpg'
    """
    text = url.strip()
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
        # Full-width digits, as in http://１２７.0.0.1/, mean the ASCII ones: IDNA normalises them before the check.
        ascii_host = host if host.isascii() else host.encode("idna").decode()
    except ValueError as error:
        raise MediaRefused(f"{shortened(text)} is not a valid address ({error}).") from error
    if parts.scheme not in _PORTS:
        what = f"a {parts.scheme}: address" if parts.scheme else "not a web address"
        raise MediaRefused(f"{shortened(text)} is {what}; only http and https are requested.")
    is_odd = any(sign < " " or sign in "\x7f\\" for sign in text) or len(text) > _LONGEST
    if not host or is_odd or any(sign.isspace() for sign in ascii_host):
        raise MediaRefused(f"{shortened(text)} is not a valid address.")
    if parts.username is not None or parts.password is not None:
        raise MediaRefused(
            f"The address at {shortened(host)} contains credentials, and none are sent to suppliers."
        )
    target = quote(parts.path or "/", safe=_PLAIN.replace("?", ""))
    if parts.query:
        target += f"?{quote(parts.query, safe=_PLAIN)}"
    return Address(parts.scheme, ascii_host.lower(), _PORTS[parts.scheme] if port is None else port, target)


def sandbox_of(source: str) -> Origin | None:
    """Return scheme, host and port of the sandbox that a catalogue was loaded from; None for any other source.

    Parameters
    ----------
    source
        `catalog.origin.source`: the base URL of the service, perhaps with a comma and a remark, or file names.

    Examples
    --------
    >>> sandbox_of("http://127.0.0.1:8080"), sandbox_of("https://api.example.com"), sandbox_of("products.json")
    (('http', '127.0.0.1', 8080), None, None)
    """
    base_url = source.partition(", ")[0]
    try:
        is_local = urlsplit(base_url).scheme in _PORTS and is_loopback(base_url)
        return read_address(base_url).origin if is_local else None
    except (ValueError, MediaRefused):
        return None


def is_public(text: str) -> bool:
    """Whether an IP address belongs to the public internet.

    Loopback, private, shared, link-local, multicast, reserved and unspecified addresses do not, nor do IPv6 addresses
    that contain such an IPv4 address (mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP).

    >>> [is_public(one) for one in ("93.184.215.14", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False]
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    return all(map(_is_global, (address, *_embedded(address), *_tunnelled(address))))


def _is_global(address: _Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if _embedded(address):  # it is as public as the IPv4 address in it, which is checked by itself
            return not address.is_multicast
        if address.is_site_local or address in _LOCAL_NAT64:
            return False
    if any(address in network for network in _NOT_PUBLIC):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _embedded(address: _Address) -> list[_Address]:
    """Return the IPv4 addresses that are part of an IPv6 address and to which a gateway forwards."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    embedded: list[_Address] = list(address.teredo or ())
    embedded += [one for one in (address.ipv4_mapped, address.sixtofour) if one is not None]
    if any(address in network for network in _EMBEDDING):
        embedded.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return embedded


def _tunnelled(address: _Address) -> list[_Address]:
    """Return the IPv4 address that an ISATAP tunnel inside a private network leads to."""
    if address.version == 4 or int(address) >> 32 & 0xFFFFFFFF not in _ISATAP:
        return []
    return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]


def shortened(text: str) -> str:
    """Return the beginning of an address for a message, without characters that move a cursor or reverse the text."""
    plain = on_one_line(text[:_SHOWN])
    return plain if len(text) <= _SHOWN else f"{plain}... ({_SHOWN} of {len(text):,} characters)"


def is_loopback(base_url: str) -> bool:
    """Whether a base URL is on this machine."""
    return is_loopback_host(urlsplit(base_url).hostname or "")


def is_loopback_host(host: str) -> bool:
    """Whether a host name or an IP address is this machine's loopback.

    >>> [is_loopback_host(one) for one in ("localhost", "127.1.2.3", "::1", "::1%1", "10.0.0.1", "localhost.example")]
    [True, True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return host == "localhost"


#: Bytes of a reply to /health that are read: that of a sandbox is shorter.
LONGEST_HEALTH = 65_536


def is_health_of_sandbox(reply: bytes) -> bool:
    """Whether this reply to /health is that of a sandbox.

    >>> is_health_of_sandbox(b'{"service": "prodex sandbox", "products": 600}'), is_health_of_sandbox(b"<html>")
    (True, False)
    """
    try:
        health = json.loads(reply)
    except (ValueError, RecursionError):
        return False
    return isinstance(health, dict) and health.get("service") == "prodex sandbox"

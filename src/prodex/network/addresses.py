"""Which addresses that suppliers typed may be asked: those of the public internet, and of the sandbox at hand.

A supplier may type the address of a router, of a database beside us, or of the place where a cloud keeps its keys.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote, urljoin, urlsplit

from prodex.display_text import on_one_line
from prodex.errors import MediaRefused
from prodex.service.settings import is_loopback

#: Scheme, host and port.
Origin: TypeAlias = tuple[str, str, int]
_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_PORTS = {"http": 80, "https": 443}
_LONGEST = 4_000
_SHOWN = 100
#: What may stand in a path or a query as it is; "%" too, since most addresses are quoted already.
_PLAIN = "/%:@!$&'()*+,;=~?"

#: IPv6 addresses that carry an IPv4 address in their last 32 bits: a gateway would pass us on to it.
_CARRIERS = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
#: Translation within a network of one's own.
_LOCAL_NAT64 = ipaddress.IPv6Network("64:ff9b:1::/48")
#: What stands before an IPv4 address in the last 64 bits of an IPv6 address (ISATAP, RFC 5214), whatever its network.
_ISATAP = {0x0000_5EFE, 0x0200_5EFE}
#: Not of the public internet, whatever the version of Python says: protocol assignments, where a cloud keeps its keys;
#: the address at which each machine of another cloud finds its host; documentation; a relay that takes us anywhere.
_CLOSED = tuple(
    map(ipaddress.ip_network, ("192.0.0.0/24", "168.63.129.16/32", "3fff::/20", "192.88.99.0/24"))
)


@dataclass(frozen=True)
class Address:
    """An address that was read once, so that what is checked and what is asked are the same.

    Attributes
    ----------
    scheme, host, port
        Where to; the host in lower case, in ASCII, without brackets.
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
        """Host and port as a request names them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    def joined(self, location: str) -> Address:
        """Read where a reply from this address points to.

        Raises
        ------
        MediaRefused
            As `read_address`.
        """
        try:
            url = urljoin(f"{self.scheme}://{self.netloc}{self.target}", location)
        except ValueError as error:
            raise MediaRefused(f"{self} points to an address that cannot be read.") from error
        return read_address(url)

    def __str__(self) -> str:
        return shown(f"{self.scheme}://{self.netloc}{self.target}")


def read_address(url: str) -> Address:
    """Read an address that somebody typed.

    Raises
    ------
    MediaRefused
        When it is not an http(s) address, cannot be read, or holds credentials.

    Examples
    --------
    >>> str(read_address("https://MediaDownloader.Example/a b.jpg#top"))
    'https://media.example/a%20b.jpg'
    """
    text = url.strip()
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
        # The host of http://１２７.0.0.1/ is written in wide digits, which mean the narrow ones.
        ascii_host = host if host.isascii() else host.encode("idna").decode()
    except ValueError as error:
        raise MediaRefused(f"{shown(text)} is no address that can be read ({error}).") from error
    if parts.scheme not in _PORTS:
        what = f"a {parts.scheme}: address" if parts.scheme else "no web address"
        raise MediaRefused(f"{shown(text)} is {what}, and only http and https are asked.")
    is_odd = any(sign < " " or sign in "\x7f\\" for sign in text) or len(text) > _LONGEST
    if not host or is_odd or any(sign.isspace() for sign in ascii_host):
        raise MediaRefused(f"{shown(text)} is no address that can be read.")
    if parts.username is not None or parts.password is not None:
        raise MediaRefused(f"The address at {shown(host)} holds credentials, and none are sent to suppliers.")
    target = quote(parts.path or "/", safe=_PLAIN.replace("?", ""))
    if parts.query:
        target += f"?{quote(parts.query, safe=_PLAIN)}"
    return Address(parts.scheme, ascii_host.lower(), _PORTS[parts.scheme] if port is None else port, target)


def sandbox_of(source: str) -> Origin | None:
    """Return scheme, host and port of the sandbox that a catalogue came from; None for any other source.

    Parameters
    ----------
    source
        `catalog.origin.source`: the base URL of the service, with words behind a comma, or names of files.

    Examples
    --------
    >>> sandbox_of("http://127.0.0.1:8080"), sandbox_of("https://api.example.com"), sandbox_of("products.json")
    (('http', '127.0.0.1', 8080), None, None)
    """
    base_url = source.partition(", ")[0]
    try:
        parts = urlsplit(base_url)
        is_local = parts.scheme in _PORTS and is_loopback(base_url)
        return read_address(base_url).origin if is_local else None
    except (ValueError, MediaRefused):
        return None


def is_public(text: str) -> bool:
    """Say whether an IP address belongs to the public internet.

    Loopback, private, shared, link-local, multicast, reserved and unspecified addresses do not, nor do IPv6 addresses
    that stand for such an IPv4 address (mapped, compatible, translated, NAT64, 6to4, Teredo, ISATAP).

    >>> [is_public(one) for one in ("93.184.215.14", "10.0.0.1", "::ffff:127.0.0.1", "64:ff9b::a00:1")]
    [True, False, False, False]
    """
    address = ipaddress.ip_address(text.partition("%")[0])
    return all(map(_is_global, (address, *_carried(address), *_tunnelled(address))))


def is_own(text: str) -> bool:
    """Say whether an IP address is that of this machine."""
    return ipaddress.ip_address(text.partition("%")[0]).is_loopback


def _is_global(address: _Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if _carried(address):  # then it is as public as what it carries
            return not address.is_multicast
        if address.is_site_local or address in _LOCAL_NAT64:
            return False
    if any(address in network for network in _CLOSED):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def _carried(address: _Address) -> list[_Address]:
    """Return the IPv4 addresses that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return []
    carried: list[_Address] = list(address.teredo or ())
    carried += [one for one in (address.ipv4_mapped, address.sixtofour) if one is not None]
    if any(address in network for network in _CARRIERS):
        carried.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return carried


def _tunnelled(address: _Address) -> list[_Address]:
    """Return the IPv4 address to which a network takes an IPv6 address of its own."""
    if address.version == 4 or int(address) >> 32 & 0xFFFFFFFF not in _ISATAP:
        return []
    return [ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)]


def shown(text: str) -> str:
    """Return the beginning of an address for a message; nothing in it moves a cursor or turns the writing."""
    plain = on_one_line(text[:_SHOWN])
    return plain if len(text) <= _SHOWN else f"{plain}... ({_SHOWN} of {len(text):,} characters)"

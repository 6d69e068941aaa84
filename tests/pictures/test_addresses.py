"""Which addresses that suppliers typed may be asked at all."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prodex.errors import MediaRefused
from prodex.network.addresses import is_public, read_address, sandbox_of
from tests.cases import each_row

OUTSIDE = [
    "93.184.215.14",
    "8.8.8.8",
    "2606:4700::1111",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "2002:808:808::1",
    "2606:4700::5efe:808:808",
]
INSIDE = [
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1"),
    *("169.254.169.254", "192.0.2.1", "198.18.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255"),
    *(
        "::1",
        "::",
        "fe80::1",
        "fe80::1%eth0",
        "fc00::1",
        "fd00:ec2::254",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
    ),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1"),
    *("64:ff9b::a9fe:a9fe", "64:ff9b:1::808:808", "2002:7f00:1::", "2002:a00:1::1", "2001:0:4136:e378::"),
    *(
        "168.63.129.16",
        "192.0.0.192",
        "192.0.0.8",
        "100.100.100.200",
        "fd20:ce::254",
        "192.88.99.1",
        "3fff::1",
    ),
    *(
        "::ffff:168.63.129.16",
        "64:ff9b::a83f:8110",
        "2606:4700::5efe:a00:1",
        "2606:4700::200:5efe:7f00:1",
        "fe80::5efe:808:808",
    ),
]


@each_row("ip", OUTSIDE)
def test_the_public_internet_may_be_asked(ip: str) -> None:
    """In IPv4 and IPv6, and through the translations between them."""
    assert is_public(ip)


@each_row("ip", INSIDE)
def test_what_is_not_public_may_not_be_asked(ip: str) -> None:
    """Loopback, private, shared, link-local, documentation, where clouds keep keys, and what stands for such."""
    assert not is_public(ip)


@given(st.ip_addresses(v=4), st.sampled_from(["::ffff:0:0/96", "64:ff9b::/96", "::/96", "::ffff:0:0:0/96"]))
def test_an_address_in_disguise_is_not_more_public(inner: ipaddress.IPv4Address, network: str) -> None:
    """Whatever IPv6 address carries it."""
    outer = ipaddress.IPv6Address(int(ipaddress.IPv6Network(network).network_address) | int(inner))

    assert not is_public(str(outer)) or is_public(str(inner))


@each_row(
    ("typed", "read"),
    [
        ("https://Media.Example/a.jpg", ("https", "media.example", 443, "/a.jpg")),
        (" http://media.example:8080 ", ("http", "media.example", 8080, "/")),
        ("http://[2606:4700::1111]/x?y=é z#top", ("http", "2606:4700::1111", 80, "/x?y=%C3%A9%20z")),
        (
            "https://bücher.example/käse%20brot.jpg",
            ("https", "xn--bcher-kva.example", 443, "/k%C3%A4se%20brot.jpg"),
        ),
        ("http://１２７.0.0.1/", ("http", "127.0.0.1", 80, "/")),
    ],
)
def test_an_address_is_read_once_and_for_all(typed: str, read: tuple[str, str, int, str]) -> None:
    """What is checked is what is asked: names in ASCII, paths quoted, no fragment."""
    address = read_address(typed)

    assert read == (address.scheme, address.host, address.port, address.target)


@each_row(
    "typed",
    [
        *(
            "file:///etc/passwd",
            "data:image/png;base64,AAAA",
            "ftp://media.example/a.jpg",
            "gopher://media.example",
        ),
        *(
            "javascript:alert(1)",
            "//media.example/a.jpg",
            "a.jpg",
            "",
            "   ",
            "C:\\pictures\\a.jpg",
            "\\\\host\\a.jpg",
        ),
        *(
            "http://",
            "http:///a.jpg",
            "https://:443/",
            "http://media.example:99999/",
            "http://media.example:x/",
        ),
        *("http://user:secret@media.example/", "http://user@media.example/", "http://[::1", "http://[no]/"),
        *("http://media.example\\@127.0.0.1/", "http://me\tdia.example/", "http://media.example/a\r\nX: y"),
        *("http://media.example/\0", "http://me dia.example/", "http://" + "a" * 70 + "é.example/"),
        "http://media.example/" + "a" * 40_000,
    ],
)
def test_what_is_no_plain_web_address_is_refused(typed: str) -> None:
    """Other schemes, credentials, and what different readers would read differently; the message stays short."""
    with pytest.raises(MediaRefused) as refusal:
        read_address(typed)

    assert len(str(refusal.value)) < 300
    assert "secret" not in str(refusal.value)


@each_row(
    ("source", "sandbox"),
    [
        ("http://127.0.0.1:8080", ("http", "127.0.0.1", 8080)),
        ("http://localhost:8080/api", ("http", "localhost", 8080)),
        ("https://[::1]", ("https", "::1", 443)),
        ("http://127.0.0.1:8080, pending updates shown as accepted", ("http", "127.0.0.1", 8080)),
        ("https://api.example.com", None),
        ("http://10.0.0.1:8080", None),
        ("http://127.1:8080", None),
        ("records", None),
        ("products.json, http://127.0.0.1:8080", None),
        ("", None),
    ],
)
def test_the_sandbox_is_known_by_the_source_alone(source: str, sandbox: tuple[str, str, int] | None) -> None:
    """Only a catalogue that came from this machine may point to this machine."""
    assert sandbox == sandbox_of(source)

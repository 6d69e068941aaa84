"""The addresses of files: one in the store, another in replies, by the address at which the sandbox was called.

A stored record names its files under `MEDIA`, so that it stays right when the sandbox moves to another port. In a
reply they are under the address at which the caller has reached the sandbox, and an upsert is translated back: both
are one replacement of bytes, and each reverses the other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

#: The address of files in stored records; `.example` is a name that never resolves (RFC 2606).
MEDIA: Final = "https://media.prodex.example"
#: The path under which the sandbox serves them.
PATH: Final = "/media"

# A Host header is chosen by the caller and copied into JSON, so it must not hold a quotation mark.
_MEDIA_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(?::[0-9]{1,5})?")


@dataclass(frozen=True)
class MediaAddress:
    """The address under which a caller reaches files.

    Examples
    --------
    >>> here = MediaAddress("http://127.0.0.1:8000/media")
    >>> here.given_out(b'{"url":"https://media.prodex.example/00/1/front.jpg"}')
    b'{"url":"http://127.0.0.1:8000/media/00/1/front.jpg"}'
    >>> here.taken_back(b'{"url":"http://127.0.0.1:8000/media/00/1/front.jpg"}')
    b'{"url":"https://media.prodex.example/00/1/front.jpg"}'
    """

    text: str

    def given_out(self, stored: bytes) -> bytes:
        """Return stored JSON as this caller gets it."""
        return stored.replace(f"{MEDIA}/".encode(), f"{self.text}/".encode())

    def taken_back(self, sent: bytes) -> bytes:
        """Return JSON or XML of this caller as it is stored; some writers of JSON escape every slash."""
        for address in (f"{self.text}/", f"{self.text}/".replace("/", r"\/")):
            for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
                sent = sent.replace(address.encode(encoding), f"{MEDIA}/".encode(encoding))
        return sent


def address_called(scope: Mapping[str, Any]) -> MediaAddress:
    """Return the address of files for the caller of a call: by its Host header, else by the socket it came to."""
    hosts = [value for name, value in scope["headers"] if name == b"host"]
    if len(hosts) == 1 and _MEDIA_HOST.fullmatch(hosts[0]):
        host = hosts[0].decode("ascii")
    else:
        name, port = scope["server"]
        host = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
    return MediaAddress(f"{scope['scheme']}://{host}{PATH}")

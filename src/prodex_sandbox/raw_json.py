"""JSON as the sandbox stores and serves it: bytes that stay untouched until something must change."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

import msgspec

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])


def decode(body: bytes | msgspec.Raw) -> Any:
    """Decode one JSON value; raise ValueError when it is none.

    Half a surrogate pair, which suppliers do send, is read by Python's own decoder; msgspec refuses it.
    """
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return json.loads(bytes(body), parse_constant=_refuse_constant)


def encode(value: Any) -> bytes:
    """Encode one value as compact JSON."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"), default=msgspec.to_builtins).encode()


def members(body: bytes) -> dict[str, msgspec.Raw]:
    """Split an object into its members, each value still as its JSON bytes."""
    try:
        return _MEMBERS.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return {name: msgspec.Raw(encode(value)) for name, value in decode(body).items()}


def joined(parts: Mapping[str, bytes | msgspec.Raw]) -> bytes:
    """Join members, each value as its JSON bytes, to an object."""
    return b"{" + b",".join(encode(name) + b":" + bytes(value) for name, value in parts.items()) + b"}"


def items(body: bytes | msgspec.Raw) -> list[bytes]:
    """Split a list into its items, each still as its JSON bytes."""
    try:
        return [bytes(item) for item in _ITEMS.decode(body)]
    except (msgspec.DecodeError, UnicodeDecodeError):
        return [encode(item) for item in decode(body)]


def storable(text: str) -> str:
    """Return a text with a question mark for each half of a surrogate pair, which no store takes."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
